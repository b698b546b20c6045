"""What claims and decisions do to the run of a call, in their own transactions.

All of it runs under the events lock, so that no run changes in between, and bears repeating.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from gateway import ids
from gateway.events import runs as events
from gateway.store.changes import Made
from gateway.store.engine import Transaction
from gateway.store.rows import clean
from gateway.store.run_changes import change, is_as_counted
from gateway.store.run_rows import pending, placed, run_of
from gateway.store.times import moment
from gateway.types.events import Event
from gateway.types.runs import Mover, Passage, Phase, Run
from gateway.types.values import replaced

_T = TypeVar("_T")


def may_pass(transaction: Transaction, passage: Passage) -> bool:
    """Whether a run, and what is around it, is still as a call was judged by it.

    Where the call moves it, what its guards counted has to be the same as well.
    """
    now = _run(transaction, passage.run.run_id)
    if now is None or now.version != passage.run.version:
        return False
    now = placed(transaction, now)
    if (now.held_by, now.is_tainted) != (passage.run.held_by, passage.run.is_tainted):
        return False
    return passage.move_to is None or is_as_counted(transaction, passage.run)


def pass_through(
    transaction: Transaction, passage: Passage, *, now: int, told: list[Event], call: str = ""
) -> None:
    """Move a run whose call may pass, if that is what the call asks for."""
    if passage.move_to is not None:
        before = passage.run
        after = replaced(before, phase=passage.move_to, active_at=now)
        _change(transaction, before, after, Mover.CALL, now=now, told=told, call=call)


def attend(transaction: Transaction, run_id: str, *, now: int, told: list[Event]) -> None:
    """Have a run wait for people as long as they have to decide, and go on when they need not.

    Counted anew each time, so that it does not matter which of several requests is decided first.
    """
    before = _run(transaction, run_id) if run_id else None
    if before is None or before.phase.is_final:
        return
    waits = before.phase is Phase.AWAITING_APPROVAL
    if (pending(transaction, run_id) > 0) is waits:
        return
    if waits:
        # The time that people took is nobody's idleness.
        phase = before.resume_phase or Phase.ACTING
        after = replaced(before, phase=phase, resume_phase=None, active_at=now)
    else:
        after = replaced(before, phase=Phase.AWAITING_APPROVAL, resume_phase=before.phase)
    _change(transaction, before, after, Mover.GATEWAY, now=now, told=told)


def attend_all(
    transaction: Transaction, run_ids: Iterable[str], *, now: int, told: list[Event]
) -> None:
    """Do the same for every run that requests were made or ended for."""
    for run_id in sorted({*run_ids} - {""}):
        attend(transaction, run_id, now=now, told=told)


def attended(
    transaction: Transaction, made: Made[_T], run_ids: Iterable[str], *, now: int
) -> Made[_T]:
    """Do the same after a decision, and tell of it with what the decision tells."""
    told = [*made.told]
    attend_all(transaction, run_ids, now=now, told=told)
    return replace(made, told=told) if len(told) > len(made.told) else made


def _run(transaction: Transaction, run_id: str) -> Run | None:
    rows = transaction.fetch("get_run", {"run_id": clean(run_id)})
    return run_of(rows[0]) if rows else None


def _change(
    transaction: Transaction,
    before: Run,
    after: Run,
    by: Mover,
    *,
    now: int,
    told: list[Event],
    call: str = "",
) -> None:
    def tell(old: Run, new: Run) -> Sequence[Event]:
        event = events.event(old, new, by=by, id=ids.ulid(), at=moment(now), call=call)
        return (event,)

    told.extend(change(transaction, before, after, tell).told)
