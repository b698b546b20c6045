"""Calls of stateless callers that wait for an answer, while their server waits for them.

A server of the handshake era asks in the middle of a call. A stateless caller can't be asked then:
its request is answered with the question, the call stays open here, and the caller's next request
brings the answer to it.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import anyio

from gateway import ids
from gateway.case import Case
from gateway.errors import AskUnanswered
from gateway.relay.states import RESPONSES, Awaited, States
from gateway.results import envelope
from gateway.types.calls import Caller, Era, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status

_GONE: Final = -32603  # JSON-RPC internal error: nobody is there to be asked


class Owner(Protocol):
    """The process as the owner of work that outlives a request."""

    def start(self, work: Callable[[], Awaitable[Finished]]) -> "asyncio.Future[Finished]":
        """Carry `work` out; the future is settled at its end, whoever waits for it."""
        ...


class Desk:
    """The caller of a parked call: it is asked by an answer, and answers by a request."""

    def __init__(self, caller: Caller) -> None:
        self._declared = caller
        self._present: Caller | None = caller  # whose request is under way now
        self._open: dict[str, tuple[JsonObject, asyncio.Future[JsonObject]]] = {}
        self._asked = 0
        self.bell: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    era = Era.MODERN

    @property
    def protocol_version(self) -> str:
        """The revision of the first request."""
        return self._declared.protocol_version

    @property
    def transport(self) -> str:
        """How the first request came."""
        return self._declared.transport

    @property
    def wants_progress(self) -> bool:
        """Whether the first request asked for progress."""
        return self._declared.wants_progress

    @property
    def capabilities(self) -> JsonObject:
        """What the first request declared."""
        return self._declared.capabilities

    @property
    def log_level(self) -> str:
        """From which level on log messages are wanted."""
        return self._declared.log_level

    @property
    def session(self) -> str:
        """Stateless callers have none."""
        return self._declared.session

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report to the request that is under way; between two there is nobody to tell."""
        if self._present is not None:
            await self._present.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Log to the request that is under way."""
        if self._present is not None:
            await self._present.log(params)

    async def completed(self, params: JsonObject) -> None:
        """Tell nothing: to stateless callers there is no way, and no word for it."""
        del params

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Put a question on the desk and wait for the request that answers it."""
        self._asked += 1
        key = f"question-{self._asked}"
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._open[key] = ({"method": method, "params": params}, answer)
        if not self.bell.done():
            self.bell.set_result(None)
        try:
            async with asyncio.timeout(within_s):
                return await answer
        except TimeoutError:
            raise AskUnanswered(_GONE, "the caller gave no answer in time") from None
        finally:
            self._open.pop(key, None)

    @property
    def questions(self) -> JsonObject:
        """The questions without an answer, as `inputRequests`."""
        return {key: asked for key, (asked, answer) in self._open.items() if not answer.done()}

    def arrive(self, caller: Caller, responses: Json) -> None:
        """Take the answers that a request brings; unknown ones mean nothing."""
        self._present = caller
        for key, response in responses.items() if isinstance(responses, dict) else ():
            asked = self._open.get(key)
            if asked is not None and isinstance(response, dict) and not asked[1].done():
                asked[1].set_result(response)

    def leave(self) -> None:
        """Note that the request under way is answered."""
        self._present = None

    def listen(self) -> "asyncio.Future[None]":
        """Return what is settled by the next question."""
        if self.bell.done() and not self.questions:
            self.bell = asyncio.get_running_loop().create_future()
        return self.bell


@dataclass(slots=True, kw_only=True)
class _Parked:
    id: str
    call: ProposedCall
    is_read: bool
    desk: Desk
    end: "asyncio.Future[Finished]"
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Parking:
    """Owns the calls that may wait for their callers; bounded for each caller and in all."""

    def __init__(
        self,
        owner: Owner,
        states: States,
        *,
        linger_s: float = 60.0,
        most: int = 1024,
        most_each: int = 32,
    ) -> None:
        self._owner = owner
        self._states = states
        self._linger_s = linger_s
        self._most = most
        self._most_each = most_each
        self._parked: dict[str, _Parked] = {}
        self._each: Counter[tuple[str, ...]] = Counter()

    @property
    def waiting(self) -> int:
        """How many calls have not come to their end."""
        return sum(not parked.end.done() for parked in self._parked.values())

    @property
    def has_nothing(self) -> bool:
        """Whether no call is here, ended ones included."""
        return not self._parked

    def has_room(self, call: ProposedCall) -> bool:
        """Say whether one more call of this caller may come to wait."""
        each = self._each[call.principal.owner]
        return len(self._parked) < self._most and each < self._most_each

    async def run(self, case: Case, work: Callable[[Case], Awaitable[Finished]]) -> Finished:
        """Carry a call out until it ends or its server asks something; returns either."""
        desk = Desk(case.call.caller)
        parked = _Parked(
            id=ids.new("parked"),
            call=case.call,
            is_read=case.is_plain_read,
            desk=desk,
            end=asyncio.get_running_loop().create_future(),
        )
        at_desk = replace(case, call=replace(case.call, caller=desk))

        async def carried() -> Finished:
            with parked.scope:
                return await work(at_desk)
            return Finished(result={}, status=Status.CANCELLED)

        self._parked[parked.id] = parked
        self._each[parked.call.principal.owner] += 1
        parked.end = self._owner.start(carried)
        parked.end.add_done_callback(lambda _: self._linger(parked))
        return await self._next(parked)

    async def resume(self, state: Awaited, call: ProposedCall) -> Finished | None:
        """Bring a caller's answers to its parked call; None when that is no longer here."""
        parked = self._parked.get(state.id)
        if parked is None or parked.call.principal.owner != call.principal.owner:
            return None
        parked.desk.arrive(call.caller, call.params.get(RESPONSES))
        return await self._next(parked)

    async def _next(self, parked: _Parked) -> Finished:
        desk, end = parked.desk, parked.end
        try:
            while not end.done() and not desk.questions:
                await asyncio.wait((end, desk.listen()), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if parked.is_read:  # nobody waits, and nothing was to change
                parked.scope.cancel()
            raise
        finally:
            desk.leave()
        if end.done():
            self._forget(parked)
            return end.result()
        return self._asked(parked)

    def _asked(self, parked: _Parked) -> Finished:
        token = self._states.park(parked.call, parked.id, is_read=parked.is_read)
        outcome: JsonObject = {
            "call_id": parked.call.call_id,
            "status": Status.INPUT_REQUIRED.value,
        }
        result: JsonObject = {
            "resultType": "input_required",
            "inputRequests": parked.desk.questions,
            "requestState": token,
            "_meta": {envelope.OUTCOME: outcome},
        }
        return Finished(result=result, status=Status.INPUT_REQUIRED)

    def _linger(self, parked: _Parked) -> None:
        """Keep an end for the caller that comes a little late."""
        asyncio.get_running_loop().call_later(self._linger_s, self._forget, parked)

    def _forget(self, parked: _Parked) -> None:
        if self._parked.pop(parked.id, None) is not None:
            owner = parked.call.principal.owner
            self._each[owner] -= 1
            if not self._each[owner]:
                del self._each[owner]
