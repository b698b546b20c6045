"""Recorded calls out of the log, in the order in which they were judged, a page at a time.

What a call came to is told by later events. Those in between are kept for as many calls as may be
under way at once; whatever tells of a call later than that is looked up by its id.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
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

_PAGE: Final = 1_000
_MOST_OPEN: Final = 5_000  # calls that are held at once
_MOST_EVENTS: Final = 1_000  # of one call
_KINDS: Final = frozenset(
    {EventKind.AUTHORIZATION, EventKind.TOOL_CALL, EventKind.SIDE_EFFECT, EventKind.APPROVAL}
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
    async for event in _events(log, span, unsealing):
        if event.is_decision:
            held[event.call] = reading.recorded(event)
        elif event.call in held:
            held[event.call] = reading.with_event(held[event.call], event)
        while held and (_is_over(first := next(iter(held.values()))) or len(held) > _MOST_OPEN):
            del held[first.call]
            yield await _completed(log, first, unsealing)
    for call in held.values():
        yield await _completed(log, call, unsealing)


async def call(log: Log, call_id: str, unsealing: Unsealing | None = None) -> Recorded | None:
    """Return one call, or None where the log has no decision about it."""
    async for found in calls(log, Span(call=call_id), unsealing):
        return found
    return None


def _is_over(call: Recorded) -> bool:
    return call.ended is not None


async def _completed(log: Log, call: Recorded, unsealing: Unsealing | None) -> Recorded:
    """Look up what later events tell of a call, where they may tell more."""
    is_clear = call.ended is not None and call.ended.executed is not Execution.UNKNOWN
    if is_clear and call.judged.effect is not DecisionEffect.REQUIRE_APPROVAL:
        return call
    kept = await log.query(EventFilter(call=call.call, limit=_MOST_EVENTS))
    events = await _read(kept, unsealing)
    decision = next((each for each in events if each.is_decision), None)
    if decision is None:
        return call
    found = reading.recorded(decision)
    for event in events:  # people were asked before the decision was kept
        found = reading.with_event(found, event)
    return found


async def _read(page: Sequence[StoredEvent], unsealing: Unsealing | None) -> list[Told]:
    events = [each.json() for each in page]
    if unsealing is None:
        return [reading.told(each) for each in events]
    found = await unsealing.beside(events)
    return [reading.told(each, found.get(str(each.get("id")))) for each in events]


async def _events(log: Log, span: Span, unsealing: Unsealing | None) -> AsyncIterator[Told]:
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
        for event in await _read(page, unsealing):
            after = event.seq
            if event.kind in _KINDS:
                yield event
        if len(page) < _PAGE:
            return
