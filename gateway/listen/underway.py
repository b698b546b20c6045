"""A request of a session while it is under way: what comes before its answer, and how it ends.

Most have an answer and nothing else, and it leaves as JSON. The response becomes an event stream
when something is told or asked before: what a client declares or wants makes no difference.
"""

import asyncio
from types import TracebackType
from typing import Final, Self

from mcp.shared.exceptions import NoBackChannelError

from gateway.listen.asked import Questions, told
from gateway.listen.direct import direct_of
from gateway.listen.methods import CANCELLED, PROGRESS
from gateway.listen.replies import Asgi, send_bytes
from gateway.listen.rpc import RequestId, RpcError, error_bytes, notification_bytes, request_bytes
from gateway.listen.stream import KEEPALIVE_S, EventStream
from gateway.types.json import Json, JsonObject

_MOST_WAITING: Final = 256


class UnderWay:
    """Owns the response to one request; used as a context by the request's own task.

    Its client's leaving ends nothing (MCP 2025-11-25: a disconnect is no cancellation).
    """

    __slots__ = (
        "_http",
        "_instead",
        "_owner",
        "_questions",
        "_request_id",
        "_silence",
        "_stream",
        "_token",
        "has_ended",
    )

    def __init__(
        self, request_id: RequestId, http: Asgi, questions: Questions, token: RequestId | None
    ) -> None:
        self._request_id = request_id
        self._http = http
        self._questions = questions
        self._token = token
        self._owner = asyncio.current_task()
        self._silence: asyncio.TimerHandle | None = None
        self._stream: EventStream | None = None
        self.has_ended = False
        self._instead: RpcError | None = None  # what it is answered with, as it was cut short

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        try:
            # Whoever else has cancelled the task wants more than an answer to the request.
            is_cut = self._instead is not None and not (self._owner and self._owner.uncancel())
            if is_cut and self._instead is not None:
                # As an event: a client that takes back a call when it leaves has ears for no other
                # answer (its SDK fails on JSON that nobody reads).
                self._begin()
                await self._end(error_bytes(self._request_id, self._instead))
        finally:
            self.has_ended = True
            if self._silence is not None:
                self._end_silence()
            if self._stream is not None:
                self._stream.close()
        return is_cut and kind is asyncio.CancelledError

    @property
    def is_left(self) -> bool:
        """Whether the client is known to have gone; what is done for the request goes on."""
        direct = direct_of(self._http.scope)
        return direct is not None and direct.is_left

    def is_overdue(self) -> None:
        """Let the connection not stay silent for too long."""
        self._silence = asyncio.get_running_loop().call_later(KEEPALIVE_S, self._begin)

    def cut(self, answer: RpcError) -> None:
        """Cancel what is done for the request, and answer with this, unless there is an answer."""
        if not self.has_ended and self._instead is None and self._owner is not None:
            self._instead = answer
            self._owner.cancel()

    def answer(self, body: bytes) -> bool:
        """Send the JSON-RPC response at once; False where `finish` has to."""
        if self.has_ended or self._instead is not None or self._stream is not None:
            return False
        direct = direct_of(self._http.scope)
        if direct is None or not direct.answer(body):
            return False
        self.has_ended = True
        if self._silence is not None:
            self._end_silence()
        return True

    async def finish(self, body: bytes) -> None:
        """Send the JSON-RPC response, as the last event if a stream has begun."""
        if self._instead is None:
            await self._end(body)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress, if the client gave a token for it; never waits."""
        if self._token is None:
            return
        params: JsonObject = {"progressToken": self._token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify(PROGRESS, params)

    async def notify(self, method: str, params: JsonObject | None) -> None:
        """Tell something before the answer; never waits, and a slow client loses some."""
        if self._stream is None or self._stream.waiting < _MOST_WAITING:
            self._put(notification_bytes(method, params or {}))

    async def send_raw_request(self, method: str, params: JsonObject | None) -> dict[str, Json]:
        """Ask the client something before the answer, and return its result; raises MCPError.

        When nobody waits for it any more, the client is told so.
        """
        if self.has_ended:
            raise NoBackChannelError(method)
        with self._questions.one() as (number, answer):
            self._put(request_bytes(number, method, params or {}))
            try:
                return told(await answer)
            except asyncio.CancelledError:
                left: JsonObject = {"requestId": number, "reason": "nobody waits for the answer"}
                self._put(notification_bytes(CANCELLED, left))
                raise

    def _put(self, message: bytes) -> None:
        if not self.has_ended:
            self._begin().put(message)

    def _begin(self) -> EventStream:
        if self._stream is None:
            self._stream = EventStream(self._http.send)
        return self._stream

    def _end_silence(self) -> None:
        if self._silence is not None:
            self._silence.cancel()

    async def _end(self, body: bytes) -> None:
        if self.answer(body):
            return
        self.has_ended = True
        self._end_silence()
        if self._stream is not None:
            await self._stream.end(body)
        else:
            await send_bytes(self._http.send, 200, body)
