"""Steps 11 and 14 of a call that may change something: sent once, settled once, told once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.failpoints import Failpoint, Reached, go_on
from gateway.crossing.joins import Joins
from gateway.crossing.leases import Living
from gateway.crossing.remains import RECEIVED
from gateway.crossing.settle import Ending, ending
from gateway.errors import StoreUnavailable
from gateway.operations import undo
from gateway.operations.machine import TOOK_EFFECT
from gateway.results import kept, minimise
from gateway.store.operations import Settlement
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    FAILED,
    Delivered,
    Delivery,
    Execution,
    Failure,
    Operation,
    OpState,
    Undelivered,
    VerificationState,
)
from gateway.types.outcomes import Answer, Finished, Refusal, Status
from gateway.types.tools import Effect
from gateway.types.values import replaced

_log = logging.getLogger("weighbridge")
_SECOND: Final = 1_000_000
# States whose answer is given again to calls that repeat theirs.
_ANSWERED: Final = frozenset({OpState.SUCCEEDED, OpState.FAILED_FINAL})
_ENDED: Final = Undelivered(
    failure=Failure.CANCELLED, executed=Execution.UNKNOWN, detail="the gateway stopped"
)
_GIVEN_UP: Final = Refusal(
    status=Status.INDETERMINATE,
    code="given_up",
    reason="the gateway stopped before the answer came",
    executed=Execution.UNKNOWN,
)


class Operations(Protocol):
    """The table of operations, as far as their ends need it; all raise StoreUnavailable."""

    async def settle(
        self, ending: Settlement, events: Sequence[Event], *, before: OpState = ...
    ) -> bool:
        """Commit an outcome; False when the epoch is over, or the state another one."""
        ...

    async def get(self, op_id: str) -> Operation | None:
        """Return one operation."""
        ...

    def settle_soon(self, ending: Settlement, events: Sequence[Event]) -> None:
        """Commit an outcome as soon as that is possible, and wait for nothing."""
        ...


class Ticket(Protocol):
    """The part of a ticket that the end of an operation uses."""

    @property
    def delivery(self) -> Delivery | None:
        """The server's last word, or None when nothing was sent."""
        ...

    @property
    def old(self) -> Json:
        """What a read showed before the call was sent."""
        ...

    @property
    def late(self) -> "asyncio.Future[Delivery] | None":
        """The request that goes on after its call was answered."""
        ...

    def answered(self, delivery: Delivery) -> None:
        """Note the server's last word."""
        ...

    def closing(self, outcome: Answer | Refusal) -> list[Event]:
        """Note the outcome and return the events that end the call; once."""
        ...

    def effect(self, case: Case, end: Ending, *, late: bool = False) -> Event:
        """Return the event that says what was changed outside, or that nobody knows."""
        ...

    def told(self, events: list[Event]) -> None:
        """Keep events about a call that has ended."""
        ...

    def concerns(self, operation: Operation) -> None:
        """Note which operation the call is about, and how long its answer is told again."""
        ...

    def finished(self, outcome: Answer | Refusal, *, kept: bool) -> Finished:
        """Return what leaves."""
        ...


class Starter(Protocol):
    """The process as the owner of work that nobody waits for."""

    def aside(self, work: Callable[[], Awaitable[None]]) -> "asyncio.Future[None]":
        """Begin to carry `work` out; no stop waits for it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How an operation is carried out, as the pipeline knows it."""

    answered: Callable[[], Awaitable[Answer | Refusal]]
    """Send the call and return what its caller is told."""
    shaped: Callable[[Delivery], Awaitable[Answer | Refusal]]
    """Say the same of an answer that came late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operate:
    """Carries an operation from its committed intent to its committed outcome."""

    operations: Operations
    starter: Starter
    living: Living
    joins: Joins
    vault: Vault
    clock: Clock
    window_s: Callable[[Case], float]
    """For how long a settled operation answers calls that repeat it."""
    fault: Callable[[Case, Exception], Refusal]
    """What a fault of ours is told as."""
    reached: Reached = go_on

    async def carry(self, case: Case, ticket: Ticket, work: Work) -> Finished:
        """Have the call answered, commit what became of it, and return what leaves."""
        operation = _of(case)
        self.living.begin(operation)
        try:
            self.reached(Failpoint.AFTER_INTENT)
            try:
                outcome = await work.answered()
            except Exception as error:
                outcome = self.fault(case, error)
            finished = await self._settle(case, ticket, outcome)
        except BaseException:  # the process ends; what was sent may have been carried out
            self._give_up(case, ticket)
            self.living.end(operation)
            raise
        if ticket.late is None:
            self.living.end(operation)
        else:
            late = ticket.late
            self.starter.aside(lambda: self._follow(case, ticket, late, work))
        return finished

    async def _settle(self, case: Case, ticket: Ticket, outcome: Answer | Refusal) -> Finished:
        operation = _of(case)
        end = ending(case, ticket.delivery, outcome)
        events = ticket.closing(end.outcome)
        if end.executed is not Execution.NO:
            events += _effects(case, ticket, end)
        settlement, is_kept = self._settlement(case, ticket, end), True
        told_until = settlement.replay_until if end.state in _ANSWERED else 0
        ticket.concerns(replaced(operation, replay_until=told_until))
        self.reached(Failpoint.BEFORE_SETTLE)
        try:
            if not await self.operations.settle(settlement, events):
                # Its lease had run out: the end of the call has been told, this is a late answer.
                await self.late(case, ticket, outcome)
        except StoreUnavailable as error:
            is_kept = False
            _log.error("%s: its outcome is not kept yet: %s", operation.op_id, error)
        if end.state is not OpState.INDETERMINATE:
            self.living.forget(operation)
        self.joins.ended(operation.op_id)
        return ticket.finished(end.outcome, kept=is_kept)

    def _give_up(self, case: Case, ticket: Ticket) -> None:
        end = ending(case, ticket.delivery or _ENDED, _GIVEN_UP)
        events = ticket.closing(end.outcome)
        if not events:
            return  # its end is on its way to the store
        try:
            settlement = self._settlement(case, ticket, end)
            self.operations.settle_soon(settlement, [*events, *_effects(case, ticket, end)])
        except StoreUnavailable as error:  # then its lease runs out
            _log.error("%s: its end is not kept: %s", _of(case).op_id, error)

    async def _follow(
        self, case: Case, ticket: Ticket, late: "asyncio.Future[Delivery]", work: Work
    ) -> None:
        """Take a late answer for what it is worth; until then nobody calls the write absent."""
        try:
            delivery = await late
            ticket.answered(delivery)
            await self.late(case, ticket, await work.shaped(delivery))
        except StoreUnavailable as error:
            _log.error("%s: a late answer is not kept: %s", _of(case).op_id, error)
        finally:
            self.living.end(_of(case))

    async def late(self, case: Case, ticket: Ticket, outcome: Answer | Refusal) -> None:
        """Settle what was given up as unknown, by an answer that came after all.

        One that contradicts what others have settled meanwhile is told of, and changes nothing.
        Raises StoreUnavailable.
        """
        operation = _of(case)
        end = ending(case, ticket.delivery, outcome, late=True)
        if end.state is OpState.INDETERMINATE:
            return
        settled = await self.operations.settle(
            self._settlement(case, ticket, end),
            _effects(case, ticket, end, late=True),
            before=OpState.INDETERMINATE,
        )
        if settled:
            _log.info("%s: its outcome is known: %s", operation.op_id, end.state.value)
            self.living.forget(operation)
            self.joins.ended(operation.op_id)
            return
        now = await self.operations.get(operation.op_id)
        if now is not None and not _agrees(now, operation, end):
            _log.warning(
                "%s: attempt %d took effect: %s; its row says %s, attempt %d: %s",
                *(operation.op_id, operation.epoch, end.executed.value),
                *(now.state.value, now.epoch, now.evidence or "by its answer"),
            )
            ticket.told(_effects(case, ticket, end, late=True))

    def _settlement(self, case: Case, ticket: Ticket, end: Ending) -> Settlement:
        operation = _of(case)
        now = microseconds(self.clock.now())
        output = minimise.of_case(case.decision.output, case.contract.sensitive_results)
        body = kept.to_json(end.outcome) | _for_later(case, ticket, end)
        body[kept.OUTPUT] = minimise.fingerprint(output)
        sealed = self.vault.seal(operation.tenant, operation.op_id, jsontext.dump(body))
        return Settlement(
            op_id=operation.op_id,
            epoch=operation.epoch,
            call_id=operation.call_id,
            state=end.state,
            outcome=sealed,
            evidence=end.evidence,
            verification=end.verification,
            replay_until=now + round(self.window_s(case) * _SECOND)
            if end.state in _ANSWERED or end.evidence == FAILED
            else 0,
            check_at=now + round(_look_again_s(case, end) * _SECOND) if _is_open(case, end) else 0,
            gives_back=end.gives_back,
            is_open=ticket.late is not None and not ticket.late.done(),
        )


def _agrees(row: Operation, sent: Operation, end: Ending) -> bool:
    """Whether a row that others settled says the same as the answer of an attempt."""
    if row.epoch != sent.epoch:  # it was sent again: harmless where this one was not carried out
        return end.executed is Execution.NO
    return (row.state in TOOK_EFFECT) is (end.executed is Execution.YES)


def _effects(case: Case, ticket: Ticket, end: Ending, *, late: bool = False) -> list[Event]:
    """Return what is told of a change outside; a read that people allowed changes nothing."""
    return [] if case.effect is Effect.READ else [ticket.effect(case, end, late=late)]


def _of(case: Case) -> Operation:
    if case.operation is None:
        raise ValueError("the call is no operation")
    return case.operation


def _for_later(case: Case, ticket: Ticket, end: Ending) -> JsonObject:
    """Return what checks and the way back need of an answer: what left may hold less."""
    if not isinstance(ticket.delivery, Delivered) or end.state is not OpState.SUCCEEDED:
        return {}
    result = ticket.delivery.result
    found: JsonObject = {undo.CAPTURED: undo.captured(case.contract, result)}
    if ticket.old is not None:
        found[undo.OLD] = ticket.old
    if end.verification is VerificationState.PENDING:
        found[RECEIVED] = result
    return found


def _is_open(case: Case, end: Ending) -> bool:
    """Whether somebody has to look at the outcome again."""
    if end.state is OpState.INDETERMINATE:
        return case.contract.idempotency.lookup is not None
    return end.verification is VerificationState.PENDING


def _look_again_s(case: Case, end: Ending) -> float:
    readback = case.contract.readback
    is_pending = end.verification is VerificationState.PENDING and readback is not None
    return readback.wait.interval_s if is_pending and readback is not None else 0.0
