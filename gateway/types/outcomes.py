"""How a call ends: statuses, the eight error classes, refusals and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.types.decisions import NO_ROWS, RowCount
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution, Verification, VerificationState
from gateway.types.values import value


class ErrorClass(StrEnum):
    """Where the cause of an unwanted end lies."""

    MODEL = "model"
    TOOL = "tool"
    CONTEXT = "context"
    ROUTING = "routing"
    PERMISSION = "permission"
    ENVIRONMENT = "environment"
    VERIFICATION = "verification"
    HUMAN_FEEDBACK = "human_feedback"


class Status(StrEnum):
    """Every way a call can end; each belongs to exactly one row of `TABLE`."""

    OK = "ok"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    TOOL_CHANGED = "tool_changed"
    TOOL_QUARANTINED = "tool_quarantined"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    PROVENANCE_FAILED = "provenance_failed"
    PHASE_BLOCKED = "phase_blocked"
    RUN_CONFLICT = "run_conflict"
    DENIED = "denied"
    LIMIT_EXCEEDED = "limit_exceeded"
    IN_PROGRESS = "in_progress"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    VARIANT_OF = "variant_of"
    APPROVAL_PENDING = "approval_pending"
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_EXPIRED = "approval_expired"
    TOOL_FAILED = "tool_failed"
    UNAVAILABLE = "unavailable"
    BUSY = "busy"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    INDETERMINATE = "indeterminate"
    INPUT_REQUIRED = "input_required"
    POSTCONDITION_FAILED = "postcondition_failed"
    RESULT_INVALID = "result_invalid"
    RESULT_TOO_LARGE = "result_too_large"
    AUDIT_UNAVAILABLE = "audit_unavailable"
    NOT_RECORDED = "not_recorded"  # by a playback alone, which has no other answers than a run's
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRow:
    """What a status means to a program and to a model."""

    error_class: ErrorClass | None
    retryable: bool
    next: str  # what to do next, for the model


TABLE: Mapping[Status, StatusRow] = {
    Status.OK: StatusRow(error_class=None, retryable=False, next=""),
    Status.UNKNOWN_TOOL: StatusRow(
        error_class=ErrorClass.ROUTING,
        retryable=False,
        next="use a tool name from tools/list",
    ),
    Status.INVALID_ARGUMENTS: StatusRow(
        error_class=ErrorClass.MODEL,
        retryable=True,
        next="correct the named arguments and call again",
    ),
    Status.TOOL_CHANGED: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=False,
        next="an administrator has to review the changed tool; use another tool until then",
    ),
    Status.TOOL_QUARANTINED: StatusRow(
        error_class=ErrorClass.TOOL,
        retryable=False,
        next="the tool's own definition can't be enforced; use another tool",
    ),
    Status.UNAUTHENTICATED: StatusRow(
        error_class=ErrorClass.PERMISSION,
        retryable=False,
        next="present a valid credential for this gateway",
    ),
    Status.FORBIDDEN: StatusRow(
        error_class=ErrorClass.PERMISSION,
        retryable=False,
        next="ask for the missing scope, or leave this step to somebody who has it",
    ),
    Status.PROVENANCE_FAILED: StatusRow(
        error_class=ErrorClass.CONTEXT,
        retryable=True,
        next="look the value up with the named tool first, then call again with what it returned",
    ),
    Status.PHASE_BLOCKED: StatusRow(
        error_class=ErrorClass.CONTEXT,
        retryable=False,
        next="finish what this phase is for before you act",
    ),
    Status.RUN_CONFLICT: StatusRow(
        error_class=ErrorClass.CONTEXT,
        retryable=False,
        next="name one run with a call, or none",
    ),
    Status.DENIED: StatusRow(
        error_class=ErrorClass.PERMISSION,
        retryable=False,
        next="do not repeat this call; choose an action that the policy allows",
    ),
    Status.LIMIT_EXCEEDED: StatusRow(
        error_class=ErrorClass.PERMISSION,
        retryable=True,
        next="wait for the given seconds before the next such call",
    ),
    Status.IN_PROGRESS: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the same call is under way; send it again later, unchanged, to get its answer",
    ),
    Status.IDEMPOTENCY_CONFLICT: StatusRow(
        error_class=ErrorClass.MODEL,
        retryable=False,
        next="nothing was sent; use a new idempotency key for a new request",
    ),
    Status.VARIANT_OF: StatusRow(
        error_class=ErrorClass.MODEL,
        retryable=False,
        next="nothing was sent; repeat the first call unchanged to get its answer, or change what "
        "it is about",
    ),
    Status.APPROVAL_PENDING: StatusRow(
        error_class=ErrorClass.HUMAN_FEEDBACK,
        retryable=True,
        next="do not change the arguments and do not poll; go on with other work, or end your turn "
        "and tell the user who has to approve; once it is approved, call the same tool again with "
        "the same arguments",
    ),
    Status.APPROVAL_EXPIRED: StatusRow(
        error_class=ErrorClass.HUMAN_FEEDBACK,
        retryable=True,
        next="tell the user; calling again with the same arguments asks for approval anew",
    ),
    Status.APPROVAL_DENIED: StatusRow(
        error_class=ErrorClass.HUMAN_FEEDBACK,
        retryable=False,
        next="do not repeat this call; tell the user that a person has to allow it",
    ),
    Status.TOOL_FAILED: StatusRow(
        error_class=ErrorClass.TOOL,
        retryable=False,
        next="read the tool's own message; correct the call or choose another way",
    ),
    Status.UNAVAILABLE: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the call was not carried out; try again later",
    ),
    Status.BUSY: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the call was not carried out; try again after the calls under way have ended",
    ),
    Status.TIMEOUT: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the tool gave no answer in time; nothing was changed; try again or ask for less",
    ),
    Status.CANCELLED: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the caller took the call back",
    ),
    Status.INDETERMINATE: StatusRow(
        error_class=ErrorClass.VERIFICATION,
        retryable=False,
        next="do not repeat this call; find out with a read whether it took effect",
    ),
    Status.INPUT_REQUIRED: StatusRow(
        error_class=None,
        retryable=True,
        next="answer the server's questions and send the same request again",
    ),
    Status.POSTCONDITION_FAILED: StatusRow(
        error_class=ErrorClass.VERIFICATION,
        retryable=False,
        next="the call was carried out but its outcome is not as declared; look before you act on",
    ),
    Status.RESULT_INVALID: StatusRow(
        error_class=ErrorClass.TOOL,
        retryable=False,
        next="the tool answered in a form that breaks its contract; use another tool",
    ),
    Status.RESULT_TOO_LARGE: StatusRow(
        error_class=ErrorClass.TOOL,
        retryable=True,
        next="ask for less: narrow the query, or use the tool's paging",
    ),
    Status.AUDIT_UNAVAILABLE: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=True,
        next="the call was not sent because it could not be recorded; try again later",
    ),
    Status.NOT_RECORDED: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=False,
        next="nothing is carried out while a recorded run is played; make a call that it has",
    ),
    Status.INTERNAL: StatusRow(
        error_class=ErrorClass.ENVIRONMENT,
        retryable=False,
        next="tell the administrator; the gateway's log names the fault",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WireError:
    """A JSON-RPC error: a server's own as received, or a refusal where MCP has no other form."""

    code: int
    message: str
    data: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalTold:
    """What a caller learns of a request for approval: no right comes with any of it."""

    approval_id: str
    url: str = ""  # the page that approvers open; empty where there is none
    decide_by: str = ""  # in ISO 8601
    suggested: JsonObject | None = None  # arguments that an approver would rather have


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer that says no: what was not done, why, and what to do next."""

    status: Status
    reason: str
    code: str = ""  # finer than the status, such as a rule's own code
    rule: str = ""
    executed: Execution = Execution.NO
    retry_after_s: float | None = None
    next: str = ""  # overrides the table's sentence
    hidden: bool = False  # the caller is told `unknown_tool`; only the log knows better
    scopes: tuple[str, ...] = ()  # the scopes that would be needed, for HTTP challenges
    original: JsonObject | None = None  # a downstream result that this refusal replaces or carries
    details: tuple[Mapping[str, Json], ...] = ()  # per argument: pointer, expected, received
    error: WireError | None = None  # a server's own error, which passes as it came
    approval: ApprovalTold | None = None  # the request that a person decides, or has decided
    replayed: bool = False  # the end of an earlier call, told once more

    @property
    def row(self) -> StatusRow:
        """The table's row for this status."""
        return TABLE[self.status]


@value
class Answer:
    """What the client gets from a call that was carried out."""

    result: JsonObject  # the MCP result, normalised
    status: Status = Status.OK
    verification: Verification = field(
        default_factory=lambda: Verification(state=VerificationState.NOT_DECLARED)
    )
    redactions: int = 0
    rows: RowCount = NO_ROWS
    notes: tuple[str, ...] = ()
    replayed: bool = False  # the answer of an earlier call, given once more


@value
class Finished:
    """A call as it leaves: the MCP result or error, and what the transport has to know."""

    result: JsonObject  # empty with an error
    status: Status
    scopes: tuple[str, ...] = ()  # with FORBIDDEN: the scopes that would do
    error: WireError | None = None
