"""The event stream that a response becomes when something has to be said before its answer."""

import asyncio
from collections import deque
from typing import Final

from starlette.types import Send

# Proxies cut connections that stay silent, often after 30 or 60 s.
KEEPALIVE_S: Final = 15.0
WRITE_DEADLINE_S: Final = 30.0  # for what is left when the answer is there
PING: Final = b": ping\r\n\r\n"
SSE_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


def event(message: bytes) -> bytes:
    """Return one SSE event that carries a JSON-RPC message (one line, as `jsontext` writes it)."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"


class EventStream:
    """One event stream, written by a task of its own at its client's pace."""

    __slots__ = ("_is_ended", "_send", "_task", "_waiting", "_wake")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._is_ended = False
        self._wake.set()
        # Owned: ends with `end` or `close`.
        self._task = asyncio.get_running_loop().create_task(self._write())

    @property
    def waiting(self) -> int:
        """How many events have not been sent."""
        return len(self._waiting)

    def holds(self, message: bytes) -> bool:
        """Whether the very same message has not been sent yet."""
        return event(message) in self._waiting

    def put(self, message: bytes, *, most: int | None = None) -> None:
        """Send a message soon; never waits. Where `most` wait already, the oldest is dropped."""
        if most is not None and len(self._waiting) >= most:
            self._waiting.popleft()
        self._waiting.append(event(message))
        self._wake.set()

    async def end(self, message: bytes) -> None:
        """Send the last message, and wait until it is out; raises TimeoutError."""
        self._is_ended = True
        self.put(message)
        async with asyncio.timeout(WRITE_DEADLINE_S):
            await self._task

    def close(self) -> None:
        """Send nothing more."""
        self._task.cancel()

    async def _write(self) -> None:
        """Write events as they come, and comments in between so that the stream stays open."""
        await self._send({"type": "http.response.start", "status": 200, "headers": [*SSE_HEADERS]})
        while True:
            while self._waiting:
                await self._body(self._waiting.popleft())
            if self._is_ended:
                break
            self._wake.clear()
            try:
                async with asyncio.timeout(KEEPALIVE_S):
                    await self._wake.wait()
            except TimeoutError:
                await self._body(PING)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _body(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
