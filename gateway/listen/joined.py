"""A transport that sends the head of an answer together with its body, and answers with others.

uvicorn writes head and body one after the other, and the event loop hands each to the system at
once: for a short answer that is twice the work of sending, and a packet more.
"""

import asyncio
from collections.abc import Sized
from typing import Any, Final, cast

from gateway.bursts import CROWD, burst_of

_HEAD: Final = b"HTTP/1.1 "


class Joined:
    """Holds a head back until the next write, but never beyond this turn of the event loop.

    Likewise an answer that is whole, while there are many `under_way` besides.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        under_way: Sized = (),
    ) -> None:
        self._transport = transport
        self._burst = burst_of(loop)
        self._under_way = under_way  # requests, of all connections
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
            self._hold(data)
        else:
            self._transport.write(data)

    def write_whole(self, data: bytes) -> None:
        """Send an answer that is whole, after what is held back."""
        if self._held:
            self._flush()
        if len(self._under_way) < CROWD:
            self._transport.write(data)
        else:
            self._hold(data)

    def close(self) -> None:
        """Send what is held back, and close."""
        self._flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        """How many bytes have not been sent."""
        return len(self._held) + self._transport.get_write_buffer_size()

    def _hold(self, data: bytes) -> None:
        self._held = data
        self._burst.add(self._flush)

    def _flush(self) -> None:
        held, self._held = self._held, b""
        if held and not self.is_closing():  # else its client is gone
            self._transport.write(held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def as_transport(joined: Joined) -> asyncio.Transport:
    """Return it as what it stands in for."""
    return cast("asyncio.Transport", joined)
