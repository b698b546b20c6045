"""What made-up callers leave behind, in memory: a log, a clock that goes with each look, limits."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.crossing.books import Sealing, UnderWay
from gateway.crossing.usual import Usual
from gateway.events.envelope import Origin as Writer
from gateway.events.envelope import to_bytes
from gateway.events.redact import Redactor
from gateway.store.events import EventFilter, StoredEvent
from gateway.store.times import microseconds
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.audit import Level
from gateway.types.decisions import Limit
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.records import CallRecord
from tests.helpers.cases import NOW

WRITER: Final = Writer(instance="made-up", version="0")


@dataclass
class MemoryLog:
    """A log that is read as the store's is; kept in memory."""

    kept: list[StoredEvent] = field(default_factory=list[StoredEvent])
    of_calls: dict[str, list[StoredEvent]] = field(
        default_factory=lambda: defaultdict[str, list[StoredEvent]](list)
    )

    def add(self, event: Event) -> None:
        """Keep one event."""
        stored = StoredEvent(seq=len(self.kept) + 1, body=to_bytes(event, WRITER))
        self.kept.append(stored)
        self.of_calls[event.call].append(stored)

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return the events after a number, or those of a call or of some."""
        if wanted.call or wanted.few_calls:
            calls = {wanted.call, *wanted.few_calls} - {""}
            found = [event for call in calls for event in self.of_calls[call]]
            return sorted(found, key=lambda event: event.seq)[: wanted.limit]
        return self.kept[wanted.after : wanted.after + wanted.limit]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return sum(len(each.body) for each in self.kept)


@dataclass
class Clock:
    at: datetime = NOW

    def now(self) -> datetime:
        self.at += timedelta(microseconds=137)
        return self.at

    def time_ns(self) -> int:
        return microseconds(self.at) * 1000

    def monotonic(self) -> float:
        return self.time_ns() / 1e9


@dataclass
class Journal:
    """Keeps what is appended in a log."""

    log: MemoryLog
    failing: str = ""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del durable, owed
        for event in events:
            self.log.add(event)

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        made = [each for each in make() if isinstance(each, Event)]
        assert len(made) <= most
        self.append(made, owed=owed)

    def catch_up(self) -> None:
        """Nothing was put off."""

    async def kept(self) -> None:
        """Everything is."""


class Unsealed:
    """Seals nothing."""

    def sealed(self, event: Event, arguments: JsonObject) -> Event:
        """Return an event as it is."""
        del arguments
        return event


class Untraced:
    def __init__(self) -> None:
        self._telemetry = Telemetry.start(TelemetryOptions(), {})
        self.is_traced = False
        self.trace_for = self._telemetry.trace_for
        self.outgoing = self._telemetry.outgoing
        self.has_stencils = False
        self.stencil = self._telemetry.stencil
        self.record_alike = self._telemetry.record_alike

    def record(self, record: CallRecord) -> None:
        del record


class Books:
    """What tickets are written with."""

    def __init__(self, log: MemoryLog, clock: Clock) -> None:
        self.journal = Journal(log)
        self.telemetry = Untraced()
        self.redactor = Redactor(lambda tenant: tenant.encode())
        self.clock = clock
        self.reads_wait_for_log = False
        self.level = Level.FULL
        self.under_way = UnderWay()
        self.usual: Usual | None = None
        self.sealer: Sealing = Unsealed()

    def digest(self, tenant: str, value: Json) -> str:
        """Return what stands for a value."""
        return jsontext.digest([tenant, value])


@dataclass
class Counters:
    """Limits as the store counts them."""

    taken: dict[tuple[str, str], list[tuple[float, int, str]]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[tuple[float, int, str]]](list)
    )

    def take(self, call: str, limits: Sequence[Limit], now: int) -> str:
        """Take of all limits or of none, and say which had no room."""
        for limit in limits:
            rows = [each for each in self.taken[limit.id, limit.key] if each[1] > now]
            self.taken[limit.id, limit.key] = rows
            most = limit.maximum + abs(limit.maximum) * 1e-9
            if sum(amount for amount, *_ in rows) + limit.amount > most:
                return limit.id
        for limit in limits:
            until = now + round(limit.window_s * 1_000_000)
            self.taken[limit.id, limit.key].append((limit.amount, until, call))
        return ""

    def release(self, call: str) -> None:
        """Give back what a call took."""
        for place, rows in self.taken.items():
            self.taken[place] = [each for each in rows if each[2] != call]
