"""The contract file as people write it; every key with its meaning."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, StrictInt
from pydantic_core import PydanticCustomError

from gateway.contracts.promises import (
    ApprovalSection,
    CompensationSection,
    IdempotencySection,
    OutcomeSection,
)
from gateway.contracts.sections import Duration, Pointer, Section, Words
from gateway.types.tools import Effect, OnFail, Risk, Sensitivity

_SOURCE = re.compile(r"(results|actor|allowlist)\(([^()]+)\)")
_ACTOR = {"user", "tenant"}


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


SourceText = Annotated[str, AfterValidator(_source)]


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
    retryable: list[StrictInt | Words] = Field(
        default_factory=list[int | str], description="the same as `idempotency.not_executed_on`"
    )


class ProvenanceSection(Section):
    """Where one argument must come from."""

    from_: list[SourceText] = Field(alias="from", min_length=1)
    on_fail: OnFail = OnFail.DENY
    same_record_as: Pointer | None = None


class YieldSection(Section):
    """Identifiers of one type that results bring into play."""

    type: Words
    path: Pointer


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
    idempotency: IdempotencySection | None = None
    outcome: OutcomeSection = OutcomeSection()
    compensation: CompensationSection | None = None
    approval: ApprovalSection = ApprovalSection()
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
