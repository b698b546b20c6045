"""Events as they are put into their table."""

from typing import Final, cast

from gateway.events.envelope import Origin, to_bytes
from gateway.store.times import microseconds
from gateway.types.event_rows import EventRow
from gateway.types.events import Event

_LONGEST: Final = 256  # characters; an index entry of PostgreSQL has to fit into a third of a page


def row_of(event: Event, origin: Origin) -> EventRow:
    """Write an event as it is kept for good, with what it is looked for by."""
    told = cast("dict[str, str]", event.body).get  # what is no text is seen below
    actor = event.actor
    texts = (
        event.id,
        str(event.kind),
        str(event.stage),
        event.tenant,
        event.run,
        event.call,
        told("tool", ""),
        actor.user if actor is not None else "",
        told("decision", ""),
        told("rule", ""),
        told("status", ""),
        event.trace_id,
    )
    try:
        fit = _fits("".join(texts))  # most do, so that one look at all of them is enough
    except TypeError:
        fit = False
    body = to_bytes(event, origin).decode()
    at = microseconds(event.at)
    return EventRow._make((at, *(texts if fit else _clean(texts)), body, event.sealed))


def _clean(texts: tuple[object, ...]) -> list[str]:
    return [column(each) if isinstance(each, str) else "" for each in texts]


def _fits(text: str) -> bool:
    return len(text) <= _LONGEST and text.isascii() and "\0" not in text


def column(value: str) -> str:
    """Return a text as columns have it.

    Every engine takes it: no NUL, no half pairs, short enough for an index.
    """
    if _fits(value):
        return value
    clean = value[:_LONGEST].replace("\0", "\ufffd")
    return clean.encode("utf-8", "replace").decode()
