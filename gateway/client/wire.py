"""The JSON of `/v1`: what hosts send and what they get; the OpenAPI document is made of this."""

import re
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway.types.runs import Mode, Phase, StopReason, Trust

Json: TypeAlias = JsonValue
MOST_FIELDS: Final = 100
MOST_EVIDENCE: Final = 1_000
MOST_PROPOSED: Final = 100  # calls of tools in one turn
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def _check_text(text: str) -> str:
    if _CONTROL.search(text):
        raise PydanticCustomError("text", "holds a control character")
    return text


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_check_text)]
Line: TypeAlias = Annotated[str, Field(max_length=256), AfterValidator(_check_text)]
Text: TypeAlias = Annotated[str, Field(max_length=4_000), AfterValidator(_check_text)]
Reason: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=1_000), AfterValidator(_check_text)
]
FieldName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]


class Request(BaseModel):
    """What a host sends: a member that nobody knows is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Reply(BaseModel):
    """What a host gets: members that a newer gateway adds are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class OnBehalfOf(Request):
    """Whose run it is, where it is not of the key's own user."""

    user: Name = Field(description="the user, as in the credentials of his agents")
    roles: Annotated[tuple[Name, ...], Field(max_length=100)] = Field(
        default=(), description="his roles, for the record"
    )


class StartRun(Request):
    """A run to be made."""

    objective: Text = Field(default="", description="what it is for, in words for people")
    template: Line = Field(default="", description="the template; without one, nothing is guarded")
    mode: Mode | None = Field(
        default=None, description="who moves it; default: its template's, else `auto`"
    )
    task_id: Line = Field(default="", description="the host's own name for the work")
    parent: Line = Field(default="", description="the run whose sub-agent works in this one")
    scopes: Annotated[tuple[Name, ...], Field(max_length=100)] = Field(
        default=(),
        description="with `parent`: what its calls may use of their agent's scopes, at most",
    )
    fields: Annotated[dict[FieldName, JsonValue], Field(max_length=MOST_FIELDS)] = Field(
        default_factory=dict[FieldName, JsonValue],
        description="what is known already, on the host's word",
    )
    on_behalf_of: OnBehalfOf | None = Field(
        default=None, description="another user of the same tenant; default: the key's own"
    )


class SetPhase(Request):
    """Where a run is to go."""

    phase: Phase = Field(
        description="the phase; a host need not wait for guards, except that of `completed`"
    )
    note: Line = Field(default="", description="why, for the log")


class SetFields(Request):
    """Values that work needs, on the word of a host or of the user before it."""

    fields: Annotated[dict[FieldName, JsonValue], Field(min_length=1, max_length=MOST_FIELDS)] = (
        Field(description="each with its value; `null` takes a field away")
    )
    source: Literal["host", "user"] = Field(default="host", description="whose word it is")


class Why(Request):
    """A reason, for the log and for whoever looks at the run."""

    reason: Reason = Field(description="in words for people")


class ResumeRun(Request):
    """Go on with a run that was paused, or stopped as `blocked`."""

    reason: Line = Field(default="", description="in words for people")


class FinishRun(Request):
    """How a run ended."""

    outcome: Literal["completed", "failed"] = Field(
        description="`completed` needs what its template asks for, and nothing under way"
    )
    note: Line = Field(default="", description="what came of it, in words for people")


class HandOver(Request):
    """Give a run to a person."""

    reason: Reason = Field(description="why the agent does not go on")
    to: Line = Field(default="", description="who takes over: a name, a queue, a team")


class Usage(Request):
    """What a host spent on a run beside tool calls; it is added to what was spent before."""

    tokens: Annotated[int, Field(strict=True, ge=0, le=10**12)] = Field(
        description="tokens of the model"
    )


Digest: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,32}:[0-9a-f]{16,128}$")]
_Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=10**12)]


class ProposedCall(Request):
    """A call of a tool that a model wants made; never its arguments."""

    name: Name = Field(description="of the tool, as the host has it")
    id: Line = Field(default="", description="of the call, as the model or its provider has it")


class ModelTurn(Request):
    """One turn of a model in a run: who answered and how much, and never what was said.

    `input` and `output` are whatever the host sent and got; the gateway keeps a digest of them that
    is keyed for the tenant, and nothing else. A host that would rather not send them sends digests.
    """

    model: Name = Field(description="as its provider names it")
    provider: Line = Field(default="", description="who runs it")
    finish_reason: Line = Field(default="", description="as the provider says it")
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    duration_ms: _Count | None = None
    tool_calls: Annotated[tuple[ProposedCall, ...], Field(max_length=MOST_PROPOSED)] = Field(
        default=(), description="what it wants called"
    )
    input: JsonValue = Field(default=None, description="what the model was given; not kept")
    output: JsonValue = Field(default=None, description="what it said; not kept")
    input_digest: Digest | None = Field(default=None, description="in place of `input`")
    output_digest: Digest | None = Field(default=None, description="in place of `output`")
    error: Line = Field(default="", description="why there is no answer, in words for people")

    @model_validator(mode="after")
    def _either(self) -> "ModelTurn":
        for name in ("input", "output"):
            if name in self.model_fields_set and getattr(self, f"{name}_digest") is not None:
                said = f"has `{name}` and `{name}_digest`; send one of the two"
                raise PydanticCustomError("either", "{said}", {"said": said})
        return self


class EvidenceItem(Request):
    """A reference to what was read; never the text itself."""

    source: Name = Field(description="where it is from, such as a document's URI")
    version: Line = Field(default="", description="its version there")
    chunk: Line = Field(default="", description="which part of it")


class AddEvidence(Request):
    """References to what the host itself has read for a run."""

    items: Annotated[tuple[EvidenceItem, ...], Field(min_length=1, max_length=MOST_EVIDENCE)] = (
        Field(description="each counts once, however often it is sent")
    )


class FieldState(Reply):
    """A value that was collected, as whoever asks may see it."""

    value: JsonValue = None
    is_withheld: bool = Field(description="its origin needs scopes that the key hasn't got")
    trust: Trust = Field(description="how far it is to be believed")
    source: str = Field(description="`host`, `user`, `model`, or the type that a result yielded")
    at: datetime
    call_id: str = Field(description="the call that it is from, if any")


class RunBrief(Reply):
    """A run as its row says."""

    run_id: str
    version: int = Field(description="counts its changes; for `If-Match`")
    tenant: str
    user: str = Field(description="on whose behalf")
    client: str
    task_id: str
    objective: str
    template: str
    mode: Mode
    phase: Phase
    resume_phase: Phase | None = Field(
        description="where it goes on once nobody has to decide any more"
    )
    is_paused: bool
    stop_reason: StopReason | None
    note: str = Field(description="why it was paused, stopped, handed over or resumed")
    parent: str
    fields: dict[str, FieldState]
    is_tainted: bool = Field(description="a result that others can write was returned in it")
    evidence: int = Field(description="how many references were collected")
    calls: int
    tokens: int
    created_at: datetime
    active_at: datetime = Field(description="of its last call")
    ends_at: datetime | None = Field(description="by its limit of wall time")
    finished_at: datetime | None


class RunState(RunBrief):
    """A run as it stands, with what its guards count."""

    held_by: str = Field(
        default="", description="the run around it that is paused or over, so that it stands still"
    )
    open_operations: int = Field(description="under way, or of which nobody knows what became")
    pending_approvals: int
    missing: dict[str, list[str]] = Field(
        description="by phase that it could enter next: what is still missing for that"
    )


class RunPage(Reply):
    """Some runs, the newest first."""

    runs: list[RunBrief]
    is_cut: bool = Field(description="whether `limit` left some out")


class PackageField(Reply):
    """A value that was collected, as whoever takes over may see it."""

    name: str
    value: JsonValue = None
    is_withheld: bool = Field(description="its origin needs scopes that the receiver hasn't got")
    trust: Trust
    source: str


class PackageOperation(Reply):
    """What became of a call that changes something."""

    op_id: str
    tool: str
    state: str
    verification: str
    is_unknown: bool = Field(description="nobody knows whether it took effect; settle it first")
    arguments: JsonValue = Field(
        default=None, description="redacted; none where the tool needs scopes not held"
    )
    evidence: str
    at: datetime


class PackageApproval(Reply):
    """A request that still waits for a person."""

    approval_id: str
    tool: str
    decide_by: datetime | None
    url: str


class PackageEvidence(Reply):
    """A reference to what was read."""

    source: str
    version: str
    chunk: str


class Package(Reply):
    """All that somebody needs to take a run over, what is unknown first."""

    run_id: str
    objective: str
    user: str
    template: str
    phase: Phase
    is_paused: bool
    stop_reason: StopReason | None
    reason: str = Field(description="why it was handed over, or stopped")
    unknown: list[PackageOperation] = Field(description="of these nobody knows what became")
    operations: list[PackageOperation] = Field(description="the others, the newest first")
    approvals: list[PackageApproval]
    fields: list[PackageField]
    missing: list[str] = Field(description="fields that the template asks for and nobody has set")
    evidence: list[PackageEvidence]
    withheld: int = Field(description="how much was left out for want of scopes")
    next: list[str] = Field(description="what to do, in order")


class Fault(Reply):
    """One thing that is wrong with a request."""

    pointer: str = Field(description="where in the body (RFC 6901), or the name of a parameter")
    detail: str


class Problem(Reply):
    """Why a request was not carried out (RFC 9457)."""

    type: str = Field(description="`urn:weighbridge:problem:` and the code")
    title: str
    status: int
    detail: str = Field(description="what to do about it")
    code: str
    missing: list[str] = Field(default_factory=list[str], description="guards that do not hold")
    errors: list[Fault] = Field(default_factory=list[Fault], description="what is wrong, by place")


class ListRuns(Request):
    """Which runs are wanted; without a parameter, the newest ones whatever they came to."""

    phase: Phase | None = Field(default=None, description="only those in this phase")
    stop_reason: StopReason | None = Field(default=None, description="only those that ended so")
    template: Line = Field(default="", description="only those of this template")
    user: Line = Field(default="", description="only those of this user")
    task_id: Line = Field(default="", description="only those that the host calls so")
    is_open: bool = Field(default=False, description="only those that are not over, nor paused")
    since: AwareDatetime | None = Field(
        default=None, description="only those begun since then; with its offset from UTC"
    )
    limit: int = Field(default=50, ge=1, le=500, description="how many at most")
