"""Recorded calls out of the log, in the order in which they were judged, a page at a time.

What a call came to is told by later events. Those in between are kept for as many calls as may be
under way at once; whatever tells of a call later than that is looked up by its id.
"""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from gateway.replay import reading
from gateway.replay.reading import Told
from gateway.replay.types import Recorded
from gateway.store.events import EventFilter, StoredEvent
from gateway.store.unsealing import Unsealed
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind
from gateway.types.json import JsonObject
from gateway.types.operations import Execution
from gateway.types.values import value

_PAGE: Final = 1_000  # events that are read at once
_TOGETHER: Final = 100  # calls that are looked up at once
_MOST_OPEN: Final = 5_000  # calls that are held at once
_MOST_EVENTS: Final = 1_000  # of one call, or of some that are looked up together
_KINDS: Final = frozenset(
    {EventKind.AUTHORIZATION, EventKind.TOOL_CALL, EventKind.SIDE_EFFECT, EventKind.APPROVAL}
)
_BEGINNING: Final = re.compile(
    rb'\{"v":[0-9]+,"id":"[0-9A-Z]{26}","ts":"[0-9TZ:.-]{,40}","kind":"([a-z_]{,40})",'
)


class Unsealing(Protocol):
    """Reads what is sealed beside events."""

    async def beside(self, events: Sequence[JsonObject]) -> Mapping[str, Unsealed]:
        """Return it by the ids of the events that have it. Raises StoreUnavailable."""
        ...


class Log(Protocol):
    """The event log, as far as it is read."""

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return the events that match, in the order of the log. Raises StoreUnavailable."""
        ...


@value
class Span:
    """Which calls are wanted: those judged in a period, of one tenant or of all."""

    since: datetime | None = None
    until: datetime | None = None  # itself left out
    tenant: str = ""
    run: str = ""
    call: str = ""


async def calls(
    log: Log, span: Span, unsealing: Unsealing | None = None
) -> AsyncIterator[Recorded]:
    """Yield the calls that were judged, in the order of the log. Raises StoreUnavailable.

    With `unsealing`, arguments are as they were where they are sealed and can be opened.
    """
    held = OrderedDict[str, Recorded]()
    async for page in _pages(log, span, unsealing):
        over = list[Recorded]()
        for event in page:
            if event.kind not in _KINDS:
                continue
            if event.is_decision:
                held[event.call] = reading.recorded(event)
            elif (known := held.get(event.call)) is not None:
                held[event.call] = reading.with_event(known, event)
            while held and (_is_over(first := next(iter(held.values()))) or len(held) > _MOST_OPEN):
                del held[first.call]
                over.append(first)
        for each in await _completed(log, over, unsealing):
            yield each
    while held:
        rest = [held.popitem(last=False)[1] for _ in range(min(_PAGE, len(held)))]
        for each in await _completed(log, rest, unsealing):
            yield each


async def call(log: Log, call_id: str, unsealing: Unsealing | None = None) -> Recorded | None:
    """Return one call, or None where the log has no decision about it."""
    async for found in calls(log, Span(call=call_id), unsealing):
        return found
    return None


def _is_over(call: Recorded) -> bool:
    return call.ended is not None


def _may_be_told_more(call: Recorded) -> bool:
    """Whether later events may tell more of a call that is over."""
    is_clear = call.ended is not None and call.ended.executed is not Execution.UNKNOWN
    return not is_clear or call.judged.effect is DecisionEffect.REQUIRE_APPROVAL


async def _completed(
    log: Log, calls: Sequence[Recorded], unsealing: Unsealing | None
) -> Sequence[Recorded]:
    """Look up what later events tell of calls, where they may tell more: of all at once."""
    doubted = [each.call for each in calls if _may_be_told_more(each)]
    if not doubted:
        return calls
    stories = dict[str, list[Told]]()
    for first in range(0, len(doubted), _TOGETHER):
        stories |= await _stories(log, doubted[first : first + _TOGETHER], unsealing)
    return [
        _with_story(each, stories[each.call]) if each.call in stories else each for each in calls
    ]


async def _stories(
    log: Log, calls: Sequence[str], unsealing: Unsealing | None
) -> dict[str, list[Told]]:
    """Return the events of calls, as far as the log has any."""
    stories = dict[str, list[Told]]()
    found = await log.query(EventFilter(few_calls=tuple(calls), limit=_MOST_EVENTS))
    if len(found) < _MOST_EVENTS:
        for event in await _read(found, unsealing):
            stories.setdefault(event.call, []).append(event)
        return stories
    for id in calls:  # perhaps there are more
        kept = await log.query(EventFilter(call=id, limit=_MOST_EVENTS))
        stories[id] = [*await _read(kept, unsealing)]
    return stories


def _with_story(call: Recorded, events: Sequence[Told]) -> Recorded:
    """Return a call as all of its events tell it: people were asked before it was decided."""
    decision = next((each for each in events if each.is_decision), None)
    if decision is None:
        return call
    found = reading.recorded(decision)
    for event in events:
        found = reading.with_event(found, event)
    return found


async def _read(page: Sequence[StoredEvent], unsealing: Unsealing | None) -> Iterable[Told]:
    """Read events: one after the other as they are asked for, which the processor's caches hold."""
    read = (each.json() for each in page if _may_tell(each.body))
    if unsealing is None:
        return map(reading.told, read)
    events = [*read]
    found = await unsealing.beside(events)
    return [reading.told(each, found.get(str(each.get("id")))) for each in events]


def _may_tell(body: bytes) -> bool:
    """Whether an event has to be read: most others are known by how the gateway begins them."""
    begun = _BEGINNING.match(body)
    return begun is None or begun[1].decode() in _KINDS


async def _pages(
    log: Log, span: Span, unsealing: Unsealing | None
) -> AsyncIterator[Iterable[Told]]:
    after = 0
    while True:
        page = await log.query(
            EventFilter(
                since=span.since,
                until=span.until,
                tenant=span.tenant,
                run=span.run,
                call=span.call,
                after=after,
                limit=_PAGE,
            )
        )
        if page:
            after = page[-1].seq
            yield await _read(page, unsealing)
        if len(page) < _PAGE:
            return
