"""What tickets are written with: the log, the index of values, spans and metrics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.usual import Usual
from gateway.events.redact import Redactor
from gateway.results import documents, evidence, yields
from gateway.results.evidence import Reference
from gateway.telemetry.context import Trace
from gateway.telemetry.stencils import Spanned, Stencil
from gateway.types.audit import Level
from gateway.types.calls import Method, ProposedCall
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.records import CallRecord
from gateway.types.tools import Effect, Form, SourceTrust


class Journal(Protocol):
    """The event log, as far as calls need it."""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        """Hand events over, in order; ends of what was sent are `owed` a place.

        Raises StoreUnavailable when nothing more can be held.
        """
        ...

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        """Have up to `most` events made a moment later, and handed over in order with the others.

        For what nobody waits for. Raises StoreUnavailable when nothing more can be held; nothing
        is made then.
        """
        ...

    def catch_up(self) -> None:
        """Have what was put off made as soon as the caller gives way: nobody else is to be served.

        Never raises.
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

    @property
    def has_stencils(self) -> bool:
        """Whether calls that are alike can be recorded as such."""
        ...

    def stencil(self, record: CallRecord) -> Stencil | None:
        """Return what calls like a finished one have in common; None where each has more to say."""
        ...

    def record_alike(self, call: Spanned, stencil: Stencil, *, sampled: bool) -> None:
        """Take a finished call like others, which was answered; never waits, never raises."""
        ...


class Sealing(Protocol):
    """Keeps arguments for whoever has the key."""

    def sealed(self, event: Event, arguments: JsonObject) -> Event:
        """Return an event with a sealed copy of arguments beside it; raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenValue:
    """One identifier of one record of a result."""

    type: str
    value: Json
    record: str
    trust: SourceTrust = SourceTrust.TENANT
    form: Form = Form.ID


@dataclass(slots=True)
class UnderWay:
    """How many calls are between their beginning and their end."""

    calls: int = 0


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
    def sealer(self) -> Sealing:
        """Seals arguments, of calls whose contract wants that."""
        ...

    @property
    def level(self) -> Level:
        """How much events keep of a call whose contract does not say."""
        ...

    @property
    def usual(self) -> Usual | None:
        """Writes the events of most reads at once, if the journal takes what is written."""
        ...

    @property
    def under_way(self) -> UnderWay:
        """How many calls there are just now."""
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
    if not case.contract.yields:
        return []
    data = yields.data_of(result, is_task=case.call.method is Method.GET_TASK)
    return [
        SeenValue(
            type=each.declared.type,
            value=each.value,
            record=case.call.call_id + each.record,
            trust=each.declared.trust,
            form=each.declared.form,
        )
        for each in yields.found(case.contract.yields, data)
    ]


def documents_of(case: Case, result: JsonObject) -> list[Reference]:
    """Name the documents that a read brought: those of a resource, or where its contract says."""
    if case.effect is not Effect.READ:
        return []
    if case.call.method is Method.READ_RESOURCE:
        return [
            Reference(source=each.uri, version=each.version)
            for each in documents.found(result, case.tool.definition)
        ]
    paths = case.contract.retrieval.documents if case.contract.retrieval is not None else None
    if paths is None:
        return []
    data = yields.data_of(result, is_task=case.call.method is Method.GET_TASK)
    return evidence.references(paths, data)
