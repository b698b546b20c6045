"""Questions to the event log: which events are wanted goes in, pages of events come out.

However large the log is, a page is all that is held at once, and one read of the database is short:
gateways that write meanwhile wait for nobody who asks. Whoever gives out what is read here says so
in the log first (`gateway.actions.disclosure`).
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol, TypeVar

from gateway.store import selection
from gateway.store.engine import Transaction
from gateway.store.events import StoredEvent
from gateway.store.selection import Selection, Span

_T = TypeVar("_T")
PAGE: Final = 500  # events that are held at once
_WIDTH: Final = 20_000  # events that one read looks through, where no index leads to what is wanted
_FAR: Final = 500_000  # the same where one does: what it leads to may have to be sorted


class Log(Protocol):
    """Where the events are: `Store.events`, or `Store.checkpoints`, for which no call waits."""

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what reads, in one transaction. Raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some events in the order that was asked for, and from where it goes on."""

    events: tuple[StoredEvent, ...]
    cursor: int | None
    """The number of the last event that was looked at, for the next page; None: there is no more.

    With `reads`, there can be more although there are fewer events than the limit, or none.
    """


async def page(
    log: Log,
    wanted: Selection,
    *,
    limit: int = 100,
    newest_first: bool = False,
    cursor: int | None = None,
    reads: int | None = None,
) -> Page:
    """Return the next events that are wanted: the first ones, or those that a cursor leads to.

    `reads` bounds how many times the database is asked for it, each time for 20,000 events at most.
    Raises StoreUnavailable.
    """
    span = await log.read(partial(selection.span, wanted=wanted))
    if cursor is not None:
        left = span.after(cursor, newest_first=newest_first)
        span = Span(max(span.first, left.first), min(span.last, left.last))
    return await _next(log, wanted, span, limit, newest_first=newest_first, reads=reads)


async def pages(
    log: Log,
    wanted: Selection,
    *,
    limit: int | None = None,
    newest_first: bool = False,
    size: int = PAGE,
) -> AsyncIterator[Page]:
    """Yield page after page, at least one, of what is there now; what comes meanwhile is not.

    The cursor of the last one tells whether there is more than the limit.
    """
    span = await log.read(partial(selection.span, wanted=wanted))
    left = limit
    while True:
        most = size if left is None else min(size, left)
        found = await _next(log, wanted, span, most, newest_first=newest_first)
        yield found
        left = left if left is None else left - len(found.events)
        if found.cursor is None or left == 0:
            return
        span = span.after(found.cursor, newest_first=newest_first)


async def each(
    log: Log, wanted: Selection, *, newest_first: bool = False, size: int = PAGE
) -> AsyncIterator[StoredEvent]:
    """Yield all events that are wanted and are there now."""
    async for found in pages(log, wanted, newest_first=newest_first, size=size):
        for event in found.events:
            yield event


async def _next(
    log: Log,
    wanted: Selection,
    span: Span,
    limit: int,
    *,
    newest_first: bool,
    reads: int | None = None,
) -> Page:
    found: list[StoredEvent] = []
    width = _FAR if wanted.is_narrow else _WIDTH
    while not span.is_empty and len(found) <= limit and (reads is None or reads > 0):
        window, rest = span.begun(width, newest_first=newest_first)
        size = PAGE if wanted.is_told else limit + 1 - len(found)
        work = partial(
            selection.within, wanted=wanted, span=window, limit=size, newest_first=newest_first
        )
        read = await log.read(work)
        found += read if not wanted.is_told else [e for e in read if wanted.fits(e.json())]
        is_cut = len(read) == size  # the window may hold more
        span = span.after(read[-1].seq, newest_first=newest_first) if is_cut else rest
        reads = reads if reads is None else reads - 1
    if len(found) > limit:
        return Page(events=tuple(found[:limit]), cursor=found[limit - 1].seq)
    looked_at = span.last + 1 if newest_first else span.first - 1
    return Page(events=tuple(found), cursor=None if span.is_empty else looked_at)


def until(wanted: Selection, last: int) -> Selection:
    """Return the same question, about the log as it was with a last event."""
    return replace(wanted, last=last if wanted.last is None else min(last, wanted.last))
