"""What is looked for in the event log, by any of several values each, and what that is in SQL.

Whatever a column tells is decided by the database. What only the event itself tells (a method, an
action, a request for approval) is narrowed down by its text, and decided by who reads it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway import jsontext
from gateway.store.engine import Transaction, Value
from gateway.store.event_rows import column
from gateway.store.events import StoredEvent
from gateway.store.times import microseconds
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject

_COLUMNS: Final = {
    "tenants": "tenant IN (SELECT value FROM json_each(:tenants))",
    "runs": "run_id IN (SELECT value FROM json_each(:runs))",
    "calls": "call_id IN (SELECT value FROM json_each(:calls))",
    "actors": "actor_user IN (SELECT value FROM json_each(:actors))",
    "tools": "tool IN (SELECT value FROM json_each(:tools))",
    "decisions": "decision IN (SELECT value FROM json_each(:decisions))",
    "statuses": "status IN (SELECT value FROM json_each(:statuses))",
    "kinds": "kind IN (SELECT value FROM json_each(:kinds))",
    "stages": "stage IN (SELECT value FROM json_each(:stages))",
    "rules": "rule IN (SELECT value FROM json_each(:rules))",
    "traces": "trace_id IN (SELECT value FROM json_each(:traces))",
}
_TOLD: Final[Mapping[str, tuple[str, ...]]] = {
    "codes": ("code",),
    "methods": ("question", "method"),  # the first that a body has is the one
    "actions": ("action",),
    "approvals": ("approval",),
    "revisions": ("revision",),
}
_CONTAINS: Final = {
    field: f"EXISTS (SELECT value FROM json_each(:{field}) WHERE body LIKE value ESCAPE '!')"  # noqa: S608 - of the names above
    for field in _TOLD
}
# As the partial indexes have it: what is rare is found without reading the rest.
_RARE_KINDS: Final = frozenset({EventKind.ADMIN.value, EventKind.APPROVAL.value})
_RARE_DECISIONS: Final = frozenset(
    {DecisionEffect.DENY.value, DecisionEffect.REQUIRE_APPROVAL.value}
)
_IS_RARE_KIND: Final = "kind IN ('admin', 'approval')"
_IS_RARE_DECISION: Final = "decision IN ('deny', 'require_approval')"
_ESCAPED: Final = str.maketrans({each: f"!{each}" for each in "!%_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which events are wanted. Of each field any value fits; an empty one matches everything.

    An empty text among the values stands for events that name nothing of the kind, such as those
    of no tenant. `until` itself is left out.
    """

    tenants: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()  # of the check that refused
    methods: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()  # of `admin` events
    approvals: tuple[str, ...] = ()  # ids of requests
    revisions: tuple[str, ...] = ()  # by which it was decided, or that was put in force
    since: datetime | None = None
    until: datetime | None = None
    first: int = 0  # the number of an event; only this and later ones
    last: int | None = None  # the same; only this and earlier ones

    @property
    def is_narrow(self) -> bool:
        """Whether an index leads to the events, so that the rest of the log is not read."""
        return any(
            (
                *("" not in each and each for each in (self.calls, self.traces, self.runs)),
                _among(self.kinds, _RARE_KINDS),
                _among(self.decisions, _RARE_DECISIONS),
            )
        )

    def fits(self, event: JsonObject) -> bool:
        """Whether an event is wanted, as far as only its body tells."""
        body = event.get("body")
        told = body if isinstance(body, dict) else {}
        return all(_says(told, names) in wanted for wanted, names in self._told())

    def _told(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        for field, names in _TOLD.items():
            values: tuple[str, ...] = getattr(self, field)
            if values:
                yield values, names

    @property
    def is_told(self) -> bool:
        """Whether the bodies have to be looked into."""
        return any(True for _ in self._told())


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers of events, from the first to the last of them; none where the last is smaller."""

    first: int
    last: int

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.last < self.first

    def begun(self, width: int, *, newest_first: bool) -> tuple["Span", "Span"]:
        """Return the part that is read first, and the rest."""
        if newest_first:
            cut = max(self.first, self.last - width + 1)
            return Span(cut, self.last), Span(self.first, cut - 1)
        cut = min(self.last, self.first + width - 1)
        return Span(self.first, cut), Span(cut + 1, self.last)

    def after(self, seq: int, *, newest_first: bool) -> "Span":
        """Return what is left once an event was read."""
        return Span(self.first, seq - 1) if newest_first else Span(seq + 1, self.last)


def span(transaction: Transaction, wanted: Selection) -> Span:
    """Return the numbers between which all that is wanted lies, by time and by number."""
    parts, parameters = _times(wanted)
    if parts:
        (row,) = transaction.fetch("span_of_events", parameters, where=_where(parts))
        first, last = row.integer("first"), row.integer("last")
    else:
        first, last = 1, transaction.fetch("last_seq", {})[0].integer("seq")
    return Span(max(first, wanted.first), last if wanted.last is None else min(last, wanted.last))


def within(
    transaction: Transaction, wanted: Selection, span: Span, limit: int, *, newest_first: bool
) -> list[StoredEvent]:
    """Return the events of a span that columns say are wanted, in the order that is asked for."""
    parts, parameters = _times(wanted)
    for field, text in _COLUMNS.items():
        values: tuple[str, ...] = getattr(wanted, field)
        if values:
            parts.append(text)
            parameters[field] = _listed([column(value) for value in values])
    if wanted.runs and "" not in wanted.runs:
        parts.append("run_id <> ''")  # as the partial index has it
    if _among(wanted.kinds, _RARE_KINDS):
        parts.append(_IS_RARE_KIND)
    if _among(wanted.decisions, _RARE_DECISIONS):
        parts.append(_IS_RARE_DECISION)
    for field, needles in _needles(wanted):
        parts.append(_CONTAINS[field])
        parameters[field] = _listed(needles)
    parts += ["seq >= :first", "seq <= :last"]
    parameters |= {"first": span.first, "last": span.last, "limit": limit}
    name = "query_events_newest" if newest_first else "query_events"
    rows = transaction.fetch(name, parameters, where=_where(parts))
    return [StoredEvent(seq=row.integer("seq"), body=row.text("body").encode()) for row in rows]


def names(transaction: Transaction, *, first: int, last: int) -> dict[str, set[str]]:
    """Return the tenants, actors and tools that events of a part of the log name, by field."""
    rows = transaction.fetch("names_in_events", {"first": first, "last": last})
    columns = {"tenants": "tenant", "actors": "actor_user", "tools": "tool"}
    return {field: {row.text(column) for row in rows} - {""} for field, column in columns.items()}


def _times(wanted: Selection) -> tuple[list[str], dict[str, Value]]:
    parts: list[str] = []
    parameters: dict[str, Value] = {}
    for name, text, at in (
        ("since", "at >= :since", wanted.since),
        ("until", "at < :until", wanted.until),
    ):
        if at is not None:
            parts.append(text)
            parameters[name] = microseconds(at)
    return parts, parameters


def _needles(wanted: Selection) -> Iterator[tuple[str, list[str]]]:
    """Yield patterns that the text of every wanted event matches, though of others as well.

    An event is written compactly, and quotes inside of its texts are escaped.
    """
    for field, names in _TOLD.items():
        values: tuple[str, ...] = getattr(wanted, field)
        if values and "" not in values:
            pairs = [(name, value) for name in names for value in values]
            yield field, [f"%{_written(*pair).translate(_ESCAPED)}%" for pair in pairs]


def _written(name: str, value: str) -> str:
    clean = value.encode("utf-8", "replace").decode()  # what a terminal gave may be no text
    return jsontext.dump({name: clean}).decode()[1:-1]


def _says(body: JsonObject, names: tuple[str, ...]) -> str:
    found: Json = next((body[name] for name in names if body.get(name)), "")
    return found if isinstance(found, str) else ""


def _among(values: tuple[str, ...], some: frozenset[str]) -> bool:
    return bool(values) and some.issuperset(values)


def _listed(values: list[str]) -> str:
    return jsontext.dump([*values]).decode()


def _where(parts: list[str]) -> str:
    return "WHERE " + " AND ".join(parts)
