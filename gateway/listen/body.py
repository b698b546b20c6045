"""Reads an HTTP request body once, within a size and a time."""

import asyncio
from typing import Final

from starlette.types import Message, Receive

from gateway.listen.headers import HeaderView
from gateway.listen.options import HttpOptions
from gateway.listen.replies import Asgi, send_empty

_CLOSE: Final = [(b"connection", b"close")]


class BodyRefused(Exception):
    """The body is too large (413), too slow (408), or its client has left (status 0)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def read_body(
    receive: Receive,
    *,
    content_length: bytes | None,
    max_bytes: int,
    deadline_s: float,
) -> bytes:
    """Return the whole body; raises BodyRefused."""
    if content_length is not None and content_length.isdigit() and int(content_length) > max_bytes:
        raise BodyRefused(413)
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


async def body_of(
    http: Asgi, headers: HeaderView, arrived: bytes | None, options: HttpOptions
) -> bytes | None:
    """Return a body within its limits; None for one that was refused, which is answered then.

    What has arrived as a whole needs this only if it is too large.
    """
    try:
        if arrived is None:
            return await read_body(
                http.receive,
                content_length=headers.get(b"content-length"),
                max_bytes=options.max_body_bytes,
                deadline_s=options.body_deadline_s,
            )
        if len(arrived) > options.max_body_bytes:
            raise BodyRefused(413)
    except BodyRefused as refused:
        if refused.status:
            await send_empty(http.send, refused.status, _CLOSE)
        return None
    return arrived
