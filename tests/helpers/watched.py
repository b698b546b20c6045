"""A log and telemetry that export nowhere and show what they would have, for what is held together.

Time stands still but where somebody says that it passes.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.errors import StoreUnavailable
from gateway.events.envelope import Origin as Writer
from gateway.store.event_rows import row_of
from gateway.store.times import microseconds
from gateway.telemetry.context import Trace
from gateway.telemetry.facts import CallFacts
from gateway.telemetry.meters import Meters
from gateway.telemetry.spans import SpanBuilder
from gateway.telemetry.stencils import Timed
from gateway.telemetry.telemetry import Telemetry
from gateway.telemetry.usual import CallWriter
from gateway.telemetry.wire import SpanEncoder
from gateway.types.calls import ProposedCall
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from tests.helpers.cases import NOW

ORIGIN: Final = Writer(instance="two-ways", version="0")
LIMIT: Final = 200  # characters of an attribute


class Clock:
    """Stands still, until somebody is waited for."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at

    def time_ns(self) -> int:
        return microseconds(self.at) * 1000

    def monotonic(self) -> float:
        return self.time_ns() / 1e9

    def passes(self, ms: float) -> None:
        self.at += timedelta(milliseconds=ms)


class Journal:
    """Keeps rows that are made as late as may be, or at once: a log may do either."""

    def __init__(self, *, is_at_once: bool) -> None:
        self._is_at_once = is_at_once
        self.failing = ""
        self.takes: Callable[[], bool] = lambda: True
        self.refused = 0  # events that nobody has
        self.caught_up = 0
        self.owed: list[tuple[int, bool]] = []  # of each that was put off
        self._rows: list[EventRow] = []
        self._later: list[tuple[Callable[[], Sequence[Event | EventRow]], int]] = []

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del durable, owed
        self._wanted(len(events))
        self._make()
        self._rows += [row_of(each, ORIGIN) for each in events]

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        self.owed.append((most, owed))
        self._wanted(most)
        self._later.append((make, most))
        if self._is_at_once:
            self._make()

    def _wanted(self, count: int) -> None:
        if not self.takes():
            self.refused += count
            raise StoreUnavailable("no room")

    def catch_up(self) -> None:
        self.caught_up += 1

    def _make(self) -> None:
        waiting, self._later = self._later, []
        for make, most in waiting:
            try:
                made = make()
            except Exception:  # as the store does: there is a gap
                if self._is_at_once:
                    raise
                self.refused += most
                continue
            assert len(made) <= most
            self._rows += [
                row_of(each, ORIGIN) if isinstance(each, Event) else each for each in made
            ]

    async def kept(self) -> None:
        """Everything is."""

    def taken(self) -> list[EventRow]:
        """Return what was kept since it was asked last."""
        self._make()
        taken, self._rows = self._rows, []
        return taken


class Lane:
    """Keeps what would be exported."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def put(self, item: Any) -> None:
        self.items.append(item)


class _Series:
    def __init__(self, kept: list[object], name: object, labels: dict[str, str]) -> None:
        self._kept, self._said = kept, (str(name), tuple(sorted(labels.items())))

    def record(self, value: float) -> None:
        self._kept.append((*self._said, value))

    def add(self, value: float, labels: dict[str, str]) -> None:
        self._kept.append((*self._said, tuple(sorted(labels.items())), value))


class _Instruments:
    """Instruments that say what they were given."""

    lock = nullcontext()

    def __init__(self) -> None:
        self.kept: list[object] = []

    def of(self, name: object, labels: dict[str, str]) -> _Series:
        return _Series(self.kept, name, labels)

    def create_counter(self, name: object, *_: object) -> _Series:
        return _Series(self.kept, name, {})


class Watched(Telemetry):
    """Telemetry that exports nowhere; with `is_early` spans are written where calls end."""

    def watch(self, *, is_early: bool) -> "Watched":
        self.spans, self.measured = Lane(), Lane()
        self.traces: dict[int, tuple[ProposedCall, Trace]] = {}
        self._instruments: Any = _Instruments()
        self._meters = Meters(self._instruments, self._instruments)
        sees: Any = self
        sees._traces, sees._metrics = self.spans, self.measured
        self.writer = CallWriter(
            SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}"),
            SpanEncoder({"service.name": "gw"}, LIMIT),
            LIMIT,
        )
        if is_early:
            sees._early, sees._early_for = self.writer.at_once, self.writer.writer_for
        return self

    def trace_for(self, call: ProposedCall) -> Trace:
        """Give a call one place however often it is asked: two draw two ids, which nobody sees."""
        found = self.traces.get(id(call))
        if found is None or found[0] is not call:
            found = self.traces[id(call)] = call, super().trace_for(call)
        return found[1]

    def written(self) -> list[bytes]:
        """Return the spans since it was asked last."""
        self.traces.clear()
        taken, self.spans.items = self.spans.items, []
        return [
            b"".join(self.writer.written(each)) if isinstance(each, CallFacts) else each
            for each in taken
        ]

    def metered(self) -> tuple[list[object], int]:
        """Return what was counted since it was asked last, and how many calls as alike."""
        taken, self.measured.items = self.measured.items, []
        for each in taken:
            self._meters.record([each])
        kept, self._instruments.kept[:] = list(self._instruments.kept), []
        return kept, sum(isinstance(each, Timed) for each in taken)
