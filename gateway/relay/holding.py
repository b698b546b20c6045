"""Step 10, while nobody has decided: the caller is asked, held, or told to come back.

What is chosen depends on the call, and decides nothing: every way leads back to the row of the
request, and to a call that is judged and claimed anew.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeVar

import anyio

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.errors import AskRefused, StoreUnavailable
from gateway.relay import confirming
from gateway.relay.attendance import Attendance
from gateway.relay.errands import Errands
from gateway.relay.places import Places
from gateway.relay.states import RESPONSES, STATE, Decided, States
from gateway.steps import gate
from gateway.store.requests import Held, asks_client
from gateway.store.times import microseconds
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Assurance,
    Channel,
    Choice,
    Fallback,
    Ruling,
)
from gateway.types.calls import Era, Method, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Answer, Refusal, Status

_log = logging.getLogger("weighbridge")
_T = TypeVar("_T")

MOST_ROUNDS: Final = 8  # official clients give up after ten
_FRUITLESS: Final = 5  # calls for one request, after which a model is told to stop
_REMEMBERED: Final = 10_000
_TELL_S: Final = 15.0  # between two notes of progress
# The loop's clock and the wall's do not tick together: who is held to the end sees the end.
_TICK_S: Final = 0.05
_FIRST_S: Final = 0.05
_LONGEST_S: Final = 1.0
_ASK_S: Final = 600.0
_CONFIRM: Final = "confirm"
_STEP: Final = 0.001  # of progress: what the tool reports later goes on from there
# What a caller that waited goes on with: it is weighed again, and then sent or told. Used up by
# another caller of the same call, it gets what that one gets.
_SETTLED: Final = frozenset(
    {
        ApprovalState.APPROVED,
        ApprovalState.CONSUMED,
        ApprovalState.DENIED,
        ApprovalState.EXPIRED,
    }
)


class Deciding(Protocol):
    """The one place where decisions are made."""

    async def decide(
        self, approver: Approver, approval_id: str, choice: Choice, binding: str, reason: str = ""
    ) -> Ruling:
        """Give a person's word; raises StoreUnavailable."""
        ...

    async def call_off(self, approval: Approval, why: str) -> Approval | None:
        """End a request that its caller waits for no longer; raises StoreUnavailable."""
        ...


class Bells:
    """Wakes who waits for a decision here; one that falls elsewhere is seen soon."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def ring(self, approval: Approval) -> None:
        """Wake everybody who waits for a request."""
        self._ring(self._waiting.get(approval.approval_id, ()))

    def ring_all(self) -> None:
        """Wake everybody who waits for anything."""
        for waiting in self._waiting.values():
            self._ring(waiting)

    def _ring(self, waiting: Iterable[asyncio.Future[None]]) -> None:
        for bell in waiting:
            if not bell.done():
                bell.set_result(None)

    async def wait(self, approval_id: str, at_most_s: float) -> None:
        """Wait until it is rung, or the time is over."""
        bell: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(approval_id, []).append(bell)
        try:
            await asyncio.wait({bell}, timeout=at_most_s)
        finally:
            waiting = self._waiting[approval_id]
            waiting.remove(bell)
            if not waiting:
                del self._waiting[approval_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How patient callers are, and where approvers decide."""

    hold_s: Callable[[str], float]
    """For how long a client with this name is held."""
    comes_back: Callable[[str], bool] = lambda client: False
    """Whether a client with this name is known to answer a bare `requestState` by itself."""
    url: Callable[[Approval], str] = lambda approval: ""
    """The page where a request is decided; empty where there is none."""


@dataclass(slots=True, kw_only=True)
class Holding:
    """Sees a held call to a decision, as far as its caller has patience."""

    find: Callable[[str], Awaitable[Approval | None]]
    """Read a request; raises StoreUnavailable."""
    deciding: Deciding
    document: Callable[[Approval], JsonObject]
    """What approvers are shown."""
    bells: Bells
    states: States
    terms: Terms
    clock: Clock
    errands: Errands
    """Tasks of the gateway's own, for callers that know the extension."""
    attendance: Attendance
    held: Callable[[str, Approval], None] = lambda call_id, approval: None
    """Told of each call that is held, by its id."""
    places: Places = field(default_factory=Places)
    """For how many calls at once there is room; who finds none is told to come back."""
    _fruitless: OrderedDict[str, int] = field(default_factory=OrderedDict[str, int])
    _is_closing: bool = False

    def close(self) -> None:
        """Hold nobody any longer, since the gateway stops; requests are there when it is back."""
        self._is_closing = True
        self.bells.ring_all()

    async def asked(self, case: Case, claim: Awaitable[_T]) -> _T:
        """Wait for a claim to its end: who leaves meanwhile has left the request that it makes."""
        claimed = asyncio.ensure_future(claim)
        try:
            return await asyncio.shield(claimed)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), suppress(Exception):  # nobody is there to be told
                made = await claimed
                if isinstance(made, Held) and not self.attendance.many(made.approval.approval_id):
                    await self._left(case, made.approval)
            raise

    async def __call__(self, case: Case, held: Held) -> Answer | Refusal | None:
        """Return what the caller gets now; None: there is a decision, so weigh the call again."""
        approval = held.approval
        self.held(case.call.call_id, approval)
        async with self.attendance.of(approval, lambda: self._left(case, approval)):
            return await self._carried(case, approval)

    async def _left(self, case: Case, approval: Approval) -> None:
        """Note that the last caller has left; end the request where its contract wants that."""
        if self._is_closing:
            return  # it is the gateway that leaves
        if not case.contract.approval.cancel_on_disconnect:
            await self.attendance.gone(approval)
            return
        try:
            await self.deciding.call_off(approval, "its caller went away while it was held")
        except StoreUnavailable as error:
            _log.warning("%s: can't be called off: %s", approval.approval_id, error)

    async def _carried(self, case: Case, approval: Approval) -> Answer | Refusal | None:
        if asks_client(approval.clause) and not case.call.rounds:
            asked = await self._confirmed(case, approval)
            if asked is not _NOBODY:
                return asked
            if approval.clause.fallback is Fallback.DENY:
                await self.deciding.call_off(approval, "its client can't ask its user")
                return gate.declined(approval)
        begun = self.errands.begin(case.call, approval)
        if begun is not None:
            return begun
        with self._place(case.call, approval) as is_held:
            seen = await self._waited(case.call, approval, None if is_held else 0.0)
        if seen.state in _SETTLED:
            self._fruitless.pop(approval.approval_id, None)
            return None
        if not seen.state.is_open:
            return gate.ended(seen)
        # Who finds no place is to come back later, and not with another round at once.
        again = self._next_round(case, seen) if is_held else None
        return again or self._pending(seen)

    def later(self, held: Held) -> Refusal:
        """Return what a call gets that nobody holds."""
        return self._pending(held.approval)

    async def answered(self, call: ProposedCall, state: Decided) -> ProposedCall:
        """Take what the caller brings along, and return its call to be weighed again."""
        params = {key: each for key, each in call.params.items() if key not in (STATE, RESPONSES)}
        responses = call.params.get(RESPONSES)
        response = responses.get(_CONFIRM) if isinstance(responses, dict) else None
        if state.asked and isinstance(response, dict):
            await self._decided(call, state.approval_id, response)
        return replace(call, params=params, rounds=state.round)

    async def _confirmed(self, case: Case, approval: Approval) -> Answer | Refusal | None:
        """Ask the caller's own client; `_NOBODY` when it can't be, or nobody decided."""
        call = case.call
        if not confirming.can_ask(call.caller.capabilities):
            return _NOBODY
        params = confirming.form(self.document(approval), approval)
        if call.caller.era is Era.MODERN:
            token = self.states.decide(call, approval.approval_id, round=1, asked=True)
            question: JsonObject = {"method": str(Method.ELICIT), "params": params}
            return _round(token, {_CONFIRM: question})
        within_s = min(_ASK_S, self._left_s(approval))
        with self._place(call, approval) as is_held:
            if not is_held:
                return self._pending(approval)
            try:
                said = await call.caller.ask(str(Method.ELICIT), params, within_s=within_s)
            except AskRefused as refused:
                _log.info("%s: its client did not confirm: %s", call.call_id, refused)
                return _NOBODY
        is_decided = await self._decided(call, approval.approval_id, said)
        return None if is_decided else _NOBODY

    async def _decided(self, call: ProposedCall, approval_id: str, said: JsonObject) -> bool:
        """Give the word of the client's user; whether that was one."""
        approval = await self.find(approval_id)
        if approval is None:
            return False
        typed = confirming.expected(self.document(approval))
        choice = confirming.choice(said, typed=typed)
        if choice is None:
            return False
        principal = call.principal
        approver = Approver(
            tenant=principal.tenant,
            user=principal.user,
            roles=principal.roles,
            assurance=Assurance.CLIENT_ASSERTED,
            channel=Channel.ELICITATION,
            issuer=principal.issuer,
        )
        ruling = await self.deciding.decide(approver, approval_id, choice, approval.binding)
        return ruling.cast.is_accepted

    async def wait(
        self, call: ProposedCall, approval: Approval, at_most_s: float | None = None
    ) -> Approval:
        """Hold a call until something is decided, its client loses patience, or time is up.

        It is not held at all when there is no place for it.
        """
        with self._place(call, approval) as is_held:
            return await self._waited(call, approval, at_most_s if is_held else 0.0)

    def _place(self, call: ProposedCall, approval: Approval) -> AbstractContextManager[bool]:
        return self.places.take(call.principal.owner, approval.approval_id)

    async def _waited(
        self, call: ProposedCall, approval: Approval, at_most_s: float | None
    ) -> Approval:
        loop = asyncio.get_running_loop()
        # Nobody waits for a call that the gateway makes by itself.
        patience_s = 0.0 if call.operation is not None else self.terms.hold_s(call.client_name)
        if at_most_s is not None:
            patience_s = min(patience_s, at_most_s)
        until_s = loop.time() + min(patience_s, self._left_s(approval) + _TICK_S)
        told_s, told, pause, seen = -_TELL_S, 0, _FIRST_S, approval
        while (
            seen.state is ApprovalState.PENDING
            and not self._is_closing
            and (left_s := until_s - loop.time()) > 0
        ):
            if loop.time() - told_s >= _TELL_S:
                await call.caller.progress(told * _STEP, None, gate.waiting(seen))
                told_s, told = loop.time(), told + 1
            await self.bells.wait(approval.approval_id, min(pause, left_s))
            pause = min(2 * pause, _LONGEST_S)
            seen = await self._seen(approval)
            await self.attendance.seen(seen)
        if seen.state is ApprovalState.PENDING and self._left_s(approval) <= 0:
            return replace(seen, state=ApprovalState.EXPIRED)  # the claim makes it so
        return seen

    async def _seen(self, approval: Approval) -> Approval:
        try:
            return await self.find(approval.approval_id) or approval
        except StoreUnavailable as error:
            _log.debug("%s: can't be looked at: %s", approval.approval_id, error)
            return approval

    def _left_s(self, approval: Approval) -> float:
        return (approval.decide_by - microseconds(self.clock.now())) / 1e6

    def _next_round(self, case: Case, approval: Approval) -> Answer | None:
        """Have a client come back by itself, where it is known to do that."""
        call = case.call
        is_able = call.caller.era is Era.MODERN and self.terms.comes_back(call.client_name)
        if not is_able or call.rounds >= MOST_ROUNDS or self._is_closing:
            return None
        token = self.states.decide(call, approval.approval_id, round=call.rounds + 1, asked=False)
        return _round(token, {})

    def _pending(self, approval: Approval) -> Refusal:
        many = self._fruitless.pop(approval.approval_id, 0) + 1
        self._fruitless[approval.approval_id] = many
        if len(self._fruitless) > _REMEMBERED:
            self._fruitless.popitem(last=False)
        url = self.terms.url(approval)
        return gate.pending(approval, url=url, is_patient=many < _FRUITLESS)


# Told apart from "weigh it again": nobody was asked, or nobody answered.
_NOBODY: Final = Refusal(status=Status.APPROVAL_PENDING, reason="nobody was asked")


def _round(token: str, questions: JsonObject) -> Answer:
    result: JsonObject = {"resultType": "input_required", "requestState": token}
    if questions:
        result["inputRequests"] = questions
    return Answer(result=result, status=Status.INPUT_REQUIRED)


def document_of(text: bytes) -> JsonObject:
    """Return the document of a request from its bytes."""
    document: Json = jsontext.parse_result(text)
    return document if isinstance(document, dict) else {}
