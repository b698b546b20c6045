"""Limits that all gateways on one store share: sliding windows, taken from before a call is sent.

What was taken counts for the length of its window from the moment it was taken, so that a crash
between taking and sending errs on the safe side.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gateway.clock import Clock
from gateway.runs.limits import OF_RULES, TAKEN
from gateway.store.engine import Lock, Parameters, Transaction
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.decisions import Exceeded, Limit

_SECOND: Final = 1_000_000
_ROUNDING: Final = 1e-9  # sums of amounts such as 0.1 may be off by this part


class Limits:
    """Reservations against limits, by call."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self._clock = clock

    async def reserve(self, call_id: str, limits: Sequence[Limit]) -> Exceeded | None:
        """Take from every limit or from none; a call that has taken already takes nothing more.

        Raises StoreUnavailable; then it may still have taken, so `release` is in order.
        """
        now = self._clock.now()
        return await self._worker.write(
            # The lock of the event writer, which takes limits in its own transactions as well.
            lambda transaction: take(transaction, call_id, limits, now),
            lock=Lock.EVENTS,
        )

    async def release(self, call_id: str) -> None:
        """Give back what a call took that was never carried out; nothing once it is settled."""
        await self._worker.write(
            lambda transaction: transaction.execute("release", {"call_id": call_id})
        )

    async def settle(self, call_id: str) -> None:
        """Note that the call was carried out, or may have been: what it took stays taken."""
        await self._worker.write(
            lambda transaction: transaction.execute("settle", {"call_id": call_id})
        )


def take(
    transaction: Transaction, call_id: str, limits: Sequence[Limit], at: datetime
) -> Exceeded | None:
    """Take from every limit or from none, under the events lock; see `Limits.reserve`."""
    if not limits:
        return None
    now = microseconds(at)
    if transaction.fetch("reservations_of_call", {"call_id": call_id})[0].integer("taken"):
        return None
    missed = [met for limit in limits if (met := _exceeded(transaction, limit, now)) is not None]
    if missed:  # whoever comes back then finds room in all of them
        return max(missed, key=lambda met: met.retry_after_s)
    for limit in limits:
        place = _place(limit)
        transaction.execute("forget_reservations", {**place, "now": now})
        transaction.execute(
            "reserve",
            {
                **place,
                "call_id": call_id,
                "amount": limit.amount,
                "at": now,
                "expires": now + round(limit.window_s * _SECOND),
            },
        )
    return None


def _exceeded(transaction: Transaction, limit: Limit, now: int) -> Exceeded | None:
    """Return when there will be room: never for a call that alone is too much, or in its run."""
    most = limit.maximum + abs(limit.maximum) * _ROUNDING
    counted: Parameters = {**_place(limit), "now": now}
    taken = transaction.fetch("taken", counted)[0].number("amount")
    if taken + limit.amount <= most:
        return None
    if limit.amount > most or limit.is_of_run:
        return Exceeded(limit=limit.id, retry_after_s=math.inf)
    for row in transaction.fetch("reserved", counted):
        taken -= row.number("amount")
        if taken + limit.amount <= most:
            wait = (row.integer("expires") - now) / _SECOND
            return Exceeded(limit=limit.id, retry_after_s=wait)
    # Not even then, by the last digit of sums.
    return Exceeded(limit=limit.id, retry_after_s=limit.window_s)


def _place(limit: Limit) -> Parameters:
    """Return what a limit is counted under; what a rule counts for a run is found by the run."""
    of_rule = limit.is_of_run and limit.id not in TAKEN
    return {"limit_id": OF_RULES if of_rule else limit.id, "key": limit.key}
