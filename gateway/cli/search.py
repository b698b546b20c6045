"""Looking through the event log for what no column of it holds."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from gateway.store.events import EventFilter, EventLog, StoredEvent
from gateway.types.json import JsonObject

_PAGE: Final = 2_000  # events read at once

Keep = Callable[[JsonObject], bool]


async def each(
    log: EventLog, wanted: EventFilter, *, page: int = _PAGE
) -> AsyncIterator[StoredEvent]:
    """Yield all the events of a query in the order of the log, however many there are."""
    after = wanted.after
    while True:
        read = await log.query(replace(wanted, after=after, limit=page, newest_first=False))
        for event in read:
            after = event.seq
            yield event
        if len(read) < page:
            return


async def search(
    log: EventLog, wanted: EventFilter, keep: Keep, *, page: int = _PAGE
) -> list[StoredEvent]:
    """Return the events of a query that `keep` keeps, in its order, and as many as its limit."""
    if wanted.newest_first:
        return await _newest(log, wanted, keep, page)
    found: list[StoredEvent] = []
    after = wanted.after
    while len(found) < wanted.limit:
        read = await log.query(replace(wanted, after=after, limit=page))
        found += (event for event in read if keep(event.json()))
        if len(read) < page:
            break
        after = read[-1].seq
    return found[: wanted.limit]


async def _newest(log: EventLog, wanted: EventFilter, keep: Keep, page: int) -> list[StoredEvent]:
    """Read windows of numbers from the end: one holds no more events than it has numbers."""
    found: list[StoredEvent] = []
    last = await log.last_seq()
    while last > wanted.after and len(found) < wanted.limit:
        first = max(wanted.after, last - page)
        read = await log.query(replace(wanted, after=first, limit=page, newest_first=False))
        kept = [event for event in read if event.seq <= last and keep(event.json())]
        found += reversed(kept)
        last = first
    return found[: wanted.limit]
