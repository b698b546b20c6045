"""Step 9: is this call new, and what does it use up? Nothing is sent that was not taken here."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, assert_never

from gateway.case import Case, Injected
from gateway.crossing import wanted
from gateway.crossing.belonging import Stale
from gateway.crossing.failpoints import Failpoint, Reached, go_on
from gateway.crossing.joins import Joins
from gateway.crossing.people import People, is_too_large
from gateway.crossing.recorded import Recorded
from gateway.errors import StoreUnavailable
from gateway.operations import keys, refusals
from gateway.steps import gate
from gateway.store.claims import Wanted
from gateway.store.requests import Held
from gateway.store.vault import Vault, VaultBroken
from gateway.types import operations as types
from gateway.types import repeats
from gateway.types.approvals import Approval
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect, Exceeded, Limit
from gateway.types.events import Event
from gateway.types.guarantees import OF_RUN, OnVariant, Repeat
from gateway.types.json import JsonObject
from gateway.types.operations import Met, Operation, OpState
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.runs import Only

_log = logging.getLogger("weighbridge")

_ANSWERED: Final = frozenset({OpState.SUCCEEDED, OpState.FAILED_FINAL})
_OWN: Final = "weighbridge/"  # of the keys in `_meta` that no server gets
_ANSWERS: Final = frozenset({"requestState", "inputResponses"})


class Limits(Protocol):
    """Counters that several gateways share."""

    async def reserve(self, call_id: str, limits: Sequence[Limit]) -> Exceeded | None:
        """Take from every limit or from none; idempotent by call id. Raises StoreUnavailable."""
        ...

    async def release(self, call_id: str) -> None:
        """Give back what a call took that was never carried out. Raises StoreUnavailable."""
        ...


class Operations(Protocol):
    """The table of operations, as far as claims need it; all raise StoreUnavailable."""

    async def claim(
        self, wanted: Wanted, events: Sequence[Event], *, lease_s: float
    ) -> types.Claim:
        """Take the operation for one attempt, or say what stands in its place."""
        ...

    def unsend(self, wanted: Operation, events: Sequence[Event] = ()) -> None:
        """Take back a claim whose send certainly did not begin, as soon as that is possible."""
        ...


class Ticket(Protocol):
    """The part of a ticket that claims use."""

    def intent(self, case: Case) -> list[Event]:
        """Return the events that have to be durable before the call is sent."""
        ...

    def committed(self) -> None:
        """Note that they are, and that the call may be sent."""
        ...

    def concerns(self, operation: Operation, approval: Approval | None = None) -> None:
        """Note which operation the call is about, and which request for people's decision."""
        ...

    @property
    def span(self) -> str:
        """The call's own span, as a `traceparent`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for operations where a contract says nothing; seconds."""

    window_s: float = 24 * 3600.0
    assumed_window_s: float = 300.0  # for tools whose contract has no `idempotency`
    run_window_s: float = 90 * 86400.0  # where a contract says `run`: as long as any is kept
    lease_s: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Takes operations for calls that may change something, and limits for the others."""

    limits: Limits
    operations: Operations
    people: People
    joins: Joins
    vault: Vault
    shown: Callable[[Case], str]  # the arguments as people may see them: JSON
    patience_s: Callable[[Case], float]
    leaving: Callable[[Case, Answer | Refusal], Answer | Refusal]
    """Let through of an outcome that was kept what may leave today."""
    resolve: Callable[[Case, Operation], Awaitable[bool]]
    """Find out what became of an open operation; whether more is known now.

    Raises StoreUnavailable.
    """
    terms: Terms = Terms()
    over_stdio: frozenset[str] = frozenset()  # servers that headers don't reach
    reached: Reached = go_on

    async def __call__(self, case: Case, ticket: Ticket) -> Case | Answer | Refusal | Held | Stale:
        """Return the case when it may be sent, or what stands in its place.

        Whoever gets Stale at once, or Held once people have decided, comes back judged anew.
        """
        is_held = case.decision.effect is DecisionEffect.REQUIRE_APPROVAL
        if not case.is_claimed:
            return await self._reserved(case)
        try:
            repetition = repeats.asked(case.call.meta)
            asked_for = wanted.operation(
                case,
                vault=self.vault,
                shown=self.shown,
                has_headers=case.tool.server not in self.over_stdio,
            )
        except keys.KeyRefused as error:
            return Refusal(
                status=Status.INVALID_ARGUMENTS, code="idempotency_key", reason=str(error)
            )
        except repeats.BadRepeat as error:
            return Refusal(status=Status.INVALID_ARGUMENTS, code="repeat", reason=str(error))
        repeated = "" if repetition is None else repetition.op_id
        refused = self.unaskable(case, is_held=is_held, repeats=bool(repeated))
        return refused or await self._claimed(case, asked_for, ticket, repeated)

    def unaskable(self, case: Case, *, is_held: bool, repeats: bool) -> Refusal | None:
        """Say why a call may not even be asked for, if that is so."""
        if repeats and case.contract.idempotency.repeat is Repeat.DENY:
            return refusals.repeat_denied(case.tool.exposed_name)
        asks_to_repeat = repeats and case.contract.idempotency.repeat is Repeat.APPROVE
        if not is_held and not asks_to_repeat:
            return None
        if case.call.method is not Method.CALL_TOOL:  # `policy lint` says so as well
            return gate.unapproved("only calls of tools can be approved", case.decision.rule)
        if self.people.clause(case) is None:
            why = "the same was asked for before, and is repeated on purpose"
            return gate.unapproved(
                why if asks_to_repeat else case.decision.reason, case.decision.rule
            )
        return gate.unreadable() if is_too_large(case.arguments or {}) else None

    @property
    def recorded(self) -> Recorded:
        """The way on which answers of operations that have ended leave."""
        return Recorded(vault=self.vault, leaving=self.leaving)

    async def give_back(self, case: Case) -> None:
        """Release what a call took that was certainly not carried out.

        A store that is away keeps the reservation until its window ends: the safe side.
        """
        if case.operation is not None or not case.decision.limits:
            return
        try:
            await self.limits.release(case.call.call_id)
        except StoreUnavailable as error:
            _log.warning("%s: its limits were not given back: %s", case.call.call_id, error)

    def window_s(self, case: Case) -> float:
        """Return for how long a settled operation answers calls that repeat it.

        A whole run only where the key holds it, so that the same call in another run is another.
        """
        idempotency = case.contract.idempotency
        window_s = idempotency.window_s
        if window_s == OF_RUN:
            window_s = self.terms.run_window_s if case.within[:1] == ("run",) else None
        if window_s is not None:
            return window_s
        call = case.call
        by_caller = call.idempotency_key is not None or keys.CALLERS in call.meta
        declared = by_caller or idempotency.is_declared
        return self.terms.window_s if declared else self.terms.assumed_window_s

    async def _claimed(
        self, case: Case, asked_for: Operation, ticket: Ticket, repeated: str
    ) -> Case | Answer | Refusal | Held | Stale:
        until_s = asyncio.get_running_loop().time() + self.patience_s(case)
        has_looked = has_joined = False
        while True:
            claim = await self._made(case, asked_for, ticket, repeated)
            if isinstance(claim, Refusal):
                return claim
            unmade = _unmade(case, claim.met)
            if unmade is not None:
                return unmade
            ticket.concerns(claim.operation, claim.approval)
            repeated = ""  # only what was settled before is repeated, not what is waited for here
            if claim.met is Met.LOST or (claim.met is Met.UNKNOWN and not has_looked):
                has_looked = claim.met is Met.UNKNOWN
                is_clearer = await self._resolved(case, claim.operation)
                if isinstance(is_clearer, Refusal):
                    return is_clearer
                if is_clearer:
                    continue
            if claim.met is Met.JOINED and await self._over(claim.operation, until_s):
                has_joined = True
                continue
            if claim.met is Met.TAKEN:
                ticket.committed()
                return self._taken(case, claim)
            if claim.met is Met.HELD and claim.approval is not None:
                return Held(operation=claim.operation, approval=claim.approval)
            return self._instead(case, claim, has_joined=has_joined)

    async def _made(
        self, case: Case, asked_for: Operation, ticket: Ticket, repeated: str
    ) -> types.Claim | Refusal:
        self.reached(Failpoint.BEFORE_INTENT)
        try:
            asked = Wanted(
                operation=asked_for,
                on_variant=case.contract.idempotency.on_variant,
                limits=case.decision.limits,
                repeats=repeated,
                is_alone=wanted.is_alone(case, asked_for),
                continues=case.call.continues,
                passage=case.passage,
                known_for=wanted.known_for(case.contract),
                asking=self.people.asking(
                    case,
                    trace=ticket.span,
                    repeats=_asks_to_repeat(case, repeated),
                ),
                telling=self.people.telling(case),
            )
            return await self.operations.claim(
                asked, ticket.intent(case), lease_s=self.terms.lease_s
            )
        except BaseException as error:
            self._take_back(asked_for)
            if isinstance(error, StoreUnavailable):
                return refusals.unrecorded(str(error))
            raise

    async def _resolved(self, case: Case, operation: Operation) -> bool | Refusal:
        try:
            return await self.resolve(case, operation)
        except StoreUnavailable as error:
            return refusals.unresolved(operation, str(error))

    def _instead(self, case: Case, claim: types.Claim, *, has_joined: bool) -> Answer | Refusal:
        """Return what a call gets that is not sent."""
        match claim.met:
            case Met.OVER_LIMIT:
                return gate.exceeded(case.decision, claim.limit, claim.retry_after_s)
            case Met.SETTLED:
                return self.recorded.repeated(case, claim.operation, has_joined=has_joined)
            case Met.CONFLICT | Met.VARIANT:
                return self._differs(case, claim)
            case Met.JOINED:
                return refusals.in_progress(claim.operation)
            case Met.DENIED | Met.EXPIRED:
                return self._decided(claim)
            case Met.UNKNOWN | Met.LOST | Met.TAKEN | Met.HELD:
                return refusals.unknown(claim.operation)
            case Met.OUTDATED:
                return refusals.outdated()
            case Met.MISNAMED | Met.RUN_CHANGED | Met.PHASE_BLOCKED:  # told before
                return refusals.misnamed()
            case _:
                assert_never(claim.met)

    async def _over(self, operation: Operation, until_s: float) -> bool:
        try:
            return await self.joins.wait(operation, until_s)
        except StoreUnavailable:
            return False

    def _take_back(self, asked_for: Operation) -> None:
        """Make up for a claim that may have been committed: it is not sent."""
        try:
            self.operations.unsend(asked_for)
        except StoreUnavailable as error:  # then its lease runs out, and it is looked at
            _log.error("%s: its claim was not taken back: %s", asked_for.op_id, error)

    def _taken(self, case: Case, claim: types.Claim) -> Case:
        operation = claim.operation
        if claim.approval is not None:
            case = self._as_approved(case, operation, claim.approval)
        injection = case.contract.idempotency.inject
        if injection is None:
            return replace(case, operation=operation)
        arguments, meta, headers = keys.inject(
            case.arguments or {}, {}, {}, injection, operation.downstream_key
        )
        injected = Injected(meta=meta, headers=headers)
        return replace(case, operation=operation, arguments=arguments, injected=injected)

    def _as_approved(self, case: Case, operation: Operation, approval: Approval) -> Case:
        """Return the case with what people saw, and with nothing else of the call that came back.

        Raises VaultBroken where that can't be had, or is not what they decided about.
        """
        arguments = self.people.arguments_of(operation)
        call = replace(
            case.call,
            params={key: case.call.params[key] for key in _ANSWERS & case.call.params.keys()}
            if case.call.continues
            else {},
            meta={key: each for key, each in case.call.meta.items() if key.startswith(_OWN)},
        )
        approved = replace(case, call=call, arguments=arguments)
        is_same = approval.binding == self.people.binding(approved, operation.op_id)
        if arguments is None or not is_same:
            self._take_back(operation)
            raise VaultBroken("what was approved can't be had as it was approved")
        return approved

    def _differs(self, case: Case, claim: types.Claim) -> Refusal:
        operation = claim.operation
        details = self._changes(case, operation) if operation.tool == case.tool.key else ()
        where = ", ".join(f"`{detail['pointer']}`" for detail in details)
        if claim.met is Met.VARIANT:
            if case.contract.idempotency.on_variant is OnVariant.APPROVE:
                return gate.unapproved("the same was asked for before, in other words")
            return Refusal(
                status=Status.VARIANT_OF,
                code="variant",
                reason=f"the same was asked for before, in other words: see {where or 'there'}",
                details=details,
                next="" if operation.state in _ANSWERED else refusals.FIRST_IS_OPEN,
            )
        what = f"other arguments: {where}" if where else "another tool"
        return Refusal(
            status=Status.IDEMPOTENCY_CONFLICT,
            code="key_used",
            reason=f"its idempotency key was used for {what}",
            details=details,
        )

    def _changes(self, case: Case, operation: Operation) -> tuple[JsonObject, ...]:
        before = self.people.arguments_of(operation)
        if before is None:
            return ()
        return tuple({"pointer": pointer} for pointer in keys.changed(before, case.arguments or {}))

    def _decided(self, claim: types.Claim) -> Refusal:
        """Tell of a decision that was made, or wasn't made in time."""
        approval = claim.approval
        if approval is None:  # its row is gone; the operation knows that a person said no
            return gate.unapproved("a person said no")
        return gate.ended(approval, self.people.proposal_of(approval))

    async def _reserved(self, case: Case) -> Case | Refusal:
        if not case.decision.limits:
            return case
        try:
            exceeded = await self.limits.reserve(case.call.call_id, case.decision.limits)
        except StoreUnavailable as error:
            return Refusal(
                status=Status.AUDIT_UNAVAILABLE,
                code="limits_unavailable",
                reason=f"its limits could not be counted: {error}",
            )
        if exceeded is None:
            return case
        return gate.exceeded(case.decision, exceeded.limit, exceeded.retry_after_s)


def _unmade(case: Case, met: Met) -> Refusal | Stale | None:
    """Return what a call gets that has met and made no operation."""
    if met is Met.RUN_CHANGED:
        return Stale()
    if met is Met.MISNAMED:
        return refusals.misnamed()
    if met is not Met.PHASE_BLOCKED:
        return None
    passage = case.passage
    is_retry = passage is not None and passage.only is Only.RETRY
    return refusals.no_retry() if is_retry else refusals.waits_for_people()


def _asks_to_repeat(case: Case, repeated: str) -> bool:
    return bool(repeated) and case.contract.idempotency.repeat is Repeat.APPROVE
