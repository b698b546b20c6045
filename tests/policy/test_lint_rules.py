import pytest

from gateway.policy import lint_rules
from gateway.policy.survey import survey
from tests.policy.example import CONTRACTS, files


def found(rules: str, *checks: str) -> list[str]:
    view = survey(files(f"rules:\n{rules}"), CONTRACTS, ["lead"])
    return [each.message for each in lint_rules.check(view) if each.check in checks]


@pytest.mark.parametrize(
    "strong",
    [
        "{id: s, decision: deny, code: x}",
        "{id: s, decision: deny, code: x, match: {tools: ['crm.*', '*']}}",
        "{id: s, decision: deny, code: x, match: {tools: [crm.find], phases: [acting, planning]}}",
        "{id: s, decision: allow, match: {tools: ['crm.*'], scopes: {all: [a]}}}",
        "{id: s, decision: require_approval, approval: {approvers: {roles: [lead]}}}",
    ],
)
def test_a_rule_behind_a_wider_unconditional_one_can_never_decide(strong: str) -> None:
    weak = (
        "{id: w, decision: allow, when: args.a == 1, "
        "match: {tools: [crm.find], phases: [acting], scopes: {all: [a, b]}}}"
    )
    said = found(f"  - {strong}\n  - {weak}", "never-decides")
    assert said == ["rule `w` can never decide: `s` (a.yaml:2) always decides before it"]


@pytest.mark.parametrize(
    "strong",
    [
        "{id: s, decision: deny, code: x, when: args.b == 1}",
        "{id: s, decision: deny, code: x, mode: shadow}",
        "{id: s, decision: deny, code: x, match: {tools: [crm.save]}}",
        "{id: s, decision: deny, code: x, match: {phases: [planning]}}",
        "{id: s, decision: deny, code: x, match: {scopes: {all: [c]}}}",
        "{id: s, decision: deny, code: x, match: {roles: {any: [r]}}}",
        "{id: s, decision: obligation, risk: high}",
    ],
)
def test_a_rule_that_some_call_reaches_is_not_dead(strong: str) -> None:
    weak = "{id: w, decision: allow, match: {tools: [crm.find], phases: [acting]}}"
    assert found(f"  - {strong}\n  - {weak}", "never-decides") == []


def test_a_later_rule_of_the_same_effect_does_not_bury_an_earlier_one() -> None:
    rules = "  - {id: a, decision: allow, match: {tools: [crm.find]}}\n  - {id: b, decision: allow}"
    assert found(rules, "never-decides") == []


def test_a_rule_that_raises_the_class_may_leave_the_one_that_buries_it() -> None:
    rules = """\
  - {id: a, decision: deny, code: x, match: {risk: [low]}}
  - {id: b, decision: allow, match: {risk: [low]}, risk: critical}
"""
    assert found(rules, "never-decides") == []


def test_a_pattern_is_not_buried_by_the_tools_that_are_known_today() -> None:
    rules = """\
  - {id: a, decision: deny, code: x, match: {tools: [crm.search_customers]}}
  - {id: b, decision: allow, match: {tools: ["crm.*"]}}
"""
    assert found(rules, "never-decides") == []


def test_an_allow_rule_for_everybody_is_told() -> None:
    rules = """\
  - {id: a, decision: allow}
  - {id: b, decision: allow, match: {roles: {any: [x]}}}
  - {id: c, decision: allow, match: {scopes: {any: [x]}}}
  - {id: d, decision: deny, code: x}
"""
    (said,) = found(rules, "open-allow")
    assert said.startswith("rule `a` allows without a role or scope")


def test_a_set_counts_as_used_wherever_it_is_used() -> None:
    text = """\
sets: {one: [a], two: [b], three: [c]}
rules:
  - {id: a, decision: allow, match: {tenants: {in_set: one}}, when: identity.user in sets.two}
"""
    view = survey(files(text), (), ())
    said = [each.message for each in lint_rules.check(view) if each.check == "unused-set"]
    assert said == ["set `three` is used by no rule"]
