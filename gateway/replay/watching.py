"""How far a replay is, told by the numbers of the events that were read."""

from dataclasses import dataclass
from typing import Protocol

from gateway.replay.history import Log, Span
from gateway.store.events import EventFilter, StoredEvent


class Numbered(Log, Protocol):
    """A log that knows its last number."""

    async def last_seq(self) -> int:
        """Return the number of the newest event, 0 for an empty log. Raises StoreUnavailable."""
        ...


@dataclass(slots=True, kw_only=True)
class Watched:
    """A log that knows how much of a span was read."""

    log: Log
    first: int
    last: int
    now: int

    @classmethod
    async def of(cls, log: Numbered, span: Span) -> "Watched":
        """Find where a span begins and where it ends; raises StoreUnavailable."""
        wanted = EventFilter(
            since=span.since, until=span.until, tenant=span.tenant, run=span.run, limit=1
        )
        found = await log.query(wanted)
        first = found[0].seq if found else 0
        return cls(log=log, first=first, last=await log.last_seq(), now=first)

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return the events that match, in the order of the log."""
        found = await self.log.query(wanted)
        if found and not wanted.call:
            self.now = found[-1].seq
        return found

    @property
    def share(self) -> float:
        """How much of the span was read, by the numbers of its events, from 0 to 1."""
        return min(1.0, max(0.0, (self.now - self.first) / max(1, self.last - self.first)))
