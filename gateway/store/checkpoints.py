"""Checkpoints of the event log: made by whichever gateway comes first, read by anybody.

On a thread and a connection of its own: hashing must not keep the calls from the store.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from gateway.clock import Clock
from gateway.events import tiles
from gateway.store import integration
from gateway.store.engine import Lock, Parameters, Transaction
from gateway.store.fresh_leaves import FreshLeaves
from gateway.store.integration import StoredCheckpoint
from gateway.store.times import microseconds
from gateway.store.worker import Worker

_T = TypeVar("_T")
_MOST: Final = 8_192  # events that one checkpoint takes in; the next goes on from there

Sign = Callable[[int, bytes], str]
"""Makes the signed note of a size and a root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The last checkpoint, and the number of the last event."""

    last: StoredCheckpoint | None
    last_seq: int

    @property
    def since(self) -> int:
        """How many events no checkpoint covers yet."""
        return self.last_seq - (self.last.size if self.last is not None else 0)


class Checkpoints:
    """The tables of checkpoints and tiles."""

    def __init__(
        self, worker: Worker, clock: Clock, more: Callable[[], Worker], fresh: FreshLeaves
    ) -> None:
        """`more` makes workers with connections of their own, for who reads all of the log.

        `fresh` has the hashes of what this process has written.
        """
        self._worker = worker
        self._clock = clock
        self._more = more
        self.fresh = fresh

    def expect(self) -> None:
        """Have events hashed as they are written, from now on: this process makes checkpoints."""
        self.fresh.want()

    async def standing(self) -> Standing:
        """Return how far checkpoints go; raises StoreUnavailable and LogChanged."""

        def read(transaction: Transaction) -> Standing:
            last_seq = transaction.fetch("last_seq", {})[0].integer("seq")
            return Standing(last=integration.last(transaction), last_seq=last_seq)

        return await self._worker.read(read)

    async def make(self, sign: Sign, *, most: int = _MOST) -> StoredCheckpoint | None:
        """Take in the events since the last checkpoint and keep the next one; durable on return.

        None when there is nothing new, or another gateway was first. Raises StoreUnavailable and
        LogChanged. What is expensive only reads: a lock that writers of SQLite share is held just
        for the few rows.
        """
        self.expect()

        def read(transaction: Transaction) -> integration.Grown | None:
            base = integration.last(transaction)
            return integration.grow(transaction, base, most=most, fresh=self.fresh)

        grown = await self._worker.read(read)
        if grown is None:
            return None
        edge = grown.edge
        made = StoredCheckpoint(
            size=edge.size,
            root=edge.root(),
            edge=edge.hashes,
            note=sign(edge.size, edge.root()),
            at=self._clock.now(),
        )

        def write(transaction: Transaction) -> bool:
            last = integration.last(transaction)
            if (last.size if last is not None else 0) != grown.before:
                return False
            transaction.execute_many("add_tile", grown.rows())
            transaction.execute("add_checkpoint", as_row(made))
            return True

        is_ours = await self._worker.write(write, lock=Lock.CHECKPOINTS)
        return made if is_ours else None

    async def of(self, size: int) -> StoredCheckpoint | None:
        """Return the checkpoint of a size, or None."""

        def read(transaction: Transaction) -> StoredCheckpoint | None:
            found = transaction.fetch("checkpoint_of", {"size": size})
            return integration.stored(found[0]) if found else None

        return await self._worker.read(read)

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what proves or checks something, in a transaction that only reads."""
        return await self._worker.read(work)

    @contextmanager
    def readers(self, many: int) -> Generator[list[Worker], None, None]:
        """Have so many connections for reads that go on side by side."""
        workers = [self._more() for _ in range(many)]
        try:
            yield workers
        finally:
            for worker in workers:
                worker.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._worker.close()


def as_row(made: StoredCheckpoint) -> Parameters:
    """Return a checkpoint as it is kept."""
    return {
        "size": made.size,
        "root": tiles.pack([made.root]),
        "edge": tiles.pack(made.edge),
        "note": made.note,
        "at": microseconds(made.at),
    }
