"""What tickets are written with: the log, the index of values, spans and metrics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.events.redact import Redactor
from gateway.telemetry.context import Trace
from gateway.types.calls import ProposedCall
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.records import CallRecord


class Journal(Protocol):
    """The event log, as far as calls need it."""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        """Hand events over, in order; ends of what was sent are `owed` a place.

        Raises StoreUnavailable when nothing more can be held.
        """
        ...

    async def kept(self) -> None:
        """Return once everything handed over so far is committed. Raises StoreUnavailable."""
        ...

    @property
    def failing(self) -> str:
        """Why events are not being committed right now, or an empty text."""
        ...


class Telemetry(Protocol):
    """Spans and metrics of finished calls."""

    @property
    def is_traced(self) -> bool:
        """Whether spans are exported."""
        ...

    def trace_for(self, call: ProposedCall) -> Trace:
        """Continue the caller's trace, or begin one."""
        ...

    def outgoing(self, trace: Trace) -> str:
        """Return the `traceparent` for the downstream, or an empty text."""
        ...

    def record(self, record: CallRecord) -> None:
        """Take a finished call; never waits, never raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenValue:
    """One identifier of one record of a result."""

    type: str
    value: Json
    record: str


class Books(Protocol):
    """What tickets are written with, the same for all of them."""

    @property
    def journal(self) -> Journal:
        """The event log."""
        ...

    @property
    def telemetry(self) -> Telemetry:
        """Spans and metrics."""
        ...

    @property
    def redactor(self) -> Redactor:
        """Takes out what nobody may read."""
        ...

    @property
    def digest(self) -> Callable[[str, Json], str]:
        """Tenant and value to a keyed digest."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    @property
    def reads_wait_for_log(self) -> bool:
        """Whether reads are refused as soon as the log fails."""
        ...


def yielded(case: Case, result: JsonObject) -> list[SeenValue]:
    """Find the yielded identifiers; values of one list item or object share a record."""
    structured = result.get("structuredContent")
    found: list[SeenValue] = []
    for wanted in case.contract.yields:
        for pointer, value in jsontext.walk(structured, wanted.path):
            if isinstance(value, str | int) and not isinstance(value, bool):
                record = f"{case.call.call_id}{pointer.rpartition('/')[0]}"
                found.append(SeenValue(type=wanted.type, value=value, record=record))
    return found[:20_000]  # more would be a way to fill the store
