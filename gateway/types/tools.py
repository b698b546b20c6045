"""Tools as servers publish them, and contracts as people reviewed them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.types.approvals import ApprovalNotes
from gateway.types.guarantees import (
    CallTemplate,
    Checksum,
    Compensation,
    Idempotency,
    Readback,
    WrittenObject,
)
from gateway.types.json import Json, JsonObject, JsonPointer


class Effect(StrEnum):
    """What a call may do to the outside, from harmless to irreversible."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"

    @property
    def rank(self) -> int:
        """Order for "at least as strong as"."""
        return _EFFECT_RANK[self]


class Risk(StrEnum):
    """The class of a call, from harmless to critical."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Order for "at least as high as"."""
        return _RISK_RANK[self]


_EFFECT_RANK = {effect: rank for rank, effect in enumerate(Effect)}
_RISK_RANK = {risk: rank for rank, risk in enumerate(Risk)}


class Sensitivity(StrEnum):
    """Why a value is kept out of events, logs, spans and (by policy) results."""

    SECRET = "secret"  # noqa: S105 - a class of values, never kept in any form
    PERSONAL = "personal"  # kept as a keyed digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Why one tool is neither listed nor callable though its server is fine."""

    reason: str
    pointer: JsonPointer = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """Why a reviewed tool can't be had: its server has not published any tools yet."""

    reason: str
    code: str
    retry_after_s: float | None


class Kind(StrEnum):
    """What a server offers to be used by name."""

    TOOL = "tool"
    RESOURCE = "resource"  # also one that only a template describes
    PROMPT = "prompt"


class Listed(StrEnum):
    """The lists of MCP, by the member of a result that holds their items."""

    TOOLS = "tools"
    RESOURCES = "resources"
    TEMPLATES = "resourceTemplates"
    PROMPTS = "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as a server published it, or a resource or prompt that is weighed like one."""

    server: str
    name: str  # as the server calls it
    exposed_name: str  # as agents see it: at most 64 characters of [A-Za-z0-9_-]
    definition: JsonObject  # as received, unknown fields kept
    pin: str  # `sha256:…` over the definition
    quarantine: Quarantine | None = None
    kind: Kind = Kind.TOOL
    away: Away | None = None  # then the rest is what its contract says of it

    @property
    def key(self) -> str:
        """The name in contracts and policies: `server.name`, or the URI of a resource."""
        return self.name if self.kind is Kind.RESOURCE else f"{self.server}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """Several servers have what one URI names, so it names none of them."""

    uri: str
    candidates: tuple[Tool, ...]  # each exposed under its qualified URI


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRaise:
    """A condition on the arguments that raises effect or class; never lowers them."""

    when: str  # CEL over args
    reason: str
    risk: Risk | None = None
    effect: Effect | None = None


class OnFail(StrEnum):
    """What happens when an argument's origin can't be shown."""

    DENY = "deny"
    APPROVE = "approve"
    LOG = "log"


class SourceKind(StrEnum):
    """Where an argument may come from."""

    RESULTS = "results"  # a value of this type that the gateway returned to the caller before
    ACTOR = "actor"  # a field of the actor: user or tenant
    ALLOWLIST = "allowlist"  # one of the listed values


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One accepted origin: `results(crm.customer_id)`, `actor(tenant)`, `allowlist(a, b)`."""

    kind: SourceKind
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRule:
    """Where one argument must come from."""

    pointer: JsonPointer
    sources: tuple[Source, ...]
    on_fail: OnFail
    same_record_as: JsonPointer = ""  # both values occur in one returned record


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """Identifiers of one type that a tool's results bring into play."""

    type: str
    path: JsonPointer  # into structuredContent, `*` for any index


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensure:
    """A postcondition on a successful result: CEL over args and result."""

    when: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What people reviewed about one tool; the pipeline enforces exactly this."""

    tool: str  # `server.name`
    pin: str
    effect: Effect
    risk: Risk
    definition: JsonObject  # the reviewed copy: description and schemas as they were pinned
    reviewed: bool = True
    place: str = ""  # file:line
    scopes: frozenset[str] = frozenset()
    raises: tuple[RiskRaise, ...] = ()
    sensitive: Mapping[JsonPointer, Sensitivity] = field(
        default_factory=dict[JsonPointer, Sensitivity]
    )
    sensitive_results: Mapping[JsonPointer, Sensitivity] = field(
        default_factory=dict[JsonPointer, Sensitivity]
    )
    timeout_s: float | None = None
    max_result_bytes: int | None = None
    trusted_text: bool = False  # results are not marked as untrusted
    lenient_output: bool = False  # a read whose result misses its schema passes, with a note
    ensure: tuple[Ensure, ...] = ()
    provenance: tuple[ProvenanceRule, ...] = ()
    yields: tuple[Yield, ...] = ()
    idempotency: Idempotency = field(default_factory=Idempotency)
    readback: Readback | None = None
    old: CallTemplate | None = None  # a read before the call, for what refers to `$old`
    checksum: Checksum | None = None
    compensation: Compensation | None = None
    object: WrittenObject | None = None  # what events name as written
    approval: ApprovalNotes = field(default_factory=ApprovalNotes)

    @property
    def input_schema(self) -> Json:
        """The pinned input schema, which arguments are judged by."""
        return self.definition.get("inputSchema")

    @property
    def output_schema(self) -> Json:
        """The pinned output schema, or None."""
        return self.definition.get("outputSchema")
