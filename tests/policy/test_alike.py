from dataclasses import replace
from typing import Any

import pytest

from gateway.policy.alike import alike
from gateway.policy.request import PolicyRequest
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from tests.helpers.runs import a_run
from tests.policy.example import SAM, policy, request

TEXT = """
rules:
  - {id: small, decision: allow, when: args.amount < 100}
  - {id: nobody, decision: deny, match: {roles: {any: [nobody]}}}
  - {id: closed, decision: deny, match: {phases: [completed]}}
  - {id: writes, decision: deny, match: {effects: [write]}}
  - {id: high, decision: deny, match: {risk: [high]}}
  - {id: refunds, decision: deny, match: {templates: [refund]}}
  - {id: undo, decision: deny, match: {causes: [compensation]}}
"""


def asked(**changes: Any) -> PolicyRequest:
    made = request(effect=Effect.READ, risk=Risk.LOW, arguments={"amount": 1})
    return replace(made, **changes)


def test_only_rules_that_match_are_left_to_be_evaluated() -> None:
    rules = policy(TEXT)
    made = asked()
    about = alike(rules.candidates(made.target), made, Risk.HIGH)
    assert [rule.id for rule in about.enforced] == ["high", "small"]


def test_a_decision_of_requests_that_are_alike_is_made_once() -> None:
    rules = policy(TEXT)
    first = rules.decide(asked())
    assert first.effect is DecisionEffect.ALLOW
    assert rules.decide(asked(arguments={"amount": 2}, run_id="run_2")) is first
    assert rules.decide(asked(arguments={"amount": 200})).effect is DecisionEffect.DENY
    assert rules.decide(asked()) is first


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"actor": replace(SAM, roles=frozenset({"nobody"}))}, "nobody"),
        ({"phase": Phase.COMPLETED}, "closed"),
        ({"effect": Effect.WRITE}, "writes"),
        ({"risk": Risk.HIGH}, "high"),
        ({"run": replace(a_run(), template="refund")}, "refunds"),
        ({"cause": Cause.COMPENSATION}, "undo"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_rule_may_be_about_tells_requests_apart(changes: dict[str, Any], rule: str) -> None:
    rules = policy(TEXT)
    assert rules.decide(asked()).rule == "small"
    assert rules.decide(asked(**changes)).rule == rule
    assert rules.decide(asked()).rule == "small"


def test_a_decision_that_is_made_of_arguments_is_made_each_time() -> None:
    rules = policy(
        """
rules:
  - id: pay
    decision: allow
    constrain: {set: {limit: args.amount + 1}}
"""
    )
    found = [rules.decide(asked(arguments={"amount": each})) for each in (1, 2)]
    assert [each.constraints[0].value for each in found] == [2, 3]


def test_what_fails_for_the_arguments_of_one_request_is_no_answer_to_the_next() -> None:
    rules = policy(
        """
rules:
  - id: pay
    decision: allow
    limits: [{id: money, per: [tenant], sum: args.amount, max: 100, window: 1h}]
"""
    )
    amounts = (1, -1, 2, "much", 3)
    found = [rules.decide(asked(arguments={"amount": each})) for each in amounts]
    assert [each.effect.value for each in found] == ["allow", "deny", "allow", "deny", "allow"]


def test_a_decision_names_the_revision_in_force() -> None:
    rules = policy(TEXT)
    assert rules.decide(asked()).revision == ""
    rules.revision = "sha256:1"
    assert rules.decide(asked()).revision == "sha256:1"
