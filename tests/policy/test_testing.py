from dataclasses import replace

import pytest

from gateway.policy.cases import CallUnderTest, load
from gateway.policy.testing import Left, Report, policy_only, run
from gateway.types.decisions import Decision, DecisionEffect
from tests.policy.example import CONTRACTS, POLICY, policy

EXAMPLE = policy(POLICY)
HEAD = """\
callers:
  sam: {user: sam, tenant: acme, roles: [support], scopes: ["payments:write", "crm:read"]}
  ops: {user: ops, tenant: acme, roles: [sre], scopes: ["infra:admin"]}
defaults: {as: sam}
tests:
"""
REFUND = "call: payments.refund, args: {request_id: r, order_id: o, amount: %s, currency: EUR}"


def report(*cases: str, valid: str = "") -> Report:
    text = HEAD + "".join(f"  - {{{case}}}\n" for case in cases)
    ready = load(text, file="t.yaml").cases({each.tool: each for each in CONTRACTS})
    return run(ready, EXAMPLE, validate=lambda _: valid)


@pytest.mark.parametrize(
    "case",
    [
        f"{REFUND % 50}, expect: {{decision: allow, rule: payments.refund.small}}",
        f"{REFUND % 1000}, expect: {{decision: allow, code: allowed}}",
        f"{REFUND % 1000.01}, expect: {{decision: require_approval, approvers: [finance-lead]}}",
        f"{REFUND % 5000}, expect: {{quorum: 1, risk: critical}}",
        f"phase: planning, {REFUND % 5}, expect: {{code: phase_forbids_side_effects}}",
        "call: crm.search_customers, args: {query: x, limit: 200}, "
        "expect: {decision: allow, args: {query: x, tenant: acme, limit: 50}}",
        "call: crm.search_customers, args: {query: x}, schema_hash: 'sha256:other', "
        "expect: {decision: deny, code: tool_schema_changed}",
        "as: ops, call: infra.drop_database, args: {name: x}, "
        "expect: {decision: require_approval, quorum: 2, approvers: [security, sre-lead]}",
        f"{REFUND % 5000}, expect: {{factors: {{approvers: 1}}}}",
        f"{REFUND % 50}, expect: {{factors: {{}}}}",
        f"{REFUND % 50}, expect: {{shadow: []}}",
    ],
)
def test_a_case_passes_when_everything_it_names_comes_about(case: str) -> None:
    assert report(f"name: it, {case}").text().startswith("1 passed, 0 failed")


def test_failures_stand_last_and_passes_only_where_they_are_asked_for() -> None:
    bad, good = (f"{REFUND % 50}, expect: {{decision: {each}}}" for each in ("deny", "allow"))
    cases = load(HEAD + f"  - {{name: bad, {bad}}}\n  - {{name: good, {good}}}\n", file="t.yaml")
    found = run(
        cases.cases({each.tool: each for each in CONTRACTS}), EXAMPLE, validate=lambda _: ""
    )
    words = [line.split()[:2] for line in found.text(verbose=True).splitlines()]
    assert words == [["PASS", "good"], ["FAIL", "bad"], ["1", "passed,"]]
    assert [line.split()[:2] for line in found.text().splitlines()] == words[1:]


def test_arguments_that_differ_are_told_as_json() -> None:
    case = (
        "call: crm.search_customers, args: {query: mär, limit: 200}, "
        "expect: {decision: allow, args: {query: mär}}"
    )
    (result,) = report(f"name: it, {case}").results
    assert 'args: expected {"query":"mär"}, got {' in result.problems[0]
    assert "'" not in result.problems[0]


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (f"{REFUND % 50}, expect: {{decision: deny}}", "decision: expected deny, got allow"),
        (f"{REFUND % 50}, expect: {{rule: other}}", "rule: expected other, got payments.refund.s"),
        (f"{REFUND % 50}, expect: {{quorum: 1}}", "quorum: expected 1, got none"),
        (f"{REFUND % 50}, expect: {{risk: critical}}", "risk: expected critical, got high"),
        (f"{REFUND % 5000}, expect: {{approvers: [x]}}", "approvers: expected x, got finance-lead"),
        (
            f"{REFUND % 5000}, expect: {{factors: {{finance: 2, legal: 1}}}}",
            "factors: expected 1 of legal, 2 of finance, got 1 of approvers",
        ),
        (f"{REFUND % 50}, expect: {{shadow: [x]}}", "shadow: expected x, got none"),
        (f"{REFUND % 50000}, expect: {{args: {{}}}}", "args: the call is denied"),
        (f"{REFUND % 50}, expect: {{args: {{}}}}", 'args: expected {}, got {"request_id":"r"'),
        (
            "call: crm.search_customers, args: {limit: x}, expect: {args: {}}",
            "args: `/limit` is not a number",
        ),
        ("call: crm.nope, expect: {decision: deny}", "no tool `crm.nope`"),
    ],
)
def test_a_case_fails_with_what_came_instead(case: str, problem: str) -> None:
    (result,) = report(f"name: it, {case}").results
    assert not result.passed
    assert problem in result.problems[0]


def test_arguments_that_the_tool_would_refuse_fail_the_case() -> None:
    told = report(f"name: it, {REFUND % 50}, expect: {{decision: allow}}", valid="`/x`: no")
    assert told.failed == 1
    assert "the arguments do not match the tool's schema: `/x`: no" in told.text()


def test_coverage_counts_rules_that_decided_and_conditions_seen_both_ways() -> None:
    told = report(
        f"name: small, {REFUND % 50}, expect: {{decision: allow}}",
        f"name: large, {REFUND % 5000}, expect: {{decision: require_approval}}",
    )
    cover = told.coverage
    assert cover.decided == {"payments.refund.small", "payments.refund.large"}
    assert "payments.refund.cap" in cover.never_decided
    assert cover.rule_ratio == 0.2
    assert cover.seen_true == {"payments.refund.small", "payments.refund.large"}
    assert cover.seen_true <= cover.seen_false
    assert cover.condition_ratio == pytest.approx(2 / 7)
    assert "rules decided 2/10; never decided: guard.pinned-schema" in told.text()


def test_a_policy_without_rules_is_covered() -> None:
    cover = run([], policy(), validate=lambda _: "").coverage
    assert (cover.rule_ratio, cover.condition_ratio) == (1.0, 1.0)
    assert run([], policy(), validate=lambda _: "").text() == (
        "0 passed, 0 failed; rules decided 0/0"
    )


def test_the_whole_pipeline_can_stand_in_for_the_policy() -> None:
    alone = policy_only(EXAMPLE)

    def strict(call: CallUnderTest) -> Decision:
        return replace(alone(call), effect=DecisionEffect.DENY, code="phase_blocked")

    text = HEAD + f"  - {{name: it, {REFUND % 50}, expect: {{code: phase_blocked}}}}\n"
    ready = load(text, file="t.yaml").cases({each.tool: each for each in CONTRACTS})
    assert run(ready, EXAMPLE, validate=lambda _: "", decide=strict).failed == 0


def test_coverage_counts_what_cases_of_other_methods_reach() -> None:
    rules = policy(
        """
rules:
  - {id: read, decision: allow, match: {resources: ["file:*"], servers: [files]}}
  - {id: ask, decision: allow, match: {methods: [roots/list]}, when: "'support' in identity.roles"}
"""
    )
    text = HEAD + (
        "  - {name: read, resource: 'file:///a', server: files, expect: {rule: read}}\n"
        "  - {name: ask, ask: roots/list, call: payments.refund, expect: {rule: ask}}\n"
        "  - {name: no, as: ops, ask: roots/list, call: payments.refund, expect: {rule: ''}}\n"
    )
    ready = load(text, file="t.yaml").cases({each.tool: each for each in CONTRACTS})
    told = run(ready, rules, validate=lambda _: "")
    assert told.failed == 0
    assert (told.coverage.rule_ratio, told.coverage.condition_ratio) == (1.0, 1.0)


def test_a_case_in_a_run_may_say_the_phase_that_it_is_decided_in() -> None:
    passed = report(f"name: it, run: {{}}, {REFUND % 50}, expect: {{phase: acting}}")
    assert passed.failed == 0
    failed = report(f"name: it, run: {{}}, {REFUND % 50}, expect: {{phase: finalizing}}")
    assert failed.results[0].problems == ("phase: expected finalizing, got acting",)


RESULT = (
    "call: crm.search_customers, args: {query: x}, result: {rows: [1, 2]}, "
    "expect: {decision: allow, result: {rows: [1]}}"
)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (Left(value={"rows": [1]}), "1 passed, 0 failed"),
        (Left(value={"rows": []}), 'result: expected {"rows":[1]}, got {"rows":[]}'),
        (Left(problem="it has no rows"), "result: it has no rows"),
    ],
)
def test_what_leaves_of_a_result_is_compared(left: Left, said: str) -> None:
    ready = load(HEAD + f"  - {{name: it, {RESULT}}}\n", file="t.yaml").cases(
        {each.tool: each for each in CONTRACTS}
    )
    assert said in run(ready, EXAMPLE, validate=lambda _: "", leaves=lambda _: left).text()


def test_a_denied_call_brings_no_result() -> None:
    case = "as: ops, call: crm.search_customers, args: {query: x}, result: {}, expect: {result: {}}"
    ready = load(HEAD + f"  - {{name: it, {case}}}\n", file="t.yaml").cases(
        {each.tool: each for each in CONTRACTS}
    )
    told = run(ready, EXAMPLE, validate=lambda _: "", leaves=lambda _: Left(value={})).text()
    assert "result: the call is denied and brings none" in told
