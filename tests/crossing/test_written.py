"""What policy wrote into arguments that have to come from somewhere."""

from typing import Any

import pytest

from gateway.case import Case, Origin, Verdict
from gateway.judging import judge
from gateway.steps import constrain
from gateway.types.decisions import Constraint, Decision, DecisionEffect
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Collected, Run, Trust
from gateway.types.tools import OnFail, ProvenanceRule, Source, SourceKind
from tests.helpers.cases import a_case, a_contract, a_definition, a_tool

PAY = a_tool(
    a_definition(
        "pay",
        {name: {"type": "string"} for name in ("customer", "invoice", "other")},
    )
)
FIELDS = {
    "theirs": Collected(value="c-7", trust=Trust.HOST, source="user", at=0),
    "found": Collected(value="c-7", trust=Trust.MODEL, source="crm.id", at=0),
    "said": Collected(value="c-7", trust=Trust.MODEL, source="model", at=0),
}
SEEN = (Origin(type="crm.id", record="r", tool="crm.find"),)
RESULTS = Source(kind=SourceKind.RESULTS, operands=("crm.id",))


def a_rule(**changes: Any) -> ProvenanceRule:
    fields: dict[str, Any] = {
        "pointer": "/customer",
        "sources": (RESULTS,),
        "on_fail": OnFail.DENY,
    }
    return ProvenanceRule(**(fields | changes))


def written(
    expression: str,
    *rules: ProvenanceRule,
    sent: JsonObject | None = None,
    value: Json = "c-7",
    **origins: tuple[Origin, ...],
) -> Case | Refusal:
    """Return the case after policy has written the customer by an expression."""
    constraint = Constraint(
        pointer="/customer", kind="set", value=value, rule="r", expression=expression
    )
    decision = Decision(effect=DecisionEffect.ALLOW, constraints=(constraint,), rule="r")
    places = {"found": "run.fields.found", "customer": "/customer", "invoice": "/invoice"}
    return constrain.apply(
        a_case(
            tool=PAY,
            contract=a_contract(PAY, provenance=rules or (a_rule(),)),
            arguments=sent or {},
            decision=decision,
            origins={places[name]: each for name, each in origins.items()},
            run=Run(run_id="run_1", tenant="acme", owner="o", user="sam", fields=FIELDS),
            run_id="run_1",
        )
    )


@pytest.mark.parametrize("expression", ["", "'c-7'", "identity.user", "run.fields.theirs"])
def test_what_people_and_hosts_have_written_needs_no_origin(expression: str) -> None:
    assert isinstance(written(expression), Case)


@pytest.mark.parametrize(
    "expression",
    ["args.other", "run.said.said", "run.objective", "run.fields['said']", "run.fields.said"],
)
def test_what_a_model_had_a_say_in_is_judged_like_an_argument(expression: str) -> None:
    answer = written(expression)
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code) == (Status.PROVENANCE_FAILED, "origin_unknown")


def test_the_origin_of_the_value_before_is_none_of_the_one_that_was_written() -> None:
    sent: JsonObject = {"customer": "c-1"}
    assert isinstance(written("args.other", sent=sent, customer=SEEN), Refusal)
    kept = written("args.other", sent=sent, value="c-1", customer=SEEN)
    assert isinstance(kept, Case)  # it writes what had been judged already


@pytest.mark.parametrize("expression", ["run.fields.found", "args.other"])
def test_a_field_that_a_result_bears_out_has_the_origin_of_that_result(expression: str) -> None:
    for rule in (
        a_rule(),
        a_rule(sources=(Source(kind=SourceKind.COLLECTED, operands=("found",)),)),
    ):
        assert isinstance(written(expression, rule, found=SEEN), Case)
        assert isinstance(written(expression, rule), Refusal)


def test_what_has_to_share_a_record_is_judged_again_with_its_partner() -> None:
    rule = a_rule(pointer="/invoice", same_record_as="/customer")
    other = (Origin(type="crm.id", record="other", tool="crm.find"),)
    sent: JsonObject = {"customer": "c-1", "invoice": "i-1"}
    same = written("run.fields.found", rule, sent=sent, customer=SEEN, invoice=SEEN, found=SEEN)
    assert isinstance(same, Case)
    mixed = written("run.fields.found", rule, sent=sent, customer=SEEN, invoice=SEEN, found=other)
    assert isinstance(mixed, Refusal)


def test_people_decide_about_what_was_written_where_the_contract_says_so() -> None:
    held = written("args.other", a_rule(on_fail=OnFail.APPROVE))
    assert isinstance(held, Case)
    assert held.decision.effect is DecisionEffect.REQUIRE_APPROVAL
    assert held.decision.code == "provenance_unproven"
    noted = written("args.other", a_rule(on_fail=OnFail.LOG))
    assert isinstance(noted, Case)
    assert noted.decision.effect is DecisionEffect.ALLOW
    assert noted.notes


def test_a_rule_can_not_copy_one_argument_into_another_that_is_judged() -> None:
    policy = """\
rules:
  - id: copy
    decision: allow
    match: {tools: ["crm.*"]}
    constrain: {set: {customer: args.other}}
"""
    contract = a_contract(PAY, provenance=(a_rule(),))
    said: Verdict = judge(a_case({"other": "c-9"}, tool=PAY, contract=contract, policy=policy))
    assert said.refusal is not None
    assert said.refusal.code == "origin_unknown"
