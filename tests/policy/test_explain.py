from gateway.policy.explain import explain, strongest_shadow, trace
from gateway.types.decisions import DecisionEffect
from tests.policy.example import POLICY, policy, refund, request

EXAMPLE = policy(POLICY)


def test_every_rule_about_the_tool_says_why_in_the_order_of_strength() -> None:
    assert explain(EXAMPLE, refund(5000)).text().splitlines() == [
        "require_approval by payments.refund.large (a.yaml:40)",
        "  needs 1 of finance-lead; within 30m",
        "  deny              guard.pinned-schema      no     "
        "when: tool.schema_hash != tool.pinned_hash",
        "  deny              guard.plan-is-read-only  no     phase is acting",
        "  deny              payments.refund.cap      no     when: args.amount > 10000.0",
        "  require_approval  payments.refund.large    MATCH  "
        "role support, scope payments:write, when true",
        "  require_approval  critical.four-eyes       no     no role of sre",
        "  allow             payments.refund.small    no     "
        "when: args.amount <= 1000.0 && args.currency in sets.finance_currencies",
    ]


def test_a_long_condition_is_cut() -> None:
    long = " && ".join(["args.amount > 1"] * 9)
    rules = policy(f"rules: [{{id: a, decision: allow, when: {long}}}]")
    line = explain(rules, refund(0)).text().splitlines()[1]
    assert line.endswith("args.amount ...")
    assert len(line) < 110


def test_a_rule_that_failed_says_what_it_needed() -> None:
    text = explain(EXAMPLE, request()).text()
    assert text.startswith("deny by payments.refund.large (a.yaml:40)")
    assert "ERROR  when: args.amount > 10000.0: `amount` is missing" in text


def test_without_any_rule_the_code_is_told() -> None:
    explanation = explain(policy(), request())
    assert explanation.text() == "deny (no_matching_rule)"
    assert explanation.lines == ()


def test_shadow_rules_and_rules_without_conditions_are_marked() -> None:
    rules = policy(
        """
rules:
  - {id: a, decision: allow}
  - {id: b, decision: deny, mode: shadow}
  - {id: c, decision: obligation, risk: high}
"""
    )
    explanation = explain(rules, request())
    assert [line.rule for line in explanation.lines] == ["b", "a", "c"]
    assert explanation.lines[0].shadow
    assert explanation.text().splitlines()[1].endswith("MATCH  unconditional [shadow]")
    assert strongest_shadow(explanation.decision) is DecisionEffect.DENY


def test_without_shadow_rules_nothing_else_would_have_happened() -> None:
    assert strongest_shadow(EXAMPLE.decide(refund(5))) is None


def test_programs_get_the_same_as_json() -> None:
    told = explain(EXAMPLE, refund(5000)).to_json()
    assert (told["decision"], told["rule"], told["risk"]) == (
        "require_approval",
        "payments.refund.large",
        "critical",
    )
    approval, rules = told["approval"], told["rules"]
    assert isinstance(approval, dict)
    assert (approval["quorum"], approval["expires_s"]) == (1, 1800.0)
    assert explain(EXAMPLE, refund(5)).to_json()["approval"] is None
    assert isinstance(rules, list)
    assert len(rules) == 6


def test_conditions_that_were_reached_are_told_apart_from_those_that_were_not() -> None:
    lines = {line.rule: line.condition for line in trace(EXAMPLE, refund(50))}
    assert lines["payments.refund.small"] is True
    assert lines["payments.refund.cap"] is False
    assert lines["critical.four-eyes"] is None


def test_rules_about_other_tools_are_shown_when_all_are_asked_for() -> None:
    near = {line.rule for line in explain(EXAMPLE, refund(50)).lines}
    every = explain(EXAMPLE, refund(50), every=True).lines
    assert [line.rule for line in every[: len(near)]] == [
        line.rule for line in explain(EXAMPLE, refund(50)).lines
    ]
    rest = every[len(near) :]
    assert {line.rule for line in every} == {rule.id for rule in EXAMPLE.rules}
    assert all(not line.matched and line.why for line in rest)
    isolation = next(line for line in rest if line.rule == "guard.tenant-isolation")
    assert isolation.why.startswith("not covered by ")
