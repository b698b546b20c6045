"""Step 4: provenance."""

import pytest

from gateway.case import Case, Origin
from gateway.steps import provenance
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import OnFail, ProvenanceRule, Source, SourceKind
from tests.helpers.cases import a_case, a_contract

FROM_CRM = Source(kind=SourceKind.RESULTS, operands=("crm.customer_id",))


def origin(record: str = "r1", kind: str = "crm.customer_id") -> Origin:
    return Origin(type=kind, record=record, tool="crm.find")


def judged(
    arguments: JsonObject,
    *rules: ProvenanceRule,
    origins: dict[str, tuple[Origin, ...]] | None = None,
) -> Case | Refusal:
    case = a_case(
        arguments,
        contract=a_contract(provenance=rules),
        origins=origins or {},
        arguments=arguments,
    )
    return provenance.check(case)


def a_rule(pointer: str = "/customer_id", **changes: object) -> ProvenanceRule:
    fields: dict[str, object] = {"sources": (FROM_CRM,), "on_fail": OnFail.DENY} | changes
    return ProvenanceRule(pointer=pointer, **fields)  # type: ignore[arg-type]


def test_a_value_that_was_never_returned_is_refused() -> None:
    answer = judged({"customer_id": "c7"}, a_rule())
    assert isinstance(answer, Refusal)
    assert answer.status is Status.PROVENANCE_FAILED
    assert "crm.customer_id" in answer.reason


def test_a_value_that_was_returned_passes() -> None:
    seen = {"/customer_id": (origin(),)}
    assert isinstance(judged({"customer_id": "c7"}, a_rule(), origins=seen), Case)


def test_a_value_of_another_type_does_not_count() -> None:
    seen = {"/customer_id": (origin(kind="crm.order_id"),)}
    assert isinstance(judged({"customer_id": "c7"}, a_rule(), origins=seen), Refusal)


def test_an_absent_argument_needs_no_origin() -> None:
    assert isinstance(judged({}, a_rule()), Case)


@pytest.mark.parametrize(("other", "passes"), [("r1", True), ("r2", False)])
def test_two_values_can_be_asked_to_come_from_one_record(other: str, passes: bool) -> None:
    invoice = a_rule(
        "/invoice_id",
        sources=(Source(kind=SourceKind.RESULTS, operands=("billing.invoice",)),),
        same_record_as="/customer_id",
    )
    seen = {
        "/customer_id": (origin("r1"),),
        "/invoice_id": (origin(other, "billing.invoice"),),
    }
    answer = judged({"customer_id": "c7", "invoice_id": "i1"}, invoice, origins=seen)
    assert isinstance(answer, Case) is passes


@pytest.mark.parametrize(("value", "passes"), [("acme", True), ("globex", False)])
def test_the_actors_own_tenant_is_a_source(value: str, passes: bool) -> None:
    rule = a_rule("/tenant", sources=(Source(kind=SourceKind.ACTOR, operands=("tenant",)),))
    assert isinstance(judged({"tenant": value}, rule), Case) is passes


@pytest.mark.parametrize(("value", "passes"), [("EUR", True), ("XXX", False), (1, False)])
def test_an_allowlist_is_a_source(value: str | int, passes: bool) -> None:
    rule = a_rule("/currency", sources=(Source(kind=SourceKind.ALLOWLIST, operands=("EUR",)),))
    assert isinstance(judged({"currency": value}, rule), Case) is passes


def test_a_failure_can_be_left_to_a_person() -> None:
    answer = judged({"customer_id": "c7"}, a_rule(on_fail=OnFail.APPROVE))
    assert isinstance(answer, Case)
    assert "/customer_id" in answer.held


def test_a_failure_can_be_noted_only() -> None:
    answer = judged({"customer_id": "c7"}, a_rule(on_fail=OnFail.LOG))
    assert isinstance(answer, Case)
    assert answer.notes
    assert not answer.held
