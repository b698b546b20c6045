"""Step 14: what happened, kept in order; events, spans and metrics are views of one record."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.books import Journal, SeenValue, Telemetry, yielded
from gateway.crossing.ticket import Ticket
from gateway.errors import StoreUnavailable
from gateway.events.redact import Redactor
from gateway.steps.resolve import actor_of
from gateway.types.actors import Actor
from gateway.types.calls import ProposedCall
from gateway.types.json import Json
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord

_log = logging.getLogger("weighbridge")


class Seen(Protocol):
    """The index of identifiers that results brought into play."""

    async def remember(self, actor: Actor, tool: str, found: Sequence[SeenValue]) -> None:
        """Keep values of one result; raises StoreUnavailable."""
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
    reads_wait_for_log: bool = False  # reads are refused as soon as the log fails

    def open(self, call: ProposedCall) -> Ticket:
        """Begin the record of a call."""
        trace = self.telemetry.trace_for(call)
        record = CallRecord(
            call=call,
            parent=trace.parent,
            link=trace.link,
            trace_id=trace.trace_id,
            server_span=trace.server_span,
            authorize_span=trace.authorize_span,
            client_span=trace.client_span,
            sampled=trace.sampled,
            received_ns=self.clock.time_ns(),
            actor=actor_of(call.principal),
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

    async def seen(self, case: Case, answer: Answer) -> None:
        """Remember the identifiers that the contract says a result yields.

        A store that is away costs the caller nothing now: later calls that depend on the
        identifiers are refused, which is the safe end.
        """
        found = yielded(case, answer.result)
        if not found:
            return
        try:
            await self.seen_values.remember(case.actor, case.tool.key, found)
        except StoreUnavailable as error:
            _log.warning("the values that %s returned were not kept: %s", case.tool.key, error)
