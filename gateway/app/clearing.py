"""Finding out what became of operations: by a lookup, by looking again, by what nobody renewed."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.checks import Checks, Found
from gateway.crossing.joins import Joins
from gateway.crossing.leases import Living
from gateway.crossing.recall import Recall
from gateway.crossing.remains import Remains
from gateway.crossing.settle import Ending
from gateway.errors import WeighbridgeError
from gateway.operations.machine import OpEvent, next_state
from gateway.results import kept, lost
from gateway.steps.record import Record
from gateway.store.operations import Settlement
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.events import Event
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Execution,
    Operation,
    OpState,
    VerificationState,
)
from gateway.types.outcomes import Answer, Refusal, Status

_log = logging.getLogger("weighbridge")
_SECOND: Final = 1_000_000
_PAUSE_S: Final = 30.0  # between two looks of which the first told nothing
_LONGEST_S: Final = 3600.0
_LEASE: Final = "lease_expired"
_LOOKUP: Final = "lookup"


class Operations(Protocol):
    """The table of operations, as far as clearing needs it; all raise StoreUnavailable."""

    async def settle(
        self, ending: Settlement, events: Sequence[Event], *, before: OpState = ...
    ) -> bool:
        """Commit an outcome; False when the state is another one by now."""
        ...

    async def lose(
        self, operation: Operation, evidence: str, events: Sequence[Event], *, check_at: int = 0
    ) -> bool:
        """Note that nobody knows what became of an operation."""
        ...

    async def take_check(self, operation: Operation, *, later: int) -> bool:
        """Take the look at one operation that is due; False when another gateway has."""
        ...

    async def verified(
        self,
        operation: Operation,
        state: VerificationState,
        events: Sequence[Event],
        *,
        check_at: int = 0,
    ) -> bool:
        """Note what a check said after the answer had left."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """Settles what is open, one operation at a time; all raise StoreUnavailable and no other."""

    operations: Operations
    recall: Recall
    remains: Remains
    checks: Checks
    record: Record
    vault: Vault
    joins: Joins
    living: Living
    clock: Clock
    window_s: Callable[[Case], float]

    async def lose(self, operation: Operation) -> None:
        """Note that the gateway that sent an operation gave no sign of life; tell its end."""
        check_at, events = 0, list[Event]()
        try:
            case = self.recall.case(operation)
            events = self._end(case)
            if case.contract.idempotency.lookup is not None:
                check_at = self._in(0.0)
        except WeighbridgeError as error:  # then the row alone tells of it
            _log.warning("%s: its end has no events: %s", operation.op_id, error)
        if await self.operations.lose(operation, _LEASE, events, check_at=check_at):
            _log.warning("%s: nobody knows whether it took effect", operation.op_id)
            self.joins.ended(operation.op_id)

    async def look(self, operation: Operation) -> None:
        """Look at an operation that is due, if no other gateway does."""
        try:
            case, problem = self.recall.case(operation), ""
        except WeighbridgeError as error:
            case, problem = None, str(error)
        later = self._in(self._pause_s(operation, case))
        if not await self.operations.take_check(operation, later=later):
            return
        if case is None:
            _log.warning("%s: can't be looked at: %s", operation.op_id, problem)
            return
        if operation.state is OpState.INDETERMINATE:
            await self.resolve(case, operation)
        elif operation.verification is VerificationState.PENDING:
            await self._verify(case, operation)

    async def resolve(self, case: Case, operation: Operation) -> bool:
        """Ask by the contract's lookup what became of an operation; whether more is known now.

        One whose lease ran out is given up first, and its end told: a call may find it earlier
        than the next sweep. One that is under way in this process is not given up, and not taken
        for absent: its own call will tell.
        """
        if operation.state is OpState.DISPATCHING:
            if operation.lease_until > self._in(0.0):
                return False
            if not await self.living.renewed(operation):
                await self.lose(operation)
            return True
        arguments = self._asked(operation)
        if arguments is None:
            return False
        case = replace(case, operation=operation, arguments=arguments)
        left_s = self._unknown_for_s(operation, case)
        match await self.checks.lookup(case, operation, now_us=self._in(0.0)):
            case Found.HAPPENED:
                return await self._settled(case, operation, OpEvent.RESOLVE_HAPPENED)
            case Found.ABSENT if left_s > 0 or self.living.has(operation):
                return False
            case Found.ABSENT:
                return await self._settled(case, operation, OpEvent.RESOLVE_NOT_HAPPENED)
            case Found.UNKNOWN:
                return False

    def _unknown_for_s(self, operation: Operation, case: Case) -> float:
        """Return for how long nothing proves absence: by a clock of this process' own.

        After a lease ran out, not before whoever held it can't send any more.
        """
        declared = case.contract.idempotency.lookup
        least_s = declared.absent_after_s if declared is not None else 0.0
        if operation.evidence == _LEASE:
            least_s = max(least_s, self.living.lease_s)
        return least_s - self.living.age_s(operation)

    def _asked(self, operation: Operation) -> JsonObject | None:
        try:
            return self.recall.asked(operation).arguments
        except WeighbridgeError:
            return None

    async def _settled(self, case: Case, operation: Operation, event: OpEvent) -> bool:
        happened = event is OpEvent.RESOLVE_HAPPENED
        state = next_state(operation.state, event)
        outcome: Answer | Refusal = lost.told_again(
            has_output_schema=case.contract.output_schema is not None, found_by="a lookup"
        )
        executed = Execution.YES if happened else Execution.NO
        end = Ending(state=state, outcome=outcome, executed=executed, evidence=_LOOKUP)
        settlement = Settlement(
            op_id=operation.op_id,
            epoch=operation.epoch,
            call_id=operation.call_id,
            state=state,
            outcome=self._sealed(operation, outcome) if happened else "",
            evidence=_LOOKUP,
            verification=operation.verification,
            replay_until=self._in(self.window_s(case)) if happened else 0,
            gives_back=not happened,
            unless_open=not happened,
        )
        told = [self._effect(case, end)]
        done = await self.operations.settle(settlement, told, before=OpState.INDETERMINATE)
        if done:
            _log.info("%s: a lookup says: %s", operation.op_id, state.value)
            self.living.forget(operation)
            self.joins.ended(operation.op_id)
        return True  # by this lookup or somebody else's word

    async def _verify(self, case: Case, operation: Operation) -> None:
        received, old = self.remains.received(operation)
        if received is None:
            return
        age_us = self._in(0.0) - operation.settled_at
        said = await self.checks.again(case, received, old, age_s=age_us / _SECOND)
        if said.state is VerificationState.PENDING:
            return  # it is due again
        end = Ending(
            state=operation.state,
            outcome=Answer(result=received),
            executed=Execution.YES,
            evidence=said.detail,
            verification=said.state,
        )
        await self.operations.verified(operation, said.state, [self._effect(case, end)])
        if said.state is not VerificationState.VERIFIED:
            _log.warning("%s: %s: %s", operation.op_id, said.state.value, said.detail)

    def _end(self, case: Case) -> list[Event]:
        ticket = self.record.open(case.call)
        ticket.recalled(case)
        refusal = Refusal(
            status=Status.INDETERMINATE,
            code=_LEASE,
            reason="the gateway that sent it stopped before the answer came",
            executed=Execution.UNKNOWN,
        )
        end = Ending(
            state=OpState.INDETERMINATE,
            outcome=refusal,
            executed=Execution.UNKNOWN,
            evidence=_LEASE,
        )
        return [*ticket.closing(refusal), ticket.effect(case, end)]

    def _effect(self, case: Case, end: Ending) -> Event:
        ticket = self.record.open(case.call)
        ticket.recalled(case)
        return ticket.effect(case, end, late=True)

    def _sealed(self, operation: Operation, outcome: Answer | Refusal) -> str:
        content = jsontext.dump(kept.to_json(outcome))
        return self.vault.seal(operation.tenant, operation.op_id, content)

    def _pause_s(self, operation: Operation, case: Case | None) -> float:
        """Return the time to the next look: what has been open for long is looked at less often."""
        open_s = max(0, self._in(0.0) - operation.dispatched_at) / _SECOND
        if operation.verification is VerificationState.PENDING:
            return min(_PAUSE_S, max(1.0, open_s / 4))
        pause_s = min(_LONGEST_S, max(_PAUSE_S, open_s / 2))
        left_s = 0.0 if case is None else self._unknown_for_s(operation, case)
        return pause_s if left_s <= 0 else min(pause_s, max(1.0, left_s))

    def _in(self, seconds: float) -> int:
        return microseconds(self.clock.now()) + round(seconds * _SECOND)
