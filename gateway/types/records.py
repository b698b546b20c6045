"""The record of one call as it went; events, spans and metrics are views of it."""

from dataclasses import dataclass
from typing import Protocol

from gateway.types.actors import Actor
from gateway.types.audit import Level
from gateway.types.calls import ProposedCall, TraceContext
from gateway.types.decisions import Decision
from gateway.types.json import JsonObject
from gateway.types.observed import Observed
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Contract, Effect, Risk, Tool


@dataclass(slots=True, kw_only=True)
class CallRecord:
    """Filled in while the call goes its way, by the ticket only; complete once `closed_ns` is set.

    The `_ns` fields are wall times in nanoseconds since the epoch; 0 means it did not come to that.
    """

    call: ProposedCall
    parent: TraceContext | None  # the caller's span
    trace_id: str
    server_span: str  # ids of the spans, made before the spans are
    authorize_span: str
    client_span: str
    sampled: bool = True
    link: TraceContext | None = None  # a caller's span that is not our parent
    received_ns: int = 0
    judged_ns: int = 0
    sent_ns: int = 0
    answered_ns: int = 0
    closed_ns: int = 0
    tool: Tool | None = None
    resource: str = ""  # the URI of a resource, redacted
    contract: Contract | None = None
    actor: Actor | None = None
    run_id: str = ""
    op_id: str = ""  # the operation that the call is about, if it is about one
    approval_id: str = ""  # the request that the call asked people with, or was sent under
    asked_by: str = ""  # `traceparent` of the call that asked, where it was another one
    phase: str = ""
    effect: Effect | None = None
    risk: Risk | None = None
    decision: Decision | None = None
    level: Level = Level.REQUEST  # how much of it events keep
    revision: str = ""  # that it was judged by, whether or not policy was asked
    status: Status = Status.INTERNAL
    code: str = ""
    executed: Execution = Execution.NO
    error_code: int | None = None  # a JSON-RPC error code from the downstream
    tool_error: bool = False  # the downstream's result said isError
    downstream_transport: str = ""  # `http` or `stdio`
    downstream_address: str = ""
    downstream_version: str = ""  # the MCP revision spoken with the downstream
    arguments_digest: str = ""
    result_digest: str = ""
    result_size: int = 0
    redactions: int = 0
    named: JsonObject | None = None  # what its events say of the tool, class and effect above
    observed: Observed | None = None  # what would have become of it; None: decisions are enforced
    observed_result: Observed | None = None  # and of its answer, where that differs

    @property
    def traceparent(self) -> str:
        """The place of the call's own span in its trace, as a W3C header."""
        return f"00-{self.trace_id}-{self.server_span}-{'01' if self.sampled else '00'}"


class Told(Protocol):
    """What the events of a usual read tell of it: a record has it, and what stands for one."""

    call: ProposedCall
    run_id: str
    trace_id: str
    server_span: str
    authorize_span: str
    received_ns: int
    judged_ns: int
    sent_ns: int
    answered_ns: int
    closed_ns: int
    arguments_digest: str
    result_digest: str
    result_size: int
    redactions: int
