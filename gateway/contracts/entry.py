"""The contract file as people write it; every key with its meaning."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from gateway.contracts import sources
from gateway.contracts.promises import (
    ApprovalSection,
    CompensationSection,
    IdempotencySection,
    OutcomeSection,
)
from gateway.contracts.sections import Duration, OneField, Pointer, Section, Spot, Words
from gateway.types.audit import Level
from gateway.types.runs import SPEAKERS
from gateway.types.tools import (
    Effect,
    Form,
    OnFail,
    Risk,
    Sensitivity,
    SourceTrust,
    WhenTainted,
)


def _source(value: str) -> str:
    try:
        sources.parse(value)
    except sources.BadSource as error:
        raise PydanticCustomError("source", "{why}", {"why": str(error)}) from None
    return value


def _type(value: str) -> str:
    if value in SPEAKERS:  # as the source of a field it would be taken for that one's word
        why = f"is `{value}`, whose word a field of a run may be; name the type otherwise"
        raise PydanticCustomError("type", "{why}", {"why": why})
    return value


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
    trust: SourceTrust = Field(
        default=SourceTrust.TENANT, description="who can write what results say"
    )


class FailureSection(Section):
    """What a failure means."""

    timeout: Duration | None = None
    retryable: list[StrictInt | Words] = Field(
        default_factory=list[int | str], description="the same as `idempotency.not_executed_on`"
    )


class RelateSection(Section):
    """What one argument has to do with another."""

    same_record_as: Pointer


class ProvenanceSection(Section):
    """Where one argument must come from."""

    from_: list[SourceText] = Field(alias="from", min_length=1)
    on_fail: OnFail = OnFail.DENY
    same_record_as: Pointer | None = Field(
        default=None, description="the same as `relate.same_record_as`"
    )
    relate: RelateSection | None = None
    max_of: bool = Field(default=False, description="at most as large as one of the sources")
    trust_min: SourceTrust = SourceTrust.EXTERNAL

    @model_validator(mode="after")
    def _one_relation(self) -> "ProvenanceSection":
        if self.same_record_as is not None and self.relate is not None:
            raise PydanticCustomError(
                "relate", "has `same_record_as` twice; keep the one in `relate`"
            )
        return self


class YieldSection(Section):
    """Identifiers of one type that results bring into play."""

    type: Annotated[Words, Field(pattern=r"^[^\s,:()]+$"), AfterValidator(_type)]
    path: Pointer
    trust: SourceTrust | None = Field(default=None, description="by default as `results.trust`")
    as_: Form = Field(default=Form.ID, alias="as", description="by what two values are the same")


class DocumentsSection(Section):
    """Where a result has its documents; the others are pointers inside of one."""

    path: Spot  # empty: the result is one
    source: OneField | None = None
    version: OneField | None = None
    chunk: OneField | None = None

    @model_validator(mode="after")
    def _known_again(self) -> "DocumentsSection":
        if not self.path and self.source is None:
            raise PydanticCustomError(
                "documents",
                "needs a `source`, such as `/id`, where the whole result is the document",
            )
        return self


class RetrievalSection(Section):
    """What a read asks for, and what it returns as evidence."""

    query: OneField | None = None
    documents: DocumentsSection | None = None

    @model_validator(mode="after")
    def _something(self) -> "RetrievalSection":
        if self.query is None and self.documents is None:
            raise PydanticCustomError("retrieval", "should have `query`, `documents` or both")
        return self


class AuditSection(Section):
    """How much the event log keeps of a call."""

    level: Level | None = Field(
        default=None, description="of arguments and results; by default as `events.level`"
    )
    seal: bool = Field(default=False, description="arguments are kept as they were, encrypted")


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
    retrieval: RetrievalSection | None = None
    when_tainted: WhenTainted | None = None
    audit: AuditSection = AuditSection()
    definition: dict[str, JsonValue] = Field(description="the reviewed copy")


class ContractFile(Section):
    """A file below `policies/contracts`."""

    apiVersion: Literal["weighbridge/v1"] | None = None
    kind: Literal["ToolContracts"] | None = None
    tools: dict[str, Entry]
