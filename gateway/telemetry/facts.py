"""What telemetry may know of a finished call: no argument, no result, no text from outside."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.telemetry import context
from gateway.types.actors import Actor
from gateway.types.approvals import Approval, ApprovalState
from gateway.types.calls import Method, TraceContext
from gateway.types.decisions import DecisionEffect, ShadowDecision
from gateway.types.observed import Would
from gateway.types.outcomes import TABLE, ErrorClass, Status
from gateway.types.records import CallRecord
from gateway.types.tools import Kind, Tool

UNKNOWN_TOOL: Final = "_unknown"  # stands for every name that no server has
_URI: Final = 512  # characters of a URI
TOOL_ERROR: Final = "tool_error"  # the MCP convention's `error.type` for `isError` results
CODES: Final = frozenset(Status) | {TOOL_ERROR}  # a span's status has no other text, but numbers

# What a name stands for that no server has; completion alone doesn't say.
_KIND_OF: Final = {
    Method.CALL_TOOL: Kind.TOOL,
    Method.GET_TASK: Kind.TOOL,
    Method.UPDATE_TASK: Kind.TOOL,
    Method.CANCEL_TASK: Kind.TOOL,
    Method.GET_PROMPT: Kind.PROMPT,
    Method.READ_RESOURCE: Kind.RESOURCE,
    Method.SUBSCRIBE: Kind.RESOURCE,
}

# A refusal is an answer, not a failure, like a 4xx on an HTTP server span: the caller has to
# change something. What the tool or the environment did wrong is a failure.
FAILURES: Final = frozenset(
    status
    for status, row in TABLE.items()
    if row.error_class in {ErrorClass.TOOL, ErrorClass.ENVIRONMENT, ErrorClass.VERIFICATION}
)


# Not frozen: one is made on the path of every call, and freezing doubles what that costs.
@dataclass(slots=True, kw_only=True)
class CallFacts:
    """A lean copy of a record, so that a queue of them is small whatever the arguments were.

    INVARIANT: the only values here that a caller chose are its request id, its trace context, its
    address, and the URI of a resource, which is redacted; `content` is the redacted form and empty
    unless the operator asked for it.
    """

    trace_id: str
    server_span: str
    authorize_span: str
    client_span: str
    parent: TraceContext | None
    link: TraceContext | None
    asked_by: TraceContext | None  # the call whose request for approval this one used
    sampled: bool
    received_ns: int
    judged_ns: int
    sent_ns: int
    answered_ns: int
    closed_ns: int
    call_id: str
    request_id: str
    cause: str  # why the gateway made the call by itself
    protocol: str
    transport: str
    peer: str
    method: Method
    tool: Tool | None
    resource: str  # the URI of a resource, redacted
    actor: Actor | None
    run_id: str
    approval_id: str
    phase: str
    effect: str
    risk: str
    verdict: str  # the policy's word; empty when the call was not judged
    code: str  # the decision's
    rule: str
    revision: str
    shadow: tuple[ShadowDecision, ...]
    observed: str  # what would have become of it; empty where decisions are enforced
    status: Status
    reason: str  # a code finer than the status; a limit's id when a limit refused
    executed: str
    error_code: int | None
    tool_error: bool
    downstream_transport: str
    downstream_address: str
    downstream_version: str
    digest: str
    result_size: int
    redactions: int
    content: str

    @property
    def enforcement(self) -> str:
        """Return whether the verdict was carried out."""
        return "observed" if self.observed else "enforced"

    @property
    def server(self) -> str:
        """Return the downstream's name from the configuration."""
        return self.tool.server if self.tool is not None else UNKNOWN_TOOL

    @property
    def tool_name(self) -> str:
        """Return the tool's name as its server has it."""
        return self.tool.name if self.tool is not None else UNKNOWN_TOOL

    @property
    def kind(self) -> Kind | None:
        """Return what the call is about; None when that can't be told."""
        return self.tool.kind if self.tool is not None else _KIND_OF.get(self.method)

    @property
    def target(self) -> str:
        """Return the name that may stand in span names and labels; resources have none."""
        return self.tool_name if self.kind in (Kind.TOOL, Kind.PROMPT) else ""

    @property
    def failure(self) -> str:
        """Return `error.type` of the whole call; empty for success and for refusals."""
        if self.tool_error:
            return TOOL_ERROR
        if self.status not in FAILURES:
            return ""
        return self.status.value if self.error_code is None else str(self.error_code)

    @property
    def downstream_failure(self) -> str:
        """Return `error.type` of what the downstream did, which is not all that can go wrong."""
        if self.tool_error:
            return TOOL_ERROR
        if self.error_code is not None:
            return str(self.error_code)
        return self.failure if not self.answered_ns else ""


@dataclass(slots=True, kw_only=True)
class ApprovalFacts:
    """What telemetry may know of a request for approval that has ended, and its own short span."""

    approval_id: str
    server: str
    tool: str  # as the server has it
    outcome: str
    quorum: int
    risk: str
    rule: str
    revision: str
    tenant: str
    run_id: str
    call_id: str  # the call that asked
    asked_by: TraceContext | None  # its span
    trace_id: str
    span_id: str
    created_ns: int
    ended_ns: int

    @property
    def wait_s(self) -> float:
        """Return the seconds from the request to its end."""
        return max(0, self.ended_ns - self.created_ns) / 1e9


SpanItem: TypeAlias = CallFacts | ApprovalFacts | bytes
"""What spans are made of, or spans of one call as they stand in a request to a collector."""

_unset: Final = object.__new__


def approval_facts(
    approval: Approval, *, ended_at: int, asked_by: TraceContext | None, ids: tuple[str, str]
) -> ApprovalFacts:
    """Copy what span and metric are made of; `ended_at` is in microseconds, `ids` of the span."""
    # What was used was approved, or it would not have been.
    was_used = approval.state is ApprovalState.CONSUMED
    outcome = ApprovalState.APPROVED if was_used else approval.state
    trace_id, span_id = ids
    return ApprovalFacts(
        approval_id=approval.approval_id,
        server=approval.server,
        tool=approval.tool.removeprefix(f"{approval.server}."),
        outcome=outcome.value,
        quorum=approval.clause.quorum,
        risk=approval.risk,
        rule=approval.rule,
        revision=approval.revision,
        tenant=approval.tenant,
        run_id=approval.run_id[:128],
        call_id=approval.call_id,
        asked_by=asked_by,
        trace_id=trace_id,
        span_id=span_id,
        created_ns=approval.created_at * 1000,
        ended_ns=ended_at * 1000,
    )


def facts_of(record: CallRecord, content: str = "") -> CallFacts:
    """Copy what spans and metrics are made of; the record itself is free to go."""
    call = record.call
    # Field by field: a constructor takes forty keywords apart, which is five times the work.
    facts = _unset(CallFacts)
    facts.trace_id = record.trace_id
    facts.server_span = record.server_span
    facts.authorize_span = record.authorize_span
    facts.client_span = record.client_span
    facts.parent = record.parent
    facts.link = record.link
    facts.asked_by = context.parse(record.asked_by) if record.asked_by else None
    facts.sampled = record.sampled
    facts.received_ns = record.received_ns
    facts.judged_ns = record.judged_ns
    facts.sent_ns = record.sent_ns
    facts.answered_ns = record.answered_ns
    facts.closed_ns = record.closed_ns
    facts.call_id = call.call_id
    facts.request_id = call.request_id[:64]
    facts.cause = call.cause
    facts.protocol = call.caller.protocol_version[:32]
    facts.transport = call.caller.transport
    facts.peer = call.peer[:256]
    facts.method = call.method
    facts.digest = record.arguments_digest
    facts.content = content if call.method is Method.CALL_TOOL else ""
    _judged(facts, record)
    _ended(facts, record)
    return facts


def _judged(facts: CallFacts, record: CallRecord) -> None:
    decision = record.decision
    facts.tool = record.tool
    facts.resource = record.resource[:_URI]
    facts.actor = record.actor
    facts.run_id = record.run_id[:128]
    facts.approval_id = record.approval_id
    facts.phase = record.phase
    facts.effect = record.effect or ""
    facts.risk = record.risk or ""
    facts.verdict = _verdict(record)
    facts.code = _code(record)
    facts.rule = decision.rule if decision is not None else ""
    facts.revision = decision.revision if decision is not None else ""
    facts.shadow = decision.shadow if decision is not None else ()
    facts.observed = record.observed.would if record.observed is not None else ""


def _ended(facts: CallFacts, record: CallRecord) -> None:
    facts.status = record.status
    facts.reason = record.code
    facts.executed = record.executed
    facts.error_code = record.error_code
    facts.tool_error = record.tool_error
    facts.downstream_transport = record.downstream_transport
    facts.downstream_address = record.downstream_address
    facts.downstream_version = record.downstream_version[:32]
    facts.result_size = record.result_size
    facts.redactions = record.redactions


def _verdict(record: CallRecord) -> str:
    if record.observed is not None and record.observed.would is Would.DENY:
        return DecisionEffect.DENY
    if record.decision is None or record.status is Status.DENIED:  # a check before or after policy
        return DecisionEffect.DENY if record.judged_ns else ""
    return record.decision.effect


def _code(record: CallRecord) -> str:
    if record.observed is not None and record.observed.code:
        return record.observed.code
    # What an allowed call came to later, such as a downstream's error code, is not the decision's.
    if record.decision is not None and _verdict(record) != DecisionEffect.DENY:
        return record.decision.code
    return record.code or (record.decision.code if record.decision is not None else "")
