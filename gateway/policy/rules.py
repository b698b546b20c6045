"""The policy files as people write them; what a field may hold is said here and nowhere else."""

import re
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    model_validator,
)

from gateway.policy.methods import ASKS, EVERY, OF
from gateway.types.approvals import Assurance, Fallback
from gateway.types.calls import AuthMethod, Method
from gateway.types.causes import Cause
from gateway.types.decisions import RUN_S, RedactAs
from gateway.types.json import Json
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk

API_VERSION = "weighbridge/v1"

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])")
_RULE_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


def _duration(value: object) -> float:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None or float(match.group(1)) <= 0:
        raise ValueError(
            "is no duration; a duration is a number with a unit, such as `30s`, `15m`, `24h` or "
            "`7d`"
        )
    return float(match.group(1)) * _UNITS[match.group(2)]


def _rule_id(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(_RULE_ID, value):
        raise ValueError("is no id; use letters, digits, `.`, `_` and `-`")
    return value


def _methods(value: object) -> object:
    if not isinstance(value, list):
        return value
    named = cast("list[object]", value)  # of what is in it, pydantic says what is wrong
    return [*Method, *(each for each in named if each != "*")] if "*" in named else named


def _window(value: object) -> float:
    return RUN_S if value == "run" else _duration(value)


# The types with `Text` at their end are for JSON Schemas: how the same is written in a file.
SecondsText: TypeAlias = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?[smhd]$")]
WindowText: TypeAlias = Annotated[str, Field(pattern=r"^([0-9]+(\.[0-9]+)?[smhd]|run)$")]
IdText: TypeAlias = Annotated[str, Field(pattern=f"^{_RULE_ID}$")]
MethodText: TypeAlias = list[Method | Literal["*"]]
Seconds: TypeAlias = Annotated[
    float, BeforeValidator(_duration, json_schema_input_type=SecondsText)
]
RuleId: TypeAlias = Annotated[str, BeforeValidator(_rule_id, json_schema_input_type=IdText)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]
Names: TypeAlias = Annotated[tuple[Name, ...], Field(min_length=1)]
SetName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Pointer: TypeAlias = Annotated[str, Field(pattern=r"^/")]
Scalar: TypeAlias = StrictBool | StrictInt | float | str
if TYPE_CHECKING:
    AnyJson: TypeAlias = Json
else:
    AnyJson = JsonValue  # pydantic needs its own name for the same thing
# Text is a CEL expression, so a literal text carries its own quotes: `"'EUR'"`.
Expression: TypeAlias = AnyJson


class Model(BaseModel):
    """A section of a file: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class AnyAll(Model):
    """Names of which the caller has at least one, and names of which it has every one."""

    any: Names | None = None
    all: Names | None = None


class InSet(Model):
    """Membership in a set of the policy."""

    in_set: SetName


class Match(Model):
    """Structured conditions; each that is given must hold."""

    methods: (
        Annotated[
            tuple[Method, ...],
            BeforeValidator(_methods, json_schema_input_type=MethodText),
            Field(min_length=1),
        ]
        | None
    ) = None
    tools: Names | None = None
    resources: Names | None = None
    prompts: Names | None = None
    servers: Names | None = None
    effects: Annotated[tuple[Effect, ...], Field(min_length=1)] | None = None
    risk: Annotated[tuple[Risk, ...], Field(min_length=1)] | None = None
    roles: AnyAll | None = None
    scopes: AnyAll | None = None
    tenants: Names | InSet | None = None
    users: Names | None = None
    phases: Annotated[tuple[Phase, ...], Field(min_length=1)] | None = None
    templates: Names | None = None
    authenticated_by: Annotated[tuple[AuthMethod, ...], Field(min_length=1)] | None = None
    causes: Annotated[tuple[Cause, ...], Field(min_length=1)] | None = None

    @property
    def kind(self) -> Kind | None:
        """What the patterns are over, or None when there are none."""
        named = {
            Kind.TOOL: self.tools,
            Kind.RESOURCE: self.resources,
            Kind.PROMPT: self.prompts,
        }
        return next((kind for kind, patterns in named.items() if patterns), None)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns over `server.name` or the URI; empty selects every one."""
        return self.tools or self.resources or self.prompts or ()

    @model_validator(mode="after")
    def _one_kind(self) -> "Match":
        if sum(bool(each) for each in (self.tools, self.resources, self.prompts)) > 1:
            raise ValueError(
                "names more than one of `tools`, `resources` and `prompts`; write a rule for each"
            )
        return self

    @model_validator(mode="after")
    def _methods_of_kind(self) -> "Match":
        kind, methods = self.kind, frozenset(self.methods or EVERY)
        if kind is None or methods == EVERY:
            return self
        strange = sorted(methods - OF[kind] - ASKS)
        if strange:
            raise ValueError(f"is about {kind}s, and `{strange[0]}` never is; name another target")
        return self

    @model_validator(mode="after")
    def _causes_of_kind(self) -> "Match":
        is_own = self.causes is not None and Cause.CALLER not in self.causes
        if is_own and self.kind not in (None, Kind.TOOL):
            raise ValueError(
                f"is about {self.kind}s, and the gateway by itself only calls tools; "
                "remove `causes`"
            )
        return self


class Constrain(Model):
    """Arguments that the policy writes or bounds, by name or JSON pointer."""

    set: dict[Name, Expression] = Field(default_factory=dict[str, Json])
    max: dict[Name, Expression] = Field(default_factory=dict[str, Json])
    min: dict[Name, Expression] = Field(default_factory=dict[str, Json])
    default: dict[Name, Expression] = Field(default_factory=dict[str, Json])


Per: TypeAlias = Literal["tenant", "user", "client", "tool", "server", "run"]


class LimitRule(Model):
    """At most `max` calls, or `max` in total of `sum`, in a window, or a run, for each key."""

    id: RuleId
    per: Annotated[tuple[Per, ...], Field(min_length=1)]
    max: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    window: Annotated[float, BeforeValidator(_window, json_schema_input_type=WindowText)]
    sum: Name | None = None


class RedactRule(Model):
    """One path of a result that leaves in another form."""

    path: Pointer
    form: Annotated[RedactAs, Field(alias="as")]


class RowRule(Model):
    """A list in a result of which only those rows leave that a condition holds for."""

    path: Pointer
    where: Name


class Output(Model):
    """What of a structured result may leave."""

    keep: Annotated[tuple[Pointer, ...], Field(min_length=1)] | None = None
    redact: tuple[RedactRule, ...] = ()
    rows: tuple[RowRule, ...] = ()
    documents: Name | None = None


SELF: Final = "self"  # among `users`: the caller, who may confirm in his own client
Count: TypeAlias = Annotated[StrictInt, Field(ge=1)]


class Approvers(Model):
    """Who may decide: holders of a role, or named users; `self` is the caller."""

    roles: tuple[Name, ...] = ()
    users: tuple[Name, ...] = ()
    tenant: Literal["same"] = "same"

    @model_validator(mode="after")
    def _somebody(self) -> "Approvers":
        if not self.roles and not self.users:
            raise ValueError("should name at least one role or user who may approve")
        return self


class Group(Model):
    """One group of which so many different people have to say yes."""

    name: RuleId
    roles: tuple[Name, ...] = ()
    users: tuple[Name, ...] = ()
    count: Count = 1
    tenant: Literal["same"] = "same"

    @model_validator(mode="after")
    def _somebody(self) -> "Group":
        if not self.roles and not self.users:
            raise ValueError("should name at least one role or user of the group")
        return self


class EscalationStep(Model):
    """Who else may decide once a request has waited so long."""

    after: Seconds
    roles: tuple[Name, ...] = ()
    users: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _somebody_else(self) -> "EscalationStep":
        if not self.roles and not self.users:
            raise ValueError("should name at least one role or user who may decide then")
        if SELF in self.users:
            raise ValueError("nobody escalates to `self`; name somebody else")
        return self


class Approval(Model):
    """Who has to say yes, how surely it has to be them, and how long they have."""

    approvers: Approvers | None = None
    quorum: Count = 1
    factors: Annotated[tuple[Group, ...], Field(min_length=1)] | None = None
    deny_count: Count = 1
    requester_may_approve: StrictBool = False
    min_assurance: Assurance | None = None
    not_before: Seconds | None = None
    expires: Seconds = 1800.0
    use_within: Seconds | None = None
    escalate: tuple[EscalationStep, ...] = ()
    fallback: Fallback = Fallback.OOB

    @model_validator(mode="after")
    def _one_way_to_say_who(self) -> "Approval":
        if (self.approvers is None) == (self.factors is None):
            raise ValueError(
                "should say who may decide by `approvers` or `factors`, one of the two"
            )
        if self.factors is not None and "quorum" in self.model_fields_set:
            raise ValueError("has a `quorum` beside `factors`; each of them has its own `count`")
        names = [each.name for each in self.factors or ()]
        if len({*names}) < len(names):
            raise ValueError("has two `factors` of one name; rename one")
        return self

    @model_validator(mode="after")
    def _steps_in_order(self) -> "Approval":
        times = [each.after for each in self.escalate]
        if times != sorted({*times}):
            raise ValueError("has steps of `escalate` out of order; each comes `after` the last")
        return self


class Rule(Model):
    """One rule; nothing is allowed unless an allow rule or an approval rule says so."""

    id: RuleId
    decision: Literal["allow", "deny", "require_approval", "obligation"]
    code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] | None = None
    reason: Name | None = None
    match: Match = Match()
    when: Name | None = None
    mode: Literal["enforce", "shadow"] = "enforce"
    risk: Risk | None = None
    constrain: Constrain | None = None
    limits: tuple[LimitRule, ...] = ()
    output: Output | None = None
    approval: Approval | None = None

    @model_validator(mode="after")
    def _fits_its_decision(self) -> "Rule":
        if self.decision == "require_approval" and self.approval is None:
            raise ValueError(
                "holds calls for approval without an `approval` section; say who may approve: "
                "`approval: {approvers: {roles: [lead]}}`"
            )
        if self.decision != "require_approval" and self.approval is not None:
            raise ValueError(
                f"has an `approval` section, and a rule with `decision: {self.decision}` waits for "
                "nobody; remove it, or write `decision: require_approval`"
            )
        obliges = self.constrain or self.limits or self.output
        if self.decision == "deny" and obliges:
            raise ValueError(
                "denies, so there is nothing to constrain, limit or redact; remove that"
            )
        if self.decision == "obligation" and not (obliges or self.risk):
            raise ValueError("an obligation needs `constrain`, `limits`, `output` or `risk`")
        return self


class Default(Model):
    """What happens when no rule speaks: always a denial, under a code of one's choice."""

    decision: Literal["deny"] = "deny"
    code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] = "no_matching_rule"
    reason: Name | None = None


class PolicySet(Model):
    """One file of rules."""

    api_version: Annotated[Literal["weighbridge/v1"], Field(alias="apiVersion")] = API_VERSION
    kind: Literal["PolicySet"] = "PolicySet"
    metadata: dict[str, str] = Field(default_factory=dict[str, str])
    mode: Literal["enforce", "shadow"] = "enforce"
    default: Default | None = None
    sets: dict[SetName, tuple[Scalar, ...]] = Field(default_factory=dict[str, tuple[Scalar, ...]])
    rules: tuple[Rule, ...] = ()
