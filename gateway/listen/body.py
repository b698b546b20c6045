"""Reads an HTTP request body once, within a size and a time."""

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive, Scope

_IS_HERE: Final = "weighbridge.body"  # key in an ASGI scope


class BodyRefused(Exception):
    """The body is too large (413), too slow (408), or its client has left (status 0)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def let_tell(scope: Scope, is_here: Callable[[], bool]) -> None:
    """Let a request tell whether its whole body has arrived."""
    scope[_IS_HERE] = is_here


def is_here(scope: Scope) -> bool:
    """Whether the whole body is known to have arrived, so that reading it waits for nothing."""
    told = scope.get(_IS_HERE)
    return told is not None and told()


async def read_body(
    receive: Receive,
    *,
    content_length: bytes | None,
    max_bytes: int,
    deadline_s: float,
    is_here: bool = False,
) -> bytes:
    """Return the whole body; raises BodyRefused."""
    if content_length is not None and content_length.isdigit() and int(content_length) > max_bytes:
        raise BodyRefused(413)
    if is_here:
        return await _read(receive, max_bytes)
    try:
        async with asyncio.timeout(deadline_s):
            return await _read(receive, max_bytes)
    except TimeoutError:
        raise BodyRefused(408) from None


async def _read(receive: Receive, max_bytes: int) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise BodyRefused(413)
        return body
    return await _rest(message, receive, max_bytes)


async def _rest(message: Message, receive: Receive, max_bytes: int) -> bytes:
    parts = bytearray()
    while message["type"] == "http.request":
        parts += message.get("body", b"")
        if len(parts) > max_bytes:
            raise BodyRefused(413)
        if not message.get("more_body", False):
            return bytes(parts)
        message = await receive()
    raise BodyRefused(0)
