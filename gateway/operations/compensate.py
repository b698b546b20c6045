"""The way back: which operations can be undone, in which order, and why the others can't.

Sagas undo by further operations, last one first (Garcia-Molina and Salem, 1987); after a pivot the
only way is forward (Richardson). Nothing is undone that nobody knows to have happened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.operations.undo import is_doubtful, is_refuted
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.operations import Operation, OpState

# States of an operation that changed something, or may have.
COUNTED: Final = frozenset(
    {
        OpState.SUCCEEDED,
        OpState.DISPATCHING,
        OpState.INDETERMINATE,
        OpState.COMPENSATING,
        OpState.COMPENSATED,
    }
)
_UNKNOWN: Final = frozenset({OpState.DISPATCHING, OpState.INDETERMINATE})
_UNSETTLED: Final = frozenset(
    {OpState.PROPOSED, OpState.AWAITING_APPROVAL, OpState.READY, OpState.DISPATCHING}
)
_MICROSECONDS: Final = 1_000_000


class Readiness(StrEnum):
    """Whether an operation can be undone now."""

    READY = "ready"
    DEADLINE_PASSED = "deadline_passed"
    IRREVERSIBLE = "irreversible"
    INDETERMINATE = "indeterminate"  # find out first whether it happened
    NOT_DECLARED = "not_declared"
    INCOMPLETE = "incomplete"  # something is missing that the call which undoes it needs
    UNDER_WAY = "under_way"
    DONE = "done"
    NOTHING = "nothing"  # it changed nothing
    FORWARD_ONLY = "forward_only"  # a pivot came after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of a plan, and why it can be undone or not, for people."""

    op: Operation
    readiness: Readiness
    reason: str


def plan(
    operations: Sequence[Operation], contracts: Mapping[str, Compensation], now_us: int
) -> tuple[Step, ...]:
    """Return the operations that changed something or may have, the last one first.

    `contracts` holds by tool what was declared; times are microseconds. Compensations are no steps
    themselves, but tell of the operations that they undo.
    """
    undoing: dict[str, list[Operation]] = {}
    for op in operations:
        if op.compensates:
            undoing.setdefault(op.compensates, []).append(op)
    forward = [op for op in operations if not op.compensates and op.state in COUNTED]
    steps: list[Step] = []
    pivot: Operation | None = None
    for op in sorted(forward, key=_settled, reverse=True):
        declared = contracts.get(op.tool)
        step = _gone(op, undoing.get(op.op_id, ()), declared) or _open(op, declared, pivot, now_us)
        steps.append(step)
        is_pivot = declared is not None and declared.kind is CompensationClass.PIVOT
        if is_pivot and pivot is None and step.readiness is not Readiness.DONE:
            pivot = op
    return tuple(steps)


def _settled(op: Operation) -> tuple[int, int, str]:
    """Order by settling; what has not settled counts from when it was sent."""
    return op.settled_at or op.dispatched_at, op.dispatched_at, op.op_id


def _gone(
    op: Operation, undoing: Sequence[Operation], declared: Compensation | None
) -> Step | None:
    """Return the step of an operation that is undone or being undone, or None."""
    if op.state is OpState.COMPENSATED:
        return Step(op=op, readiness=Readiness.DONE, reason="it was undone")
    for other in undoing:
        if other.state is OpState.SUCCEEDED and not is_refuted(other):
            return Step(op=op, readiness=Readiness.DONE, reason=f"it was undone by `{other.op_id}`")
    for other in undoing:
        if other.state in _UNSETTLED:
            reason = f"`{other.op_id}` is undoing it"
            return Step(op=op, readiness=Readiness.UNDER_WAY, reason=reason)
        # Only an idempotent way back may be gone twice.
        doubt = _doubt(other)
        if doubt and not (declared and declared.is_idempotent):
            return Step(op=op, readiness=Readiness.INDETERMINATE, reason=doubt)
    if op.state is OpState.COMPENSATING and not undoing:
        return Step(op=op, readiness=Readiness.UNDER_WAY, reason="it is being undone")
    return None


def _doubt(attempt: Operation) -> str:
    """Say why nobody knows whether an attempt undid anything; empty when it certainly did not."""
    if is_doubtful(attempt):
        failed = attempt.state is not OpState.INDETERMINATE
        what = f"`{attempt.op_id}` failed, and " if failed else ""
        return f"{what}nobody knows whether `{attempt.op_id}` undid it"
    if is_refuted(attempt):
        return f"`{attempt.op_id}` was to undo it, and a check found that it did not"
    return ""


def _open(
    op: Operation, declared: Compensation | None, pivot: Operation | None, now_us: int
) -> Step:
    """Return the step of an operation that stands."""
    if op.state in _UNKNOWN:
        is_sent = op.state is OpState.DISPATCHING
        reason = "it is still under way" if is_sent else "nobody knows whether it happened"
        return Step(op=op, readiness=Readiness.INDETERMINATE, reason=reason)
    if pivot is not None:
        may = "may have happened" if pivot.state in _UNKNOWN else "happened"
        reason = f"`{pivot.op_id}` {may} after it, and from there the only way is forward"
        return Step(op=op, readiness=Readiness.FORWARD_ONLY, reason=reason)
    if declared is None:
        reason = f"the contract of `{op.tool}` declares no way back"
        return Step(op=op, readiness=Readiness.NOT_DECLARED, reason=reason)
    if declared.call is None:
        return Step(op=op, readiness=Readiness.IRREVERSIBLE, reason=declared.reason)
    deadline_s = declared.deadline_s
    if deadline_s is not None and now_us > op.settled_at + deadline_s * _MICROSECONDS:
        reason = f"it could be undone for {deadline_s:g} s only"
        return Step(op=op, readiness=Readiness.DEADLINE_PASSED, reason=reason)
    return Step(op=op, readiness=Readiness.READY, reason=f"`{declared.call.tool}` undoes it")
