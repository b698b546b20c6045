"""The engine: limits, constraints, output and approval clauses that come with a decision."""

from gateway.types.decisions import (
    DecisionEffect,
    Limit,
    RedactAs,
)
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk
from tests.policy.example import POLICY, policy, refund, request

EXAMPLE = policy(POLICY)
ALLOW, DENY = DecisionEffect.ALLOW, DecisionEffect.DENY


def test_limits_are_computed_for_the_call() -> None:
    decision = EXAMPLE.decide(refund(50))
    assert decision.limits == (
        Limit(
            id="refunds-per-user",
            key="tenant=acme|user=sam|tool=payments.refund",
            maximum=20,
            window_s=3600,
            amount=1,
            rule="payments.refund.small",
        ),
        Limit(
            id="refund-money",
            key="tenant=acme",
            maximum=25000,
            window_s=86400,
            amount=50,
            rule="payments.refund.small",
        ),
    )


def test_an_amount_that_would_give_back_is_denied() -> None:
    assert EXAMPLE.decide(refund(-50)).code == "policy_evaluation_error"


def test_constraints_and_output_of_the_deciding_rule_are_carried() -> None:
    decision = EXAMPLE.decide(
        request("crm.search_customers", {"query": "x"}, effect=Effect.READ, risk=Risk.LOW)
    )
    demands = [(each.pointer, each.kind, each.value) for each in decision.constraints]
    assert demands == [
        ("/limit", "default", 20),
        ("/tenant", "set", "acme"),
        ("/limit", "max", 50),
    ]
    assert decision.output.keep == ("/items/*/id", "/items/*/name", "/items/*/city")
    assert decision.output.redact[0].form is RedactAs.HASH


def test_obligations_of_every_matching_rule_are_merged() -> None:
    rules = policy(
        """
rules:
  - {id: go, decision: allow, constrain: {max: {limit: 50}}}
  - {id: other, decision: allow, constrain: {max: {limit: 1}}}
  - {id: note, decision: obligation, constrain: {max: {limit: 20}, set: {by: "'gateway'"}}}
  - {id: away, decision: obligation, match: {phases: [planning]}, constrain: {max: {limit: 2}}}
"""
    )
    demands = rules.decide(request()).constraints
    assert [(each.pointer, each.value, each.rule) for each in demands] == [
        ("/limit", 20, "note"),
        ("/by", "gateway", "note"),
    ]


def test_demands_that_can_not_both_be_met_deny() -> None:
    rules = policy(
        """
rules:
  - {id: go, decision: allow, constrain: {set: {tenant: identity.tenant}}}
  - {id: note, decision: obligation, constrain: {set: {tenant: identity.user}}}
"""
    )
    decision = rules.decide(request())
    assert (decision.effect, decision.code) == (DENY, "obligation_conflict")
    assert decision.constraints == ()


def test_a_demand_whose_value_fails_denies() -> None:
    rules = policy("rules: [{id: go, decision: allow, constrain: {max: {limit: args.most}}}]")
    assert rules.decide(request(arguments={"most": 3})).effect is ALLOW
    broken: list[JsonObject] = [{}, {"most": "3"}]
    for arguments in broken:
        assert rules.decide(request(arguments=arguments)).code == "policy_evaluation_error"


def test_the_approval_clause_comes_with_the_decision() -> None:
    decision = EXAMPLE.decide(refund(5000))
    assert decision.approval is not None
    assert decision.approval.roles == ("finance-lead",)
    assert (decision.approval.quorum, decision.approval.expires_s) == (1, 1800)
    assert not decision.approval.requester_may_approve
    assert decision.risk is Risk.CRITICAL


def test_an_approver_called_self_is_the_caller() -> None:
    decision = EXAMPLE.decide(request("mail.send", {"to": ["a@evil.org"]}))
    assert decision.approval is not None
    assert decision.approval.users == ("sam",)
    assert decision.approval.requester_may_approve


def test_an_allowed_call_carries_no_approval_clause() -> None:
    assert EXAMPLE.decide(refund(5)).approval is None
