"""What a claim does inside of its transaction: meet what is there, or take it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gateway.operations.meeting import Meeting, meet
from gateway.store import limits as counters
from gateway.store.engine import Parameters, Transaction
from gateway.store.rows import clean, operation_of, row_of
from gateway.store.times import microseconds
from gateway.types.decisions import Limit
from gateway.types.guarantees import OnVariant
from gateway.types.operations import Claim, Met, Operation, OpState
from gateway.types.values import replaced

_WAYS: Final = {
    Meeting.JOIN: Met.JOINED,
    Meeting.SETTLED: Met.SETTLED,
    Meeting.CONFLICT: Met.CONFLICT,
    Meeting.VARIANT: Met.VARIANT,
    Meeting.UNKNOWN: Met.UNKNOWN,
    Meeting.LOST: Met.LOST,
    Meeting.MINE: Met.TAKEN,
}


def place(wanted: Operation) -> Parameters:
    """Return what the operations under one key have in common."""
    return {
        "tenant": clean(wanted.tenant),
        "scope": wanted.key.scope,
        "idem_key": wanted.key.key,
    }


def claim(
    transaction: Transaction,
    wanted: Operation,
    on_variant: OnVariant,
    limits: Sequence[Limit],
    at: datetime,
    *,
    repeats: str = "",
) -> Claim:
    """Take the operation of a key for one attempt, or say what stands in its place.

    Runs under the events lock, so that nobody else claims in between; bears repeating. `repeats`
    names an operation that is to be carried out once more: one of the same key, and the newest,
    or it has been already.
    """
    now = microseconds(at)
    if repeats and not _has_key(transaction, repeats, wanted):
        return Claim(met=Met.MISNAMED, operation=wanted)
    rows = transaction.fetch("newest_operation", place(wanted))
    if not rows:
        return _take(transaction, wanted, None, limits, at)
    found = operation_of(rows[0])
    on_purpose = found.op_id == repeats
    match meet(found, wanted, on_variant=on_variant, now=now, on_purpose=on_purpose):
        case Meeting.NEW if found.op_id == wanted.op_id:  # asked for itself, and it has ended
            return Claim(met=Met.SETTLED, operation=found)
        case Meeting.NEW:
            wanted = replace(wanted, generation=found.generation + 1)
            return _take(transaction, wanted, None, limits, at)
        case Meeting.AGAIN:
            return _take(transaction, wanted, found, limits, at)
        case meeting:
            return Claim(met=_WAYS[meeting], operation=found)


def _has_key(transaction: Transaction, op_id: str, wanted: Operation) -> bool:
    rows = transaction.fetch("get_operation", {"op_id": clean(op_id)})
    return bool(rows) and place(operation_of(rows[0])) == place(wanted)


def _take(
    transaction: Transaction,
    wanted: Operation,
    found: Operation | None,
    limits: Sequence[Limit],
    at: datetime,
) -> Claim:
    """Take it, and what it uses up; a call that is over a limit changes nothing."""
    exceeded = counters.take(transaction, wanted.call_id, limits, at)
    if exceeded is not None:
        return Claim(
            met=Met.OVER_LIMIT,
            operation=wanted,
            limit=exceeded.limit,
            retry_after_s=exceeded.retry_after_s,
        )
    now = microseconds(at)
    if found is None:
        taken = replaced(
            wanted, state=OpState.DISPATCHING, epoch=1, created_at=now, dispatched_at=now
        )
        transaction.execute("add_operation", row_of(taken))
        return Claim(met=Met.TAKEN, operation=taken)
    row = row_of(replace(wanted, op_id=found.op_id, epoch=found.epoch))
    transaction.execute("dispatch_operation", {**row, "now": now})
    again = transaction.fetch("get_operation", {"op_id": found.op_id})
    return Claim(met=Met.TAKEN, operation=operation_of(again[0]))
