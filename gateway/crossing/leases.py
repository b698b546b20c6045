"""Leases: what lets this process send an operation that it claimed, and what shows that it lives.

A process can be stopped anywhere, by a debugger, a pause of its machine, a closed lid, and go on as
if nothing had happened. Meanwhile others may have given its operation up, found that it did not
take place, and sent it. So a claim is good for one lease only, and then the row is asked again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.store.times import microseconds
from gateway.types.operations import Operation

_SECOND: Final = 1_000_000
_MOST_KNOWN: Final = 10_000  # attempts without a known outcome, and their age


class Table(Protocol):
    """The table of operations, as far as leases need it."""

    async def renew(self, living: Sequence[tuple[str, int]], lease_s: float) -> frozenset[str]:
        """Lengthen leases; return the ids of those that may still be sent.

        Raises StoreUnavailable.
        """
        ...


@dataclass(slots=True)
class _Lease:
    epoch: int
    until_s: float  # on the monotonic clock: one that is set can't lengthen a lease
    until_us: int  # on the wall clock: it goes on while the machine sleeps


@dataclass(slots=True, kw_only=True)
class Living:
    """The operations that are under way in this process, whose leases have to be renewed."""

    table: Table
    clock: Clock
    lease_s: float
    _held: dict[str, _Lease] = field(default_factory=dict[str, _Lease])
    _known: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])

    def age_s(self, operation: Operation) -> float:
        """Return for how many seconds this process has known of an attempt; 0 at first sight.

        Times in rows are those of the gateway that wrote them, whose clock may be another one, or
        have been set since. An attempt is at least as old as this process has known of it.
        """
        now_s = self.clock.monotonic()
        return now_s - self._known_since(operation, now_s)

    def _known_since(self, operation: Operation, now_s: float) -> float:
        attempt = operation.op_id, operation.epoch
        if attempt not in self._known and len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]  # it is known anew, and so counts as younger
        return self._known.setdefault(attempt, now_s)

    def forget(self, operation: Operation) -> None:
        """Let go of the age of an attempt whose outcome is known."""
        self._known.pop((operation.op_id, operation.epoch), None)

    def begin(self, operation: Operation) -> None:
        """Keep a lease alive that was just taken."""
        self._known_since(operation, self.clock.monotonic())
        now_us = microseconds(self.clock.now())
        left_s = min(self.lease_s, (operation.lease_until - now_us) / _SECOND)
        self._held[operation.op_id] = _Lease(
            operation.epoch, self.clock.monotonic() + left_s, operation.lease_until
        )

    def end(self, operation: Operation) -> None:
        """Let it go."""
        if self.has(operation):
            del self._held[operation.op_id]

    def has(self, operation: Operation) -> bool:
        """Whether this very attempt is under way here."""
        lease = self._held.get(operation.op_id)
        return lease is not None and lease.epoch == operation.epoch

    def holds(self, operation: Operation) -> bool:
        """Whether an operation may be sent at this moment: nobody can have given it up."""
        lease = self._held.get(operation.op_id)
        if lease is None or lease.epoch != operation.epoch:
            return False
        now_us = microseconds(self.clock.now())
        return self.clock.monotonic() < lease.until_s and now_us < lease.until_us

    async def hold(self, operation: Operation) -> bool:
        """Say whether an operation may be sent; once its lease has run out, its row decides."""
        if self.holds(operation):
            return True
        try:
            return await self.renewed(operation)
        except StoreUnavailable:
            return False

    async def renewed(self, operation: Operation) -> bool:
        """Renew one lease; False when the operation was given up. Raises StoreUnavailable."""
        if not self.has(operation):
            return False
        await self._renew([(operation.op_id, operation.epoch)])
        return self.holds(operation)

    async def renew(self) -> None:
        """Renew all leases; raises StoreUnavailable."""
        held = [(op_id, lease.epoch) for op_id, lease in self._held.items()]
        if held:
            await self._renew(held)

    async def _renew(self, held: Sequence[tuple[str, int]]) -> None:
        since_s, since_us = self.clock.monotonic(), microseconds(self.clock.now())
        still = await self.table.renew(held, self.lease_s)
        for op_id, epoch in held:
            lease = self._held.get(op_id)
            if lease is None or lease.epoch != epoch:
                continue
            is_mine = op_id in still
            lease.until_s = since_s + self.lease_s if is_mine else 0.0
            lease.until_us = since_us + round(self.lease_s * _SECOND) if is_mine else 0
