"""Reads an HTTP request body once, within a size and a time."""

import asyncio

from starlette.types import Message, Receive

from gateway.listen.direct import Direct


class BodyRefused(Exception):
    """The body is too large (413), too slow (408), or its client has left (status 0)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def arrived(direct: Direct | None, max_bytes: int) -> bytes | None:
    """Return the body if all of it is there, else None: it has to be read; raises BodyRefused."""
    body = direct.take() if direct is not None else None
    if body is not None and len(body) > max_bytes:
        raise BodyRefused(413)
    return body


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
