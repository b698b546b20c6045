"""Carrying out the way back: rows that somebody asked for, one after the other, each told of once.

Everything is found by the states of rows, so that a gateway that was killed leaves nothing behind
that the next sweep, of whichever gateway, does not see through.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from gateway import ids
from gateway.clock import Clock
from gateway.errors import StoreUnavailable, WeighbridgeError
from gateway.events import admin
from gateway.operations.machine import OpEvent, next_state
from gateway.operations.undo import is_doubtful, is_refuted
from gateway.store.operations import OperationFilter
from gateway.types.calls import ProposedCall
from gateway.types.causes import Cause
from gateway.types.events import Event
from gateway.types.operations import Operation, OpState, Verification, VerificationState
from gateway.types.outcomes import TABLE, Finished, Status

_log = logging.getLogger("weighbridge")

_MANY: Final = 10_000  # more operations are never on their way back at once
_OPEN: Final = frozenset(
    {OpState.PROPOSED, OpState.AWAITING_APPROVAL, OpState.READY, OpState.DISPATCHING}
)
_HOLDS: Final = frozenset({VerificationState.VERIFIED, VerificationState.NOT_DECLARED})


class Operations(Protocol):
    """The table of operations, as far as the way back needs it; all raise StoreUnavailable."""

    async def ready(self) -> list[Operation]:
        """Return compensations that somebody asked for and nobody has sent, the oldest first."""
        ...

    async def find(self, wanted: OperationFilter) -> list[Operation]:
        """Return operations that match."""
        ...

    async def get(self, op_id: str) -> Operation | None:
        """Return one operation."""
        ...

    async def undoing(self, op_id: str) -> list[Operation]:
        """Return what undoes an operation, newest first."""
        ...

    async def mark(
        self, operation: Operation, state: OpState, evidence: str, events: Sequence[Event]
    ) -> bool:
        """Move an operation from the state it was read in; False when it has left that."""
        ...

    async def verified(
        self, operation: Operation, state: VerificationState, events: Sequence[Event]
    ) -> bool:
        """Note what a check said after the answer had left."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """Carries out compensations as ordinary calls, and settles what they were to undo."""

    operations: Operations
    call: Callable[[Operation], ProposedCall]
    """What a row asks for, as its principal; raises WeighbridgeError when that is lost."""
    handle: Callable[[ProposedCall], Awaitable[Finished]]
    confirm: Callable[[Operation, Operation], Awaitable[Verification]]
    """Whether what undoes an operation did so, by the check of the operation's contract."""
    clock: Clock
    origin: Callable[[str], Awaitable[str]]
    """Where a call stands in its trace, as `traceparent`; empty when that is not known."""
    patience_s: float = 600.0  # for a gateway that can't send, such as to a server that is away
    pause_s: float = 30.0  # between two looks at what does not show yet
    _first: dict[str, float] = field(default_factory=dict[str, float])
    _next: dict[str, float] = field(default_factory=dict[str, float])

    async def run_ready(self) -> None:
        """Carry out what waits, in order, and settle what has ended; raises StoreUnavailable."""
        rows = await self.operations.ready()
        _keep_only(self._first, rows)
        busy = await self._under_way() if rows else set[tuple[str, str]]()
        for row in rows:
            if _of_whom(row) in busy:
                continue  # what came later has to be undone first
            try:
                if not await self._carried(row):
                    busy.add(_of_whom(row))
            except StoreUnavailable:
                raise
            except Exception:
                _log.exception("%s: could not be carried out", row.op_id)
        originals = await self._all(OpState.COMPENSATING)
        _keep_only(self._next, originals)
        for original in originals:
            try:
                await self._conclude(original)
            except StoreUnavailable:
                raise
            except Exception:
                _log.exception("%s: its way back can't be settled", original.op_id)

    async def _under_way(self) -> set[tuple[str, str]]:
        sent = await self._all(OpState.DISPATCHING)
        return {_of_whom(row) for row in sent if row.compensates}

    async def _all(self, state: OpState) -> list[Operation]:
        return await self.operations.find(OperationFilter(state=state.value, limit=_MANY))

    async def _carried(self, row: Operation) -> bool:
        """Carry one row out; False when it has not come to its end."""
        original = await self._begun(row)
        if original is None:
            return True
        try:
            # It claims this very row, and no other.
            call = replace(
                self.call(row),
                operation=row,
                cause=Cause.COMPENSATION.value,
                parent=original.call_id,
                trace_header=await self.origin(original.call_id),
            )
        except WeighbridgeError as error:
            await self._abandon(row, str(error))
        else:
            finished = await self.handle(call)
            if not await self._is_over(row, finished):
                return False
        await self._conclude(original)
        return True

    async def _begun(self, row: Operation) -> Operation | None:
        """Return what a row is to undo, on its way back; None when that is not to be undone."""
        original = await self.operations.get(row.compensates)
        if original is not None and original.state is OpState.SUCCEEDED:
            # It was another when somebody asked, or that was an older version, in two steps.
            state = next_state(original.state, OpEvent.COMPENSATE)
            await self.operations.mark(original, state, f"`{row.op_id}` undoes it", [])
            original = await self.operations.get(row.compensates)
        if original is not None and original.state is OpState.COMPENSATING:
            return original
        stands = original.state.value if original is not None else "not kept any more"
        await self._abandon(row, f"`{row.compensates}` is {stands}")
        return None

    async def _is_over(self, row: Operation, finished: Finished) -> bool:
        """Whether a call has brought its row to an end; one that can't be sent is given up."""
        now = await self.operations.get(row.op_id)
        if now is None or now.state not in _OPEN:
            return True
        if now.state is not OpState.READY:
            return False
        since = self._first.setdefault(row.op_id, self.clock.monotonic())
        # A server that is not there yet has no tools.
        is_passing = finished.status is Status.UNKNOWN_TOOL or TABLE[finished.status].retryable
        if is_passing and self.clock.monotonic() - since < self.patience_s:
            return False
        await self._abandon(now, f"it was refused: {_why(finished)}")
        return True

    async def _abandon(self, row: Operation, evidence: str) -> None:
        _log.warning("%s: is not carried out: %s", row.op_id, evidence)
        state = next_state(row.state, OpEvent.ABANDON)
        await self.operations.mark(row, state, evidence, [])

    async def _conclude(self, original: Operation) -> None:
        """Settle what was to be undone, when all that was to undo it has come to an end."""
        rows = await self.operations.undoing(original.op_id)
        done = next((row for row in rows if row.state is OpState.SUCCEEDED), None)
        if done is not None:
            await self._confirmed(original, done)
        elif rows and not any(_is_unsettled(row) for row in rows):
            last = rows[0]
            evidence = f"`{last.op_id}` did not undo it: {last.evidence or last.state.value}"
            await self._end(original, last, OpEvent.COMPENSATION_FAILED, evidence)

    async def _confirmed(self, original: Operation, done: Operation) -> None:
        if is_refuted(done):
            await self._refuted(original, done, "its result does not hold what was promised")
            return
        now = self.clock.monotonic()
        if self._next.get(original.op_id, now) > now:
            return
        said = await self.confirm(original, done)
        if said.state is VerificationState.FAILED:
            await self._refuted(original, done, said.detail)
            return
        if said.state is not VerificationState.NOT_DECLARED:
            await self.operations.verified(done, said.state, [])
        if said.state in _HOLDS:
            await self._end(original, done, OpEvent.COMPENSATED, f"`{done.op_id}` undid it")
        else:
            self._next[original.op_id] = now + self.pause_s

    async def _refuted(self, original: Operation, done: Operation, why: str) -> None:
        await self.operations.verified(done, VerificationState.FAILED, [])
        evidence = f"`{done.op_id}` did not undo it: {why}"
        await self._end(original, done, OpEvent.COMPENSATION_FAILED, evidence)

    async def _end(
        self, original: Operation, row: Operation, event: OpEvent, evidence: str
    ) -> None:
        state = next_state(original.state, event)
        told = admin.compensation_ended(
            id=ids.ulid(),
            at=self.clock.now(),
            operation=original,
            undo=row.op_id,
            to=state,
            evidence=evidence,
        )
        await self.operations.mark(original, state, evidence, [told])


def _keep_only(times: dict[str, float], operations: Sequence[Operation]) -> None:
    """Forget about operations that somebody else has seen through."""
    living = {each.op_id for each in operations}
    for op_id in times.keys() - living:
        del times[op_id]


def _why(finished: Finished) -> str:
    """Return the status of a refusal, and its reason as callers are told."""
    told = finished.result.get("structuredContent")
    reason = told.get("reason") if isinstance(told, dict) else None
    return f"{finished.status.value}, {reason}" if reason else finished.status.value


def _of_whom(row: Operation) -> tuple[str, str]:
    return row.tenant, row.user


def _is_unsettled(row: Operation) -> bool:
    return row.state in _OPEN or is_doubtful(row)
