"""Step 4: provenance."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Case, Facts, Origin
from gateway.steps import provenance
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Collected, Run, Trust
from gateway.types.tools import (
    Day,
    OnFail,
    ProvenanceRule,
    Source,
    SourceKind,
    SourceTrust,
    WhenTainted,
    Yield,
)
from gateway.types.values import replaced
from tests.helpers.cases import (
    NOW,
    a_call,
    a_case,
    a_contract,
    a_definition,
    a_revision,
    a_tool,
)

FROM_CRM = Source(kind=SourceKind.RESULTS, operands=("crm.customer_id",))


def origin(record: str = "r1", kind: str = "crm.customer_id") -> Origin:
    return Origin(type=kind, record=record, tool="crm.find")


def judged(
    arguments: JsonObject,
    *rules: ProvenanceRule,
    origins: dict[str, tuple[Origin, ...]] | None = None,
    near: dict[str, Json] | None = None,
    **changes: Any,
) -> Case | Refusal:
    case = a_case(
        arguments,
        contract=a_contract(provenance=rules, when_tainted=changes.pop("when_tainted", None)),
        facts=Facts(
            now=NOW,
            origins=origins or {},
            near=near or {},
            is_tainted=changes.pop("is_tainted", False),
        ),
        arguments=arguments,
        **changes,
    )
    return provenance.check(case)


def a_run(is_tainted: bool = False, **fields: tuple[Json, str]) -> Run:
    return Run(
        run_id="run_1",
        tenant="acme",
        owner="o",
        user="sam",
        is_tainted=is_tainted,
        fields={
            name: Collected(value=value, trust=_trust(source), source=source, at=0)
            for name, (value, source) in fields.items()
        },
    )


def _trust(source: str) -> Trust:
    return Trust.HOST if source in ("host", "user") else Trust.MODEL


@pytest.mark.parametrize("source", ["host", "user", "model"])
def test_a_source_that_is_called_like_a_speaker_is_nobody_s_word(source: str) -> None:
    field = Collected(value="c7", trust=Trust.MODEL, source=source, at=0)
    run = replaced(a_run(), fields={"customer_id": field})
    rule = a_rule(sources=(Source(kind=SourceKind.COLLECTED, operands=("customer_id",)),))
    seen = {"/customer_id": (Origin(type=source, record="r", tool="crm.find"),)}
    answer = judged({"customer_id": "c7"}, rule, origins=seen, run=run, run_id="run_1")
    assert isinstance(answer, Refusal)


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


@pytest.mark.parametrize(("record", "passes"), [("call_1/0/lines/2", True), ("call_1/1", False)])
def test_a_part_of_a_record_belongs_to_it(record: str, passes: bool) -> None:
    """Failure case: id of another customer in the same run."""
    rule = a_rule("/invoice_id", same_record_as="/customer_id")
    seen = {"/customer_id": (origin("call_1/0"),), "/invoice_id": (origin(record),)}
    answer = judged({"customer_id": "c7", "invoice_id": "i1"}, rule, origins=seen)
    assert isinstance(answer, Case) is passes


def test_a_record_is_shared_with_nothing_that_is_absent() -> None:
    rule = a_rule("/invoice_id", same_record_as="/customer_id")
    answer = judged({"invoice_id": "i1"}, rule, origins={"/invoice_id": (origin(),)})
    assert isinstance(answer, Refusal)


def test_each_of_several_values_needs_its_own_origin() -> None:
    seen = {"/to/0": (origin(),)}
    answer = judged({"to": ["a", "b"]}, a_rule("/to/*"), origins=seen)
    assert isinstance(answer, Refusal)
    assert "`/to/1`" in answer.reason
    both = seen | {"/to/1": (origin(),)}
    assert isinstance(judged({"to": ["a", "b"]}, a_rule("/to/*"), origins=both), Case)


def test_results_of_the_same_run_can_be_asked_for() -> None:
    rule = a_rule(sources=(replace(FROM_CRM, within_run=True),))
    seen = {"/customer_id": (origin(),)}
    assert isinstance(judged({"customer_id": "c7"}, rule, origins=seen), Refusal)
    answer = judged({"customer_id": "c7"}, rule, origins=seen, run=a_run(), run_id="run_1")
    assert isinstance(answer, Case)


@pytest.mark.parametrize(
    ("trust", "least", "passes"),
    [
        (SourceTrust.EXTERNAL, SourceTrust.EXTERNAL, True),
        (SourceTrust.EXTERNAL, SourceTrust.TENANT, False),
        (SourceTrust.TENANT, SourceTrust.SYSTEM, False),
        (SourceTrust.SYSTEM, SourceTrust.TENANT, True),
    ],
)
def test_a_result_has_to_be_as_sure_as_is_asked(
    trust: SourceTrust, least: SourceTrust, passes: bool
) -> None:
    seen = {"/customer_id": (replace(origin(), trust=trust),)}
    answer = judged({"customer_id": "c7"}, a_rule(trust_min=least), origins=seen)
    assert isinstance(answer, Case) is passes


@pytest.mark.parametrize(("max_of", "passes"), [(True, True), (False, False)])
def test_a_larger_number_counts_only_where_the_most_is_asked(max_of: bool, passes: bool) -> None:
    seen = {"/customer_id": (replace(origin(), is_exact=False),)}
    answer = judged({"customer_id": 5}, a_rule(max_of=max_of), origins=seen)
    assert isinstance(answer, Case) is passes


COLLECTED = (Source(kind=SourceKind.COLLECTED, operands=("id",)),)


@pytest.mark.parametrize(
    ("value", "source", "passes"),
    [
        ("c7", "host", True),
        ("c7", "user", True),
        ("c8", "host", False),
        ("c7", "model", False),
        ("c7", "crm.customer_id", False),  # nothing like it was returned
    ],
)
def test_what_was_collected_counts_by_where_it_is_from(
    value: str, source: str, passes: bool
) -> None:
    rule = a_rule(sources=COLLECTED)
    run = a_run(id=(value, source))
    answer = judged({"customer_id": "c7"}, rule, run=run, run_id="run_1")
    assert isinstance(answer, Case) is passes


def test_what_a_model_collected_out_of_a_result_counts_like_that_result() -> None:
    rule = a_rule(sources=COLLECTED, trust_min=SourceTrust.TENANT)
    run = a_run(id=("c7", "crm.customer_id"))
    for trust, passes in ((SourceTrust.TENANT, True), (SourceTrust.EXTERNAL, False)):
        seen = {"/customer_id": (replace(origin(), trust=trust),)}
        answer = judged({"customer_id": "c7"}, rule, origins=seen, run=run, run_id="run_1")
        assert isinstance(answer, Case) is passes


def test_nothing_is_collected_without_a_run() -> None:
    assert isinstance(judged({"customer_id": "c7"}, a_rule(sources=COLLECTED)), Refusal)


@pytest.mark.parametrize(("amount", "passes"), [(5, True), (7, True), (7.01, False), (-1, False)])
def test_an_amount_is_at_most_what_was_collected(amount: float, passes: bool) -> None:
    rule = a_rule("/amount", sources=COLLECTED, max_of=True)
    answer = judged({"amount": amount}, rule, run=a_run(id=("7.00", "host")), run_id="run_1")
    assert isinstance(answer, Case) is passes


@pytest.mark.parametrize(
    ("constant", "value", "passes"),
    [("EUR", "EUR", True), ("EUR", "eur", False), (1, 1.0, True), (True, 1, False),
     (1, True, False),
     (None, None, True), (None, "", False), (True, True, True)],
)  # fmt: skip
def test_a_constant_is_a_source(constant: Json, value: Json, passes: bool) -> None:
    source = Source(kind=SourceKind.CONSTANT, operands=("x",), constant=constant)
    answer = judged({"currency": value}, a_rule("/currency", sources=(source,)))
    assert isinstance(answer, Case) is passes


@pytest.mark.parametrize(
    ("day", "passes"), [("2026-11-30", True), ("2027-02-28", True), ("2027-03-01", False)]
)
def test_a_date_may_be_computed_from_today(day: str, passes: bool) -> None:
    """Failure case: date arithmetic."""
    bounds = (Day(), Day(days=90))
    source = Source(kind=SourceKind.COMPUTED, operands=("x",), bounds=bounds)
    assert isinstance(judged({"due": day}, a_rule("/due", sources=(source,))), Case) is passes


def test_a_near_miss_is_told_to_the_caller_and_to_nobody_else() -> None:
    """Failure case: near miss."""
    near: dict[str, Json] = {"/customer_id": "c-1001"}
    refusal = judged({"customer_id": "c-1010"}, a_rule(), near=near)
    assert isinstance(refusal, Refusal)
    assert "one slip" in refusal.reason
    assert "c-1001" not in refusal.reason  # which events keep
    assert refusal.details[0]["did_you_mean"] == "c-1001"
    assert "`c-1001`" in refusal.next  # models are shown texts, and rarely anything else
    held = judged({"customer_id": "c-1010"}, a_rule(on_fail=OnFail.APPROVE), near=near)
    assert isinstance(held, Case)
    assert "one slip" in held.held


def test_a_refusal_says_what_would_be_accepted() -> None:
    rule = a_rule(
        "/amount",
        sources=(replace(FROM_CRM, within_run=True), *COLLECTED),
        max_of=True,
        trust_min=SourceTrust.SYSTEM,
        same_record_as="/to",
    )
    refusal = judged({"amount": 5}, rule)
    assert isinstance(refusal, Refusal)
    assert refusal.details[0]["accepted"] == (
        "at most what is said by results(crm.customer_id, within: run) or collected(id) in the "
        "same record as `/to`, trusted as system or better"
    )


def test_every_doubt_is_told_to_who_decides() -> None:
    rules = (a_rule(on_fail=OnFail.APPROVE), a_rule("/b", on_fail=OnFail.APPROVE))
    case = judged({"customer_id": "c7", "b": 1}, *rules)
    assert isinstance(case, Case)
    assert "/customer_id" in case.held
    assert any("/b" in note for note in case.notes)


def test_what_the_gateway_calls_by_itself_needs_no_origin() -> None:
    call = a_call(cause="compensation")
    assert isinstance(judged({"customer_id": "c7"}, a_rule(), call=call), Case)


@pytest.mark.parametrize("where", ["run", "actor", "elsewhere"])
@pytest.mark.parametrize("tainted", [True, False])
def test_a_call_may_be_refused_once_others_could_write_what_was_read(
    where: str, tainted: bool
) -> None:
    here: dict[str, Any] = (
        {"run": a_run(tainted), "run_id": "run_1"} if where == "run" else {"is_tainted": tainted}
    )
    if where == "elsewhere":  # the actor was shown it, and the call is made in a run
        here |= {"run": a_run(), "run_id": "run_1"}
    answer = judged({}, when_tainted=WhenTainted.DENY, **here)
    assert isinstance(answer, Refusal) is tainted
    assert not isinstance(answer, Refusal) or answer.code == "tainted"
    left = judged({}, when_tainted=WhenTainted.APPROVE, **here)
    assert isinstance(left, Case)
    assert bool(left.held) is tainted
    free = judged({}, **here)
    assert isinstance(free, Case)
    assert not free.held


def test_only_doubtful_arguments_are_doubtful() -> None:
    rules = (a_rule(), a_rule("/b"), a_rule("/c"))
    case = a_case(
        {"customer_id": "c7", "b": 1},
        contract=a_contract(provenance=rules),
        origins={"/b": (origin(),)},
    )
    assert provenance.doubtful(case) == {"/customer_id"}
    assert provenance.asked(case).keys() == {"/customer_id", "/b"}
    own = a_case({"b": 1}, contract=case.contract, call=a_call(cause="lookup"))
    assert provenance.asked(own) == {}


IDS = (Yield(type="crm.customer_id", path="/id"),)


def then(*sources: Source, yields: tuple[Yield, ...] = IDS, **changes: Any) -> str:
    find = a_contract(a_tool(a_definition("find_customers")), yields=yields)
    rule = ProvenanceRule(pointer="/customer_id", sources=sources, on_fail=OnFail.DENY)
    refusal = judged({"customer_id": "c-1"}, rule, revision=a_revision([find]), **changes)
    assert isinstance(refusal, Refusal)
    return refusal.next


def test_a_refusal_names_the_tool_that_brings_the_value() -> None:
    assert then(FROM_CRM) == (
        "look the value up with `crm.find_customers`, then call again with what that returned"
    )
    assert "`crm" not in then(FROM_CRM, yields=())


def test_a_value_of_this_run_wants_a_run_first() -> None:
    within = replace(FROM_CRM, within_run=True)
    assert then(within).startswith("begin a run with `run_start`, look the value up")
    assert then(within, run_id="run_1").startswith("look the value up")


def test_a_value_that_no_tool_brings_sends_nobody_looking() -> None:
    collected = Source(kind=SourceKind.COLLECTED, operands=("customer_id",))
    listed = Source(kind=SourceKind.ALLOWLIST, operands=("c-2",))
    assert "`run_set_field`" in then(collected)
    assert then(listed) == "call again with a value that is allowed there"
