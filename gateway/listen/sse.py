"""The response to one HTTP request: a JSON body, or an event stream if there is news before."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Final, Self

from starlette.types import Receive, Send

from gateway.listen.direct import Direct
from gateway.listen.overdue import Overdue
from gateway.listen.replies import Headers, send_bytes
from gateway.listen.stream import KEEPALIVE_S, PING, SSE_HEADERS, WRITE_DEADLINE_S, event

# Most calls are over by then and never pay for a task that watches their client.
WATCH_AFTER_S: Final = 0.05
_MAX_WAITING: Final = 256


class Exchange:
    """Owns a response and the tasks beside it; used as a context by the request's own task.

    The client's leaving cancels that task (MCP 2026-07-28: a disconnect is the cancellation), and
    the context swallows just that cancellation.
    """

    def __init__(
        self, receive: Receive, send: Send, overdue: Overdue, direct: Direct | None = None
    ) -> None:
        self.client_gone = False
        self._overdue = overdue
        self._receive = receive
        self._send = send
        self._direct = direct
        self._loop = asyncio.get_running_loop()
        self._owner = asyncio.current_task()
        self._keepalive: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._waiting: deque[bytes] = deque()
        self._wake: asyncio.Event | None = None  # of the stream, which most answers don't become
        self.has_ended = False

    async def __aenter__(self) -> Self:
        self._overdue.watch(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self.has_ended = True
        if self._keepalive is not None:
            self._keepalive.cancel()
        for task in (self._watcher, self._pump):
            if task is not None:
                task.cancel()
        if self.client_gone and self._owner is not None:
            self._owner.uncancel()
            return kind is asyncio.CancelledError
        return False

    @property
    def is_stream(self) -> bool:
        """Whether the event stream has begun, which fixes the HTTP status at 200."""
        return self._pump is not None

    def push(self, message: bytes) -> None:
        """Send a notification at the client's pace; begins the stream; a slow client loses some."""
        if self.has_ended:
            return
        if len(self._waiting) >= _MAX_WAITING:
            self._waiting.popleft()
        self._waiting.append(event(message))
        self._begin()

    def push_once(self, message: bytes) -> None:
        """Send a notification, unless the same is still waiting to be sent."""
        if event(message) not in self._waiting:
            self.push(message)

    async def finish(self, body: bytes, *, status: int = 200, headers: Headers = ()) -> None:
        """Send the JSON-RPC response, as the last event if a stream has begun."""
        if self.has_ended:
            return
        self.has_ended = True
        if self._pump is None:
            if status == 200 and not headers and self._direct and self._direct.answer(body):
                return
            await send_bytes(self._send, status, body, headers)
            return
        self._waiting.append(event(body))
        self._begin()
        async with asyncio.timeout(WRITE_DEADLINE_S):
            await self._pump

    def _begin(self) -> None:
        if self._wake is None:
            self._wake = asyncio.Event()
            # Owned: cancelled in __aexit__.
            self._pump = self._loop.create_task(self._write(self._wake))
        self._wake.set()

    def is_overdue(self) -> None:
        """Watch the client from now on, and let the connection not stay silent for too long."""
        self._watcher = self._loop.create_task(self._await_leaving())  # owned, as above
        self._keepalive = self._loop.call_later(KEEPALIVE_S, self._begin)

    async def _await_leaving(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self.has_ended and self._owner is not None:
            self.client_gone = True
            self._owner.cancel()

    async def _write(self, wake: asyncio.Event) -> None:
        """Write the stream: events as they come, comments in between so that it stays open."""
        await self._send(
            {"type": "http.response.start", "status": 200, "headers": list(SSE_HEADERS)}
        )
        while True:
            while self._waiting:
                await self._body(self._waiting.popleft())
            if self.has_ended:
                break
            wake.clear()
            try:
                async with asyncio.timeout(KEEPALIVE_S):
                    await wake.wait()
            except TimeoutError:
                await self._body(PING)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _body(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
