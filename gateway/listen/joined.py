"""A transport that sends the head of an answer together with its body.

uvicorn writes them one after the other, and the event loop hands each to the system at once: for
a short answer that is twice the work of sending, and a packet more.
"""

import asyncio
from typing import Any, Final, cast

_HEAD: Final = b"HTTP/1.1 "


class Joined:
    """Holds a head back until the next write, but never beyond this turn of the event loop."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""
        self.is_closing = (
            transport.is_closing
        )  # asked for each request, and too slow by `__getattr__`

    def write(self, data: bytes) -> None:
        """Send data, or hold it back when it begins an answer."""
        if self._held:
            self._transport.write(self._held + data)
            self._held = b""
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def write_whole(self, data: bytes) -> None:
        """Send an answer that is whole, after what is held back."""
        if self._held:
            self._flush()
        self._transport.write(data)

    def close(self) -> None:
        """Send what is held back, and close."""
        self._flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        """How many bytes have not been sent."""
        return len(self._held) + self._transport.get_write_buffer_size()

    def _flush(self) -> None:
        if self._held:
            self._transport.write(self._held)
            self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def as_transport(joined: Joined) -> asyncio.Transport:
    """Return it as what it stands in for."""
    return cast("asyncio.Transport", joined)
