"""What a server of the handshake era asks while it works on one call, and who answers it."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import anyio

from gateway.errors import AskRefused
from gateway.protocol.words import INTERNAL_ERROR
from gateway.servers.connection import ASKS, Start, answer_to
from gateway.servers.elicited import Elicited
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery
from gateway.types.relay import Ear

_log = logging.getLogger("gateway.servers")
MOST_QUESTIONS = 16  # in one call


class Rest:
    """A deadline on the loop's clock that rests while somebody is asked.

    `move` sets the timer to a new time, or stops it with None.
    """

    def __init__(self, deadline: float, move: Callable[[float | None], None]) -> None:
        self._deadline = deadline
        self._move = move
        self._left = 0.0
        self._open = 0

    def begin(self) -> None:
        """Stop the clock, for one more question."""
        if not self._open:
            self._left = self._deadline - asyncio.get_running_loop().time()
            self._move(None)
        self._open += 1

    def end(self) -> None:
        """Let the clock go on once nothing is asked any more."""
        self._open -= 1
        if not self._open:
            self._deadline = asyncio.get_running_loop().time() + self._left
            self._move(self._deadline)


class Hearing:
    """The questions of one call; each is answered, withdrawn, or given up with the call.

    `answer` sends a response to the server.
    """

    def __init__(
        self,
        ear: Ear,
        rest: Rest,
        *,
        start: Start,
        answer: Callable[[JsonObject], None],
        elicited: Elicited,
    ) -> None:
        self._ear = ear
        self._elicited = elicited
        self._rest = rest
        self._start = start
        self._answer = answer
        self._open: dict[str | int, anyio.CancelScope] = {}
        self._count = 0
        self._ended = False

    def asked(self, message: JsonObject) -> None:
        """Take a question: a request that the server sent while it works on this call."""
        refused, number = answer_to(message), message.get("id")
        if refused is None or "result" in refused:  # no id that can be answered, or a ping
            if refused is not None:
                self._answer(refused)
            return
        assert isinstance(number, str | int)  # noqa: S101 - an answer was made to it
        if number in self._open:
            return
        if self._ended or self._count >= MOST_QUESTIONS:
            self._answer(refused)
            return
        self._count += 1
        scope = self._open[number] = anyio.CancelScope()
        self._rest.begin()
        if not self._start(lambda: self._ask(message, number, scope)):
            self._closed(number)

    def withdrawn(self, params: Json) -> bool:
        """Give up the question that a `notifications/cancelled` is about, if it is one of ours."""
        number = params.get("requestId") if isinstance(params, dict) else None
        scope = self._open.get(number) if isinstance(number, str | int) else None
        if scope is not None:
            scope.cancel()
        return scope is not None

    def end(self, delivery: Delivery | None) -> None:
        """Give up what is open: the call has ended, and its caller can't be asked any more."""
        if delivery is not None:
            self._elicited.ended(delivery, self._ear)
        self._ended = True
        for scope in self._open.values():
            scope.cancel()

    async def _ask(self, message: JsonObject, number: str | int, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                self._answer(await self._reply(message, number))
            if scope.cancelled_caught and self._ended:  # it may still wait for an answer
                self._answer(_error(number, INTERNAL_ERROR, "the call has ended"))
        finally:
            self._closed(number)

    def _closed(self, number: str | int) -> None:
        del self._open[number]
        if not self._ended:
            self._rest.end()

    async def _reply(self, message: JsonObject, number: str | int) -> JsonObject:
        params = message.get("params")
        self._elicited.asked(message, self._ear)
        try:
            result = await self._ear.ask(
                str(message["method"]), params if isinstance(params, dict) else {}
            )
        except AskRefused as refused:
            self._elicited.unasked(message)
            return _error(number, refused.code, refused.message, refused.data)
        except Exception:  # a fault of ours costs this question, and no call of others
            _log.exception("a question of a server could not be passed on")
            return _error(number, INTERNAL_ERROR, "internal fault of the client")
        return {"jsonrpc": "2.0", "id": number, "result": result}


async def run_safely(work: Callable[[], Awaitable[None]]) -> None:
    """Run work beside the calls: a fault of ours costs what it was about, not the connection."""
    try:
        await work()
    except Exception:
        _log.exception("internal fault beside the calls of a server")


def reschedule(timer: asyncio.Timeout, when: float | None) -> None:
    """Move a timer, unless it has run out just now."""
    with contextlib.suppress(RuntimeError):
        timer.reschedule(when)


def may_ask(capabilities: JsonObject) -> bool:
    """Whether a server that was told of these capabilities may ask something."""
    return any(each in capabilities for each in ASKS)


def _error(number: str | int, code: int, message: str, data: Json = None) -> JsonObject:
    error: JsonObject = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": error}
