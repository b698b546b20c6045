"""What may leave the log: prefixes that a sealed file holds, up to the first event on hold."""

from dataclasses import dataclass
from datetime import datetime

from gateway.clock import Clock
from gateway.errors import LogChanged
from gateway.events import tiles
from gateway.events.tree import Edge
from gateway.store.engine import Row, Transaction
from gateway.store.times import moment
from gateway.store.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What the log goes on from: events 1 to `size` are in archives."""

    size: int
    edge: tuple[bytes, ...]
    note: str
    digest: str  # of the last archive, `sha256:` and hex
    at: datetime


def sealed(transaction: Transaction) -> Sealed | None:
    """Return the last archive; None where nothing was archived. Raises LogChanged."""
    found = transaction.fetch("last_archive", {})
    return _sealed(found[0]) if found else None


def _sealed(row: Row) -> Sealed:
    size = row.integer("size")
    try:
        edge = Edge(size, tiles.unpack(row.text("edge")))
    except ValueError as error:
        raise LogChanged(f"the edge of the archive of {size} in the store can't be read") from error
    return Sealed(
        size=size,
        edge=edge.hashes,
        note=row.text("note"),
        digest=row.text("digest"),
        at=moment(row.integer("at")),
    )


class Retention:
    """The tables of archives and holds."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self._clock = clock
