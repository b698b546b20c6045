"""Step 7: policy."""

from gateway.case import Case
from gateway.pipeline import judge
from gateway.steps import policy
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Risk
from tests.helpers.cases import a_case

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
