"""Step 14: what happened, kept in order; events, spans and metrics are views of one record."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.books import (
    Journal,
    Sealing,
    SeenValue,
    Telemetry,
    UnderWay,
    documents_of,
    yielded,
)
from gateway.crossing.ticket import Ticket
from gateway.crossing.usual import Usual
from gateway.errors import StoreUnavailable
from gateway.events.redact import Redactor
from gateway.store.sealing import NoSealer
from gateway.store.times import microseconds
from gateway.telemetry.context import Trace
from gateway.types.actors import Actor
from gateway.types.audit import Level
from gateway.types.calls import ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.runs import Evidence, Run
from gateway.types.tools import Effect, Kind

_log = logging.getLogger("weighbridge")


class Seen(Protocol):
    """What callers were given, by run or by actor; every method raises StoreUnavailable."""

    async def remember(
        self, actor: Actor, run_id: str, tool: str, found: Sequence[SeenValue]
    ) -> None:
        """Keep values of one result."""
        ...

    async def taint(self, actor: Actor, run: Run | None, call_id: str) -> None:
        """Note that a call was given a result that others can write: for its run and actor."""
        ...

    async def collect(self, run_id: str, evidence: Sequence[Evidence]) -> None:
        """Keep references to what was read in a run, each once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Opens a ticket for each call."""

    journal: Journal
    telemetry: Telemetry
    redactor: Redactor
    digest: Callable[[str, Json], str]  # tenant, value → keyed digest
    seen_values: Seen
    clock: Clock
    sealer: Sealing = field(default_factory=NoSealer)
    level: Level = Level.REQUEST  # where a contract says nothing
    reads_wait_for_log: bool = False  # reads are refused as soon as the log fails
    usual: Usual | None = None  # writes events of most reads, where the journal takes rows
    under_way: UnderWay = field(default_factory=UnderWay)

    def open(self, call: ProposedCall, received_ns: int = 0) -> Ticket:
        """Begin the record of a call; `received_ns` says when it came, if that was not just now."""
        ticket = self.ticket(call, self.telemetry.trace_for(call), received_ns)
        self.under_way.calls += 1
        return ticket

    def ticket(self, call: ProposedCall, trace: Trace, received_ns: int = 0) -> Ticket:
        """Return the ticket of a call that is counted already, as `open` makes it."""
        record = CallRecord(
            call=call,
            parent=trace.parent,
            link=trace.link,
            trace_id=trace.trace_id,
            server_span=trace.server_span,
            authorize_span=trace.authorize_span,
            client_span=trace.client_span,
            sampled=trace.sampled,
            received_ns=received_ns or self.clock.time_ns(),
            actor=call.principal.actor,
            level=self.level,
        )
        return Ticket(owner=self, record=record, traceparent=self.telemetry.outgoing(trace))

    def fault(self, call: ProposedCall, error: Exception) -> Refusal:
        """Turn a fault of ours into a refusal; its text stays in the log, redacted."""
        _log.error(
            "%s failed: %s: %s", call.call_id, type(error).__name__, self.redactor.text(str(error))
        )
        return Refusal(
            status=Status.INTERNAL,
            code=type(error).__name__,
            reason="the gateway could not handle this call",
            executed=Execution.UNKNOWN,
        )

    async def seen(self, case: Case, answer: Answer | Refusal) -> Answer | Refusal:
        """Remember what a result brings into play, before it leaves; what was filtered never was.

        A store that is away costs the caller nothing now: later calls that depend on what was
        returned are refused, which is the safe end. Only a read that others can write does not
        leave then, since nothing would tell later calls to beware of it.
        """
        try:
            if case.taints and _tells(answer):
                await self.seen_values.taint(case.actor, case.run, case.call.call_id)
        except StoreUnavailable as error:
            _log.error("what %s returned was held back: %s", case.tool.key, error)
            if case.effect is Effect.READ:
                return _not_noted(case)
        if isinstance(answer, Refusal) or answer.status is not Status.OK:
            return answer  # an error brings nothing into play
        try:
            if found := yielded(case, answer.result):
                await self.seen_values.remember(case.actor, case.run_id, case.tool.key, found)
            if case.run_id and (read := self.evidence(case, answer.result)):
                await self.seen_values.collect(case.run_id, read)
        except StoreUnavailable as error:
            _log.warning("the values that %s returned were not kept: %s", case.tool.key, error)
        return answer

    def evidence(self, case: Case, result: JsonObject) -> list[Evidence]:
        """Return references to the documents that a read brought, as they may be kept."""
        at = microseconds(self.clock.now())
        tool = case.tool.key if case.tool.kind is Kind.TOOL else ""
        return [
            Evidence(
                source=self.redactor.text(each.source),
                version=self.redactor.text(each.version),
                chunk=self.redactor.text(each.chunk),
                call_id=case.call.call_id,
                at=at,
                tool=tool,
            )
            for each in documents_of(case, result)
        ]


def _tells(answer: Answer | Refusal) -> bool:
    """Whether something of a server's own reaches the caller."""
    match answer:
        case Answer():
            return True
        case Refusal():
            return answer.original is not None or answer.error is not None


def _not_noted(case: Case) -> Refusal:
    return Refusal(
        status=Status.UNAVAILABLE,
        code="taint_not_kept",
        reason=f"what `{case.tool.server}` answered can be written by others, and the gateway "
        "can't note that now",
        next="try again later",
    )
