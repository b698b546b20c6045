"""Changes of runs inside of a transaction: from the version that is meant, and no other."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from gateway.runs import limits
from gateway.store.changes import Made
from gateway.store.engine import Parameters, Transaction
from gateway.store.run_rows import counted, pending, placed, row_of
from gateway.types.events import Event
from gateway.types.runs import Phase, Run
from gateway.types.values import replaced

_FOR_EVER: Final = 2**62  # later than whatever is kept, in microseconds
MOST_KEPT: Final = 10_000  # references that are kept of one run; further ones are not
Told: TypeAlias = Callable[[Run, Run], Sequence[Event]]
"""The events of a change, from before to after it: one at least."""


def change(transaction: Transaction, before: Run, after: Run, told: Told) -> Made[Run | None]:
    """Move a run from the version it was read in, inside of a transaction under the events lock.

    What it is for and has collected stays as it is in the row. One that goes on after its end waits
    for people who still have to decide.
    """
    goes_on = before.phase.is_final and not after.phase.is_final
    if goes_on and pending(transaction, before.run_id):
        after = replaced(after, phase=Phase.AWAITING_APPROVAL, resume_phase=after.phase)
    row = row_of(replaced(after, run_id=before.run_id, version=before.version))
    if transaction.execute("change_run", row) != 1:
        return Made(None)
    changed = replaced(after, version=before.version + 1)
    return Made(changed, told=told(before, changed))


def is_as_counted(transaction: Transaction, judged: Run) -> bool:
    """Whether what a run was judged by, beside its version, is so still."""
    now = counted(transaction, placed(transaction, judged))
    return now == judged


def collect(transaction: Transaction, run: Run, rows: Sequence[Parameters]) -> None:
    """Keep as many references as there is room for, and how many that makes."""
    rows = rows[: max(MOST_KEPT - run.evidence, 0)]
    if rows:
        added = transaction.execute_many("add_evidence", rows)
        transaction.execute("count_evidence", {"run_id": run.run_id, "added": added})


def forget(transaction: Transaction, run: Run) -> None:
    """Remove a run, what led to it, its references, its limits, and the values in it."""
    named: Parameters = {"run_id": run.run_id}
    scope: Parameters = {"tenant": run.tenant, "scope": f"run:{run.run_id}"}
    transaction.execute("forget_seen_of_run", scope)
    for name in ("forget_evidence", "forget_bindings", "forget_run"):
        transaction.execute(name, named)
    for limit in limits.TAKEN:  # of whatever template: nothing counts any more
        taken: Parameters = {"limit_id": limit, "key": limits.key(run.run_id)}
        transaction.execute("forget_reservations", {**taken, "now": _FOR_EVER})
    by_rules: Parameters = {
        "limit_id": limits.OF_RULES,
        "begins": f"{limits.key(run.run_id)}|%",
    }
    transaction.execute("forget_reservations_of_run", by_rules)
