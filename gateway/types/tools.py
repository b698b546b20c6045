"""Tools as servers publish them, and contracts as people reviewed them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

from gateway.types.approvals import ApprovalNotes
from gateway.types.audit import Audit
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
    key: str = field(init=False, compare=False, repr=False)
    """The name in contracts and policies: `server.name`, or the URI of a resource."""

    def __post_init__(self) -> None:
        """Write the key once: every call asks for it several times."""
        key = self.name if self.kind is Kind.RESOURCE else f"{self.server}.{self.name}"
        object.__setattr__(self, "key", key)


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


class WhenTainted(StrEnum):
    """What happens to a call after others could write into what its run was shown."""

    DENY = "deny"
    APPROVE = "approve"


class SourceTrust(StrEnum):
    """Who can write what a result says, from the surest to the least sure."""

    SYSTEM = "system"  # a system of record, and nobody else
    TENANT = "tenant"  # people of the same tenant
    EXTERNAL = "external"  # anybody: mail, web pages, tickets

    @property
    def rank(self) -> int:
        """Order for "at least as sure as": lower is surer."""
        return _TRUST_RANK[self]


_TRUST_RANK = {trust: rank for rank, trust in enumerate(SourceTrust)}


class Form(StrEnum):
    """By what two values of one type are the same."""

    ID = "id"  # exactly: texts in Unicode NFC, numbers by their value
    TEXT = "text"  # whatever the case of its letters
    NUMBER = "number"  # by its value, also where a text spells it
    DATE = "date"  # by its day in UTC


class SourceKind(StrEnum):
    """Where an argument may come from."""

    RESULTS = "results"  # a value of this type that the gateway returned to the caller before
    COLLECTED = "collected"  # a field of the run
    ACTOR = "actor"  # a field of the actor: user or tenant
    ALLOWLIST = "allowlist"  # one of the listed values
    CONSTANT = "constant"  # one value
    COMPUTED = "computed"  # a number or a day between two bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day: a date, or so many days from today (UTC)."""

    on: date | None = None  # None: today
    days: int = 0

    def of(self, today: date) -> date:
        """Return the date."""
        return (self.on or today) + timedelta(days=self.days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One accepted origin: `results(crm.customer_id)`, `actor(tenant)`, `computed(0..100)`."""

    kind: SourceKind
    operands: tuple[str, ...]  # as written
    within_run: bool = False  # of results: only what was returned in the same run
    constant: Json = None
    bounds: tuple[Decimal, Decimal] | tuple[Day, Day] | None = None  # both inclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRule:
    """Where one argument must come from; `*` in its pointer speaks of each of several."""

    pointer: JsonPointer
    sources: tuple[Source, ...]
    on_fail: OnFail
    same_record_as: JsonPointer = ""  # both values occur in one returned record
    max_of: bool = False  # a number: at most as large as one that was returned or collected
    trust_min: SourceTrust = SourceTrust.EXTERNAL  # results that are less sure don't count


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """Identifiers of one type that a tool's results bring into play."""

    type: str
    path: JsonPointer  # into the data of a result, `*` for any key or index
    trust: SourceTrust = SourceTrust.TENANT
    form: Form = Form.ID


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPaths:
    """Where the data of a result has its documents; the others are pointers inside of one."""

    path: JsonPointer  # with `*` for each document
    source: JsonPointer = ""  # where the document is from; empty: its place in the result
    version: JsonPointer = ""
    chunk: JsonPointer = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What a read asks for, and what it returns as evidence."""

    query: JsonPointer = ""  # an argument
    documents: DocumentPaths | None = None


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
    result_trust: SourceTrust = SourceTrust.TENANT  # who can write what its results say
    when_tainted: WhenTainted | None = None
    retrieval: Retrieval | None = None
    idempotency: Idempotency = field(default_factory=Idempotency)
    readback: Readback | None = None
    old: CallTemplate | None = None  # a read before the call, for what refers to `$old`
    checksum: Checksum | None = None
    compensation: Compensation | None = None
    object: WrittenObject | None = None  # what events name as written
    approval: ApprovalNotes = field(default_factory=ApprovalNotes)
    audit: Audit = field(default_factory=Audit)

    @property
    def asks_origins(self) -> bool:
        """Whether calls are judged by what their callers were given before."""
        return bool(self.provenance) or self.when_tainted is not None

    @property
    def input_schema(self) -> Json:
        """The pinned input schema, which arguments are judged by."""
        return self.definition.get("inputSchema")

    @property
    def output_schema(self) -> Json:
        """The pinned output schema, or None."""
        return self.definition.get("outputSchema")
