"""The response to one HTTP request: a JSON body, or an event stream if there is news before."""

import asyncio
from types import TracebackType
from typing import Final, Self

from gateway.listen.direct import Direct
from gateway.listen.overdue import Overdue
from gateway.listen.replies import Asgi, Headers, send_bytes
from gateway.listen.stream import KEEPALIVE_S, EventStream

# Most calls are over by then and never pay for a task that watches their client.
WATCH_AFTER_S: Final = 0.05
_MAX_WAITING: Final = 256


class Exchange:
    """Owns a response and the tasks beside it; used as a context by the request's own task.

    The client's leaving cancels that task (MCP 2026-07-28: a disconnect is the cancellation), and
    the context swallows just that cancellation.
    """

    __slots__ = (
        "_direct",
        "_http",
        "_keepalive",
        "_owner",
        "_stream",
        "_watcher",
        "client_gone",
        "has_ended",
    )

    def __init__(self, http: Asgi, overdue: Overdue, direct: Direct | None = None) -> None:
        self.client_gone = self.has_ended = False
        self._http = http
        self._direct = direct
        self._owner = asyncio.current_task()
        self._keepalive: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._stream: EventStream | None = None  # which most answers don't become
        overdue.watch(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self.has_ended = True
        if self._keepalive is not None:
            self._keepalive.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._stream is not None:
            self._stream.close()
        if self.client_gone and self._owner is not None:
            self._owner.uncancel()
            return kind is asyncio.CancelledError
        return False

    @property
    def is_stream(self) -> bool:
        """Whether the event stream has begun, which fixes the HTTP status at 200."""
        return self._stream is not None

    def push(self, message: bytes) -> None:
        """Send a notification at the client's pace; begins the stream; a slow client loses some."""
        if not self.has_ended:
            self._begin().put(message, most=_MAX_WAITING)

    def push_once(self, message: bytes) -> None:
        """Send a notification, unless the same is still waiting to be sent."""
        if self._stream is None or not self._stream.holds(message):
            self.push(message)

    def answer(self, body: bytes) -> bool:
        """Send the JSON-RPC response at once, under status 200; False where `finish` has to."""
        if self.has_ended or self._stream is not None or self._direct is None:
            return False
        self.has_ended = self._direct.answer(body)
        return self.has_ended

    async def finish(self, body: bytes, *, status: int = 200, headers: Headers = ()) -> None:
        """Send the JSON-RPC response, as the last event if a stream has begun."""
        if self.has_ended or (status == 200 and not headers and self.answer(body)):
            return
        self.has_ended = True
        if self._stream is not None:
            await self._stream.end(body)
        else:
            await send_bytes(self._http.send, status, body, headers)

    def _begin(self) -> EventStream:
        if self._stream is None:
            self._stream = EventStream(self._http.send)  # owned: closed in __exit__
        return self._stream

    def is_overdue(self) -> None:
        """Watch the client from now on, and let the connection not stay silent for too long."""
        loop = asyncio.get_running_loop()
        self._watcher = loop.create_task(self._await_leaving())  # owned, as above
        self._keepalive = loop.call_later(KEEPALIVE_S, self._break_silence)

    def _break_silence(self) -> None:
        if not self.has_ended:
            self._begin()

    async def _await_leaving(self) -> None:
        while (await self._http.receive())["type"] != "http.disconnect":
            pass
        if not self.has_ended and self._owner is not None:
            self.client_gone = True
            self._owner.cancel()
