"""Asking a server whether a write took place of which nobody knows."""

from enum import StrEnum
from typing import Final

from gateway.case import Case
from gateway.crossing import conditions
from gateway.crossing.reads import NotRead, Reads, take
from gateway.operations.templates import Known
from gateway.types.causes import Cause
from gateway.types.operations import Operation

_SECOND: Final = 1_000_000  # microseconds


class Found(StrEnum):
    """What a lookup proves."""

    HAPPENED = "happened"
    ABSENT = "absent"  # it did not happen, and will not
    UNKNOWN = "unknown"


async def lookup(
    reads: Reads, case: Case, operation: Operation, *, now_us: int, deadline_s: float
) -> Found:
    """Ask by the contract's `idempotency.lookup`; `now_us` is a time before the asking.

    Only a condition that is false proves absence, and only when a request that was sent then can
    no longer be under way, and no gateway keeps it open. Everything that goes wrong, a read that
    finds nothing included, proves nothing: what is taken for absent may be sent again.
    """
    declared, args = case.contract.idempotency.lookup, case.arguments
    if declared is None or args is None:
        return Found.UNKNOWN
    op = conditions.names_of(operation)
    known = Known(args=args, op=op)
    data = await take(reads, case, declared.call, known, deadline_s=deadline_s, cause=Cause.LOOKUP)
    if isinstance(data, NotRead):
        return Found.UNKNOWN
    match conditions.holds(declared.found, {"args": args, "result": data, "op": dict(op)}):
        case True:
            return Found.HAPPENED
        case False if _is_over(operation, now_us, declared.absent_after_s):
            return Found.ABSENT
        case _:
            return Found.UNKNOWN


def _is_over(operation: Operation, now_us: int, absent_after_s: float) -> bool:
    sent = operation.dispatched_at
    is_open = operation.lease_until > now_us
    return sent > 0 and not is_open and now_us - sent >= absent_after_s * _SECOND
