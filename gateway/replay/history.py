"""Recorded calls out of the log, in the order in which they were judged, a page at a time.

What a call came to is told by later events. Those in between are kept for as many calls as may be
under way at once; whatever tells of a call later than that is looked up by its id.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final, Protocol

from gateway.replay import reading
from gateway.replay.reading import Told
from gateway.replay.types import Recorded
from gateway.store.events import EventFilter, StoredEvent
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind
from gateway.types.operations import Execution
from gateway.types.values import value

_PAGE: Final = 1_000
_MOST_OPEN: Final = 5_000  # calls that are held at once
_MOST_EVENTS: Final = 1_000  # of one call
_KINDS: Final = frozenset(
    {EventKind.AUTHORIZATION, EventKind.TOOL_CALL, EventKind.SIDE_EFFECT, EventKind.APPROVAL}
)


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


async def calls(log: Log, span: Span) -> AsyncIterator[Recorded]:
    """Yield the calls that were judged, in the order of the log. Raises StoreUnavailable."""
    held = OrderedDict[str, Recorded]()
    async for event in _events(log, span):
        if event.is_decision:
            held[event.call] = reading.recorded(event)
        elif event.call in held:
            held[event.call] = reading.with_event(held[event.call], event)
        while held and (_is_over(first := next(iter(held.values()))) or len(held) > _MOST_OPEN):
            del held[first.call]
            yield await _completed(log, first)
    for call in held.values():
        yield await _completed(log, call)


async def call(log: Log, call_id: str) -> Recorded | None:
    """Return one call, or None where the log has no decision about it."""
    async for found in calls(log, Span(call=call_id)):
        return found
    return None


def _is_over(call: Recorded) -> bool:
    return call.ended is not None


async def _completed(log: Log, call: Recorded) -> Recorded:
    """Look up what later events tell of a call, where they may tell more."""
    is_clear = call.ended is not None and call.ended.executed is not Execution.UNKNOWN
    if is_clear and call.judged.effect is not DecisionEffect.REQUIRE_APPROVAL:
        return call
    kept = await log.query(EventFilter(call=call.call, limit=_MOST_EVENTS))
    events = [reading.told(each.json()) for each in kept]
    decision = next((each for each in events if each.is_decision), None)
    if decision is None:
        return call
    found = reading.recorded(decision)
    for event in events:  # people were asked before the decision was kept
        found = reading.with_event(found, event)
    return found


async def _events(log: Log, span: Span) -> AsyncIterator[Told]:
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
        for each in page:
            after = each.seq
            event = reading.told(each.json())
            if event.kind in _KINDS:
                yield event
        if len(page) < _PAGE:
            return
