"""One read on its short way: what of it is its own, and its events, spans and metrics."""

from collections.abc import Sequence
from typing import Final

from gateway.case import Case, Verdict
from gateway.crossing.ticket import Ticket
from gateway.crossing.usual import is_told
from gateway.events.snapshots import ANY_TIME
from gateway.express.track import Track
from gateway.relay.outbound import NO_HEADERS
from gateway.steps.record import Record
from gateway.telemetry.context import Trace
from gateway.types.calls import Method, ProposedCall
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound
from gateway.types.values import maker, replaced

_outbound = maker(Outbound)
_CALL_TOOL: Final = Method.CALL_TOOL
_SHOWN: Final = 64  # characters of a request's id in spans
_PEER: Final = 256


class Ride:
    """What a `CallRecord` and a `Case` say of other calls, as far as it is of this one alone.

    Times are wall times in nanoseconds since the epoch; 0: it has not come to that yet.
    """

    __slots__ = (
        "_books",
        "_case",
        "_ticket",
        "answered_ns",
        "arguments_digest",
        "authorize_span",
        "call",
        "client_span",
        "closed_ns",
        "ended_at",
        "judged_ns",
        "outbound",
        "parent",
        "received_ns",
        "redactions",
        "result",
        "result_digest",
        "result_size",
        "run_id",
        "sent_at",
        "sent_ns",
        "server_span",
        "trace",
        "trace_id",
        "track",
        "written",
    )

    def __init__(
        self,
        track: Track,
        call: ProposedCall,
        trace: Trace,
        times: tuple[int, int],
        books: Record,
        *,
        written: bytes,
        case: Case | None,
    ) -> None:
        """Begin, with a call that was received and judged; `written` are its arguments as JSON."""
        self.track, self.call, self.trace = track, call, trace
        self.received_ns, self.judged_ns = times
        self.trace_id, self.parent = trace.trace_id, trace.parent
        self.server_span = trace.server_span
        self.authorize_span = trace.authorize_span
        self.client_span = trace.client_span
        self.sent_ns = self.answered_ns = self.closed_ns = self.result_size = self.redactions = 0
        self.arguments_digest = self.result_digest = ""
        self.run_id = "" if case is None else case.run_id
        self.written = written
        self.result: JsonObject = {}  # as it leaves, but for what the envelope adds
        self._books, self._case = books, case
        self._ticket: Ticket | None = None

    # As spans have it

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self.call.call_id

    @property
    def request_id(self) -> str:
        """The id of its request."""
        return self.call.request_id[:_SHOWN]

    @property
    def peer(self) -> str:
        """The address of its caller."""
        return self.call.peer[:_PEER]

    @property
    def digest(self) -> str:
        """The digest of its arguments."""
        return self.arguments_digest

    def sends(self, traceparent: str) -> Outbound:
        """Return the request to its server."""
        track, call = self.track, self.call
        self.outbound = _outbound(
            method=_CALL_TOOL,
            params={"name": track.case.tool.name, "arguments": call.arguments},
            deadline_s=track.deadline_s,
            is_read=True,
            traceparent=traceparent,
            era=call.caller.era,
            headers=NO_HEADERS,
            written=self.written,
        )
        return self.outbound

    # Its events, made when nobody waits

    def decided(self) -> Sequence[Event | EventRow]:
        """Return the decision about it."""
        call, at, case = self.call, self.sent_at, self._case
        self.arguments_digest = self._books.digest(call.principal.tenant, call.arguments)
        is_plain = at - call.received_at <= ANY_TIME if case is None else is_told(self, case, at)
        track = self.track
        row = track.usual.decision(track.forms, self, case, at, self.written) if is_plain else None
        return (row or self.ticket.passed(at),)

    def ended(self) -> Sequence[EventRow]:
        """Return how it ended and what it retrieved, and have it counted."""
        books = self._books
        self.result_digest = books.digest(self.call.principal.tenant, self.result)
        rows = self.track.usual.end(self.track.forms, self, self.ended_at)
        books.telemetry.record_alike(self, self.track.stencil, sampled=self.trace.sampled)
        return rows

    # Where it turns out to be like no other

    @property
    def case(self) -> Case:
        """The case of the call, as if it had been judged at length."""
        if self._case is None:
            known, call = self.track.case, self.call
            facts = replaced(known.facts, now=call.received_at)
            self._case = replaced(known, call=call, facts=facts, arguments=call.arguments)
        return self._case

    @property
    def ticket(self) -> Ticket:
        """Its ticket, as if it had been opened in the beginning, and the call been sent by it."""
        if self._ticket is None:
            ticket = self._books.ticket(self.call, self.trace, self.received_ns)
            self._ticket = ticket
            ticket.record.arguments_digest = self.arguments_digest
            ticket.judged(Verdict(case=self.case, refusal=None, findings=()))
            ticket.record.judged_ns = self.judged_ns
        ticket = self._ticket
        # Its decision may have wanted it before it was sent, where events are made at once.
        if self.sent_ns and not ticket.record.sent_ns:
            ticket.committed()
            ticket.record.sent_ns = self.sent_ns
            ticket.sending()
        return ticket
