"""Step 7: policy."""

from dataclasses import replace
from unittest.mock import patch

import pytest

from gateway.case import Case
from gateway.judging import judge
from gateway.runs.templates import Template
from gateway.steps import policy
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import BindingKind, Collected, Phase, Run, Trust
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case, a_contract, a_definition, a_tool

FINANCE_ONLY = """\
rules:
  - {id: crm.finance, decision: allow, match: {tools: ["crm.*"], roles: {any: [finance]}}}
"""
SMALL_ONLY = """\
rules:
  - {id: crm.all, decision: allow, match: {tools: ["crm.*"]}}
  - {id: crm.cap, decision: deny, code: over_cap, reason: too much, when: args.amount > 10.0}
"""
RAISING = """\
rules:
  - {id: crm.raise, decision: allow, match: {tools: ["crm.*"]}, risk: critical}
"""


def decided(case: Case) -> Case:
    answer = policy.decide(case)
    assert isinstance(answer, Case)
    return answer


def test_nothing_is_allowed_unless_a_rule_allows_it() -> None:
    verdict = judge(a_case(policy="rules: []\n"))
    assert verdict.refusal is not None
    assert verdict.refusal.status is Status.DENIED


def test_a_decision_names_rule_and_revision() -> None:
    decision = decided(a_case(arguments={})).decision
    assert (decision.effect, decision.rule) == (DecisionEffect.ALLOW, "all")
    assert decision.revision == "sha256:test"


def test_a_tool_that_no_rule_could_allow_is_hidden() -> None:
    """case: AUT-01"""
    verdict = judge(a_case(policy=FINANCE_ONLY))
    assert verdict.refusal is not None
    assert verdict.refusal.hidden


def test_a_tool_that_is_listed_says_why_this_call_is_denied() -> None:
    """case: AUT-08"""
    verdict = judge(a_case({"amount": 11}, policy=SMALL_ONLY))
    assert verdict.refusal is not None
    assert not verdict.refusal.hidden
    assert (verdict.refusal.code, verdict.refusal.rule) == ("over_cap", "crm.cap")


def test_a_rule_can_raise_the_class() -> None:
    assert decided(a_case(arguments={}, policy=RAISING, risk=Risk.LOW)).risk is Risk.CRITICAL


def test_what_another_check_held_needs_a_person_even_if_a_rule_allows_it() -> None:
    decision = decided(a_case(arguments={}, held="origin unknown")).decision
    assert decision.effect is DecisionEffect.REQUIRE_APPROVAL


def test_listing_keeps_what_some_rule_could_allow() -> None:
    assert isinstance(policy.may_list(a_case(policy=SMALL_ONLY)), Case)
    assert isinstance(policy.may_list(a_case(policy=FINANCE_ONLY)), Refusal)


UNDOING = """\
rules:
  - {id: undo, decision: allow, match: {tools: ["crm.*"], causes: [compensation]}}
  - {id: look, decision: allow, match: {tools: ["crm.*"]}, when: request.cause == "lookup"}
"""


@pytest.mark.parametrize(
    ("cause", "rule"),
    [("", ""), ("verification", ""), ("lookup", "look"), ("compensation", "undo")],
)
def test_a_rule_may_be_about_calls_that_the_gateway_makes_by_itself(cause: str, rule: str) -> None:
    case = a_case(policy=UNDOING, arguments={})
    case = replace(case, call=replace(case.call, cause=cause))
    assert decided(case).decision.rule == rule


def test_what_only_the_gateway_may_call_is_in_nobodys_list() -> None:
    policy_of_one = UNDOING.partition("  - {id: look")[0]
    assert isinstance(policy.may_list(a_case(policy=policy_of_one)), Refusal)


ASKS = """\
rules:
  - {id: crm.all, decision: allow, match: {tools: ["crm.*"]}}
  - id: crm.may-ask
    decision: allow
    match: {methods: [elicitation/create, sampling/createMessage, roots/list], servers: [crm]}
    when: request.method != 'elicitation/create' || !args.message.contains('password')
  - {id: no-sampling, decision: deny, match: {methods: [sampling/createMessage]}}
  - id: held
    decision: require_approval
    match: {methods: [roots/list]}
    approval: {approvers: {roles: [lead]}}
"""


def test_a_server_may_ask_what_some_rule_could_allow() -> None:
    assert policy.asks(a_case(policy=ASKS)) == {Method.ELICIT}
    with patch.object(policy, "request", side_effect=policy.request) as made:
        assert policy.asks(a_case(policy=SMALL_ONLY)) == frozenset()
    assert not made.called  # where no rule lets a server ask, nothing is put together to be asked
    elsewhere = a_case(tool=a_tool(server="hr"), policy=ASKS)
    assert policy.asks(elsewhere) == frozenset()


def test_a_question_is_decided_by_what_it_says() -> None:
    case = a_case(policy=ASKS)
    city = policy.decide_ask(case, Method.ELICIT, {"message": "which city?"})
    assert (city.effect, city.rule) == (DecisionEffect.ALLOW, "crm.may-ask")
    secret = policy.decide_ask(case, Method.ELICIT, {"message": "your password?"})
    assert (secret.effect, secret.rule) == (DecisionEffect.DENY, "")
    assert policy.decide_ask(case, Method.SAMPLE, {}).rule == "no-sampling"
    assert policy.decide_ask(case, Method.LOG, {}).effect is DecisionEffect.DENY
    held = policy.decide_ask(case, Method.LIST_ROOTS, {})
    assert held.effect is DecisionEffect.REQUIRE_APPROVAL


def test_a_request_carries_method_kind_and_the_uri_of_a_resource() -> None:
    uri = "file:///handbook/travel.md"
    resource = a_tool(kind=Kind.RESOURCE, name=uri, exposed_name=uri)
    call = a_call(uri, method=Method.READ_RESOURCE)
    found = policy.request(a_case(tool=resource, call=call))
    assert found.target == (Method.READ_RESOURCE, Kind.RESOURCE, uri, "crm")
    asked = policy.request_for(a_case(tool=resource, call=call), Method.ELICIT)
    assert asked.target == (Method.ELICIT, Kind.RESOURCE, uri, "crm")


OF_RUNS = """\
rules:
  - id: refunds
    decision: allow
    match: {tools: ["crm.*"], templates: [refund]}
    when: run.fields.customer_id == 'c-1001'
"""


def a_run(template: str, customer: str) -> Run:
    field = Collected(value=customer, trust=Trust.HOST, source="host", at=0)
    return Run(
        run_id="run_1",
        tenant="acme",
        owner="o",
        user="sam",
        template=template,
        fields={"customer_id": field},
    )


@pytest.mark.parametrize(
    ("run", "effect"),
    [
        (a_run("refund", "c-1001"), DecisionEffect.ALLOW),
        (a_run("refund", "c-1002"), DecisionEffect.DENY),
        (a_run("lookup", "c-1001"), DecisionEffect.DENY),
        (None, DecisionEffect.DENY),
    ],
)
def test_rules_see_the_run_of_the_call(run: Run | None, effect: DecisionEffect) -> None:
    case = replace(a_case(arguments={}, policy=OF_RUNS), run=run)
    assert decided(case).decision.effect is effect


def test_a_tool_that_rules_allow_in_some_runs_is_listed_where_there_are_templates() -> None:
    case = a_case(policy=OF_RUNS)
    assert isinstance(policy.may_list(case), Refusal)
    templates = {"refund": Template(name="refund")}
    listed = replace(case, revision=replace(case.revision, templates=templates))
    assert isinstance(policy.may_list(listed), Case)


RAISED = """\
rules:
  - {id: notes, decision: allow, match: {tools: ["crm.*"]}}
  - {id: large, decision: obligation, risk: high, match: {tools: ["crm.*"]}, when: args.n > 10.0}
"""


@pytest.mark.parametrize(("number", "refused"), [(1, False), (11, True)])
def test_a_phase_is_asked_again_about_a_class_that_rules_have_raised(
    number: int, refused: bool
) -> None:
    tool = a_tool(a_definition("note", {"n": {"type": "number"}}))
    case = a_case(
        {"n": number},
        tool=tool,
        contract=a_contract(tool, effect=Effect.WRITE, risk=Risk.LOW),
        policy=RAISED,
    )
    last = Template(name="refund", finalizers=frozenset({"crm.note"}))
    run = replaced(a_run("refund", "c-1001"), phase=Phase.FINALIZING)
    verdict = judge(
        replaced(
            case,
            run=run,
            phase=run.phase,
            bound_by=BindingKind.META,
            revision=replace(case.revision, templates={"refund": last}),
        )
    )
    assert (verdict.refusal is not None) is refused
    if verdict.refusal is not None:
        assert verdict.refusal.status is Status.PHASE_BLOCKED
        assert "no write of class high" in verdict.refusal.reason


def test_a_denial_stays_one_whatever_the_phase_says_of_its_class() -> None:
    denying = RAISED + "  - {id: never, decision: deny, code: never, match: {tools: [crm.find]}}\n"
    case = replace(a_case({"n": 11}, policy=denying), arguments={"n": 11.0}, risk=Risk.LOW)
    assert decided(case).decision.code == "never"
