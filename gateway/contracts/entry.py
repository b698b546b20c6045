"""The contract file as people write it; every key with its meaning."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue
from pydantic_core import PydanticCustomError

from gateway.jsontext import tokens
from gateway.types.tools import Effect, OnFail, Risk, Sensitivity

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SOURCE = re.compile(r"(results|actor|allowlist)\(([^()]+)\)")
_ACTOR = {"user", "tenant"}


def _pointer(value: str) -> str:
    try:
        tokens(value)
    except ValueError as error:
        raise PydanticCustomError("pointer", "{why}", {"why": f"value {error}"}) from None
    if not value:
        raise PydanticCustomError("pointer", "has to name a field, such as `/customer_id`")
    return value


def _duration(value: object) -> object:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("duration", "should be a time with its unit, such as `30s`")
    return float(found[1]) * _SECONDS[found[2]]


def _source(value: str) -> str:
    found = _SOURCE.fullmatch(value)
    if found is None:
        raise PydanticCustomError(
            "source", "should be `results(type)`, `actor(tenant)` or `allowlist(a, b)`"
        )
    if found[1] == "actor" and not set(operands(value)) <= _ACTOR:
        raise PydanticCustomError("source", "should name `user` or `tenant` of the actor")
    return value


def operands(source: str) -> tuple[str, ...]:
    """Return what stands between the brackets of a source."""
    return tuple(part.strip() for part in source[source.index("(") + 1 : -1].split(","))


Pointer = Annotated[str, AfterValidator(_pointer)]
Duration = Annotated[float, BeforeValidator(_duration)]
SourceText = Annotated[str, AfterValidator(_source)]
Words = Annotated[str, Field(min_length=1, max_length=2000)]


class Section(BaseModel):
    """A map with known keys and exact types; any other key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class RiskWhen(Section):
    """A condition on the arguments that raises effect or class."""

    when: Words = Field(description="CEL over `args`")
    reason: Words
    risk: Risk | None = None
    effect: Effect | None = None


class Results(Section):
    """How results are treated."""

    sensitive: dict[Pointer, Sensitivity] = Field(default_factory=dict[str, Sensitivity])
    trusted_text: bool = Field(default=False, description="text is not marked as untrusted")
    lenient: bool = Field(default=False, description="a read may miss its output schema")
    max_bytes: int | None = Field(default=None, gt=0)


class FailureSection(Section):
    """What a failure means."""

    timeout: Duration | None = None
    retryable: list[Words] = Field(default_factory=list[str])


class EnsureSection(Section):
    """A postcondition on a successful result."""

    when: Words = Field(description="CEL over `args` and `result`")
    message: Words


class Readback(Section):
    """A read that shows whether a write took effect."""

    tool: Words
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    expect: Words | None = Field(default=None, description="CEL over `args` and `result`")
    wait: dict[str, JsonValue] | None = None


class Outcome(Section):
    """How to tell that a call did what it says."""

    ensure: list[EnsureSection] = Field(default_factory=list[EnsureSection])
    readback: Readback | None = None


class ProvenanceSection(Section):
    """Where one argument must come from."""

    from_: list[SourceText] = Field(alias="from", min_length=1)
    on_fail: OnFail = OnFail.DENY
    same_record_as: Pointer | None = None


class YieldSection(Section):
    """Identifiers of one type that results bring into play."""

    type: Words
    path: Pointer


class Idempotency(Section):
    """Which arguments make two calls the same intent, and whether to repeat one."""

    intent: list[Pointer] | None = None
    ignore: list[Pointer] | None = None
    from_: Pointer | None = Field(default=None, alias="from")
    normalise: dict[Pointer, Literal["upper", "lower", "trim"]] | None = None
    window: Words | None = None
    on_variant: Literal["conflict", "replay", "approve"] | None = None
    repeat: Literal["deny", "approve", "allow"] | None = None
    retry: Literal["read", "keyed", "natural", "query", "never"] | None = None
    inject: dict[str, str] | None = None
    not_executed_on: list[int | str] | None = None
    lookup: dict[str, JsonValue] | None = None


class Compensation(Section):
    """The operation that undoes this one, or why there is none."""

    tool: Words | None = None
    args: dict[str, JsonValue] | None = None
    capture: list[Pointer] | None = None
    before: dict[str, JsonValue] | None = None
    else_: dict[str, JsonValue] | None = Field(default=None, alias="else")
    deadline: Words | None = None
    idempotent: bool | None = None
    verify: dict[str, JsonValue] | None = None
    class_: Literal["compensatable", "pivot", "retriable", "irreversible"] | None = Field(
        default=None, alias="class"
    )
    reason: Words | None = None
    approval: Words | None = None
    on_indeterminate: Literal["lookup_first"] | None = None


class Entry(Section):
    """What people reviewed about one tool."""

    pin: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    effect: Effect
    risk: Risk
    reviewed: bool = True
    scopes: list[Words] = Field(default_factory=list[str])
    sensitive: dict[Pointer, Sensitivity] = Field(default_factory=dict[str, Sensitivity])
    results: Results = Results()
    risk_when: list[RiskWhen] = Field(default_factory=list[RiskWhen])
    failure: FailureSection = FailureSection()
    idempotency: Idempotency | None = None
    outcome: Outcome = Outcome()
    compensation: Compensation | None = None
    provenance: dict[Pointer, ProvenanceSection] = Field(
        default_factory=dict[str, ProvenanceSection]
    )
    yields: list[YieldSection] = Field(default_factory=list[YieldSection])
    definition: dict[str, JsonValue] = Field(description="the reviewed copy")


class ContractFile(Section):
    """A file below `policies/contracts`."""

    apiVersion: Literal["weighbridge/v1"] | None = None
    kind: Literal["ToolContracts"] | None = None
    tools: dict[str, Entry]
