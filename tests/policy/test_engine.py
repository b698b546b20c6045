"""The engine: which rule decides, and what becomes of one that can't be evaluated."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gateway.errors import FileError
from gateway.types.calls import Method
from gateway.types.decisions import (
    DecisionEffect,
    ShadowDecision,
)
from gateway.types.json import Json
from gateway.types.runs import Collected, Run, Trust
from gateway.types.tools import Effect, Kind, Risk
from tests.policy.example import NOW, POLICY, policy, refund, request

EXAMPLE = policy(POLICY)
ALLOW, DENY = DecisionEffect.ALLOW, DecisionEffect.DENY
APPROVAL = DecisionEffect.REQUIRE_APPROVAL


@pytest.mark.parametrize(
    ("amount", "effect", "code", "rule"),
    [
        (50, ALLOW, "allowed", "payments.refund.small"),
        (50.0, ALLOW, "allowed", "payments.refund.small"),
        (1000, ALLOW, "allowed", "payments.refund.small"),
        (1000.01, APPROVAL, "approval_required", "payments.refund.large"),
        (10000, APPROVAL, "approval_required", "payments.refund.large"),
        (10000.5, DENY, "amount_over_cap", "payments.refund.cap"),
        (2**70, DENY, "policy_evaluation_error", "payments.refund.large"),
        ("50", DENY, "policy_evaluation_error", "payments.refund.large"),
    ],
)
def test_the_strongest_rule_decides(
    amount: Json, effect: DecisionEffect, code: str, rule: str
) -> None:
    decision = EXAMPLE.decide(refund(amount))
    assert (decision.effect, decision.code, decision.rule) == (effect, code, rule)
    assert decision.place.startswith("a.yaml:")


def test_what_no_rule_allows_is_denied_under_the_code_of_the_file() -> None:
    decision = EXAMPLE.decide(request("hr.read", effect=Effect.READ, risk=Risk.LOW))
    assert (decision.effect, decision.code, decision.rule) == (DENY, "no_matching_rule", "")
    told = policy("default: {code: closed, reason: ask the help desk}").decide(request())
    assert (told.code, told.reason) == ("closed", "ask the help desk")


def test_a_changed_definition_is_denied() -> None:
    changed = replace(refund(5), pin="sha256:other")
    assert EXAMPLE.decide(changed).code == "tool_schema_changed"


def test_every_matching_rule_is_recorded_strongest_first() -> None:
    both = policy(
        """
rules:
  - {id: late.allow, decision: allow}
  - {id: first.allow, decision: allow}
  - {id: note, decision: obligation, constrain: {set: {a: 1}}}
  - {id: first.deny, decision: deny, code: no}
  - {id: second.deny, decision: deny}
"""
    )
    decision = both.decide(request())
    assert decision.rule == "first.deny"
    assert decision.matched == ("first.deny", "second.deny", "late.allow", "first.allow", "note")
    assert decision.constraints == ()


def test_files_decide_in_the_order_of_their_names() -> None:
    one = policy("rules: [{id: from.a, decision: allow}]", "rules: [{id: from.b, decision: allow}]")
    assert one.decide(request()).rule == "from.a"


@pytest.mark.parametrize("decision", ["allow", "deny", "obligation"])
@pytest.mark.parametrize("when", ["args.nope == 1", "args.flag", "1 / args.zero == 1"])
def test_a_condition_that_fails_denies_wherever_it_stands(decision: str, when: str) -> None:
    """case: AUT-08"""
    rules = policy(
        f"""
rules:
  - {{id: fine, decision: allow}}
  - id: broken
    decision: {decision}
    when: {when}
{"    risk: low" if decision == "obligation" else ""}
"""
    )
    word = rules.decide(request(arguments={"flag": "yes", "zero": 0}))
    assert (word.effect, word.code, word.rule) == (DENY, "policy_evaluation_error", "broken")
    assert word.place == "a.yaml:4"
    assert "rule `broken` can't be evaluated for this call" in word.reason


def test_a_condition_of_a_rule_that_does_not_match_is_not_evaluated() -> None:
    rules = policy(
        """
rules:
  - {id: fine, decision: allow}
  - {id: broken, decision: deny, when: args.nope == 1, match: {roles: {any: [nobody]}}}
"""
    )
    assert rules.decide(request()).effect is ALLOW


def test_the_class_that_a_rule_raises_is_seen_by_the_others() -> None:
    rules = policy(
        """
rules:
  - {id: easy, decision: allow, match: {risk: [low, medium, high]}}
  - {id: night, decision: obligation, risk: critical, when: args.amount > 100}
  - id: hard
    decision: require_approval
    match: {risk: [critical]}
    when: tool.risk == "critical"
    approval: {approvers: {roles: [lead]}}
"""
    )
    low = rules.decide(request(arguments={"amount": 5}))
    high = rules.decide(request(arguments={"amount": 500}))
    assert (low.rule, low.risk) == ("easy", None)
    assert (high.rule, high.risk) == ("hard", Risk.CRITICAL)
    assert high.matched == ("hard", "night")


def test_a_class_is_never_lowered() -> None:
    rules = policy("rules: [{id: a, decision: allow, risk: low}]")
    assert rules.decide(request(risk=Risk.HIGH)).risk is None


def test_shadow_rules_are_recorded_and_never_enforced() -> None:
    rules = policy(
        """
rules:
  - {id: go, decision: allow}
  - {id: strict, decision: deny, code: too_bold, mode: shadow}
  - {id: broken, decision: allow, mode: shadow, when: args.nope == 1}
  - {id: away, decision: deny, mode: shadow, match: {phases: [planning]}}
  - {id: louder, decision: obligation, risk: critical, mode: shadow}
""",
        "mode: shadow\nrules: [{id: set, decision: deny}]",
    )
    decision = rules.decide(request())
    assert decision.effect is ALLOW
    assert decision.matched == ("go",)
    assert decision.risk is None
    assert decision.shadow == (
        ShadowDecision(effect=DENY, rule="strict", code="too_bold"),
        ShadowDecision(effect=DENY, rule="set", code="denied"),
        ShadowDecision(effect=DENY, rule="broken", code="policy_evaluation_error"),
    )
    assert rules.may(request())


def test_a_decision_depends_on_the_given_time_only() -> None:
    rules = policy("rules: [{id: day, decision: allow, when: now.getHours() < 12}]")
    assert rules.decide(request()).effect is ALLOW
    later = replace(request(), now=NOW + timedelta(hours=6))
    assert rules.decide(later).effect is DENY


def test_every_name_can_be_used_in_a_condition() -> None:
    rules = policy(
        """
sets: {known: [acme, 7]}
rules:
  - id: all
    decision: allow
    when: >-
      identity.user == "sam" && identity . tenant in sets.known && "support" in identity.roles
      && "crm:read" in identity.scopes && identity.client == "desk"
      && tool.name == "payments.refund" && tool.server == "payments" && tool.effect == "write"
      && tool.risk == "high" && tool.schema_hash == tool.pinned_hash && run.id == "run_1"
      && run.phase == "acting" && now > timestamp("2026-01-01T00:00:00Z") && args.a == 1
"""
    )
    assert rules.decide(request(arguments={"a": 1})).effect is ALLOW


def test_a_policy_without_files_denies_everything() -> None:
    assert policy().decide(request()).code == "no_matching_rule"
    assert not policy().may(request())


def test_what_is_no_tool_is_never_let_through_with_arguments_that_nobody_writes() -> None:
    rules = policy(
        """
rules:
  - {id: all, decision: allow, match: {methods: ["*"]}}
  - id: tenant
    decision: obligation
    match: {methods: ["*"]}
    constrain: {set: {tenant: identity.tenant}}
"""
    )
    assert rules.decide(request()).effect is ALLOW
    prompt = replace(request("crm.reply"), method=Method.GET_PROMPT, kind=Kind.PROMPT)
    decision = rules.decide(prompt)
    assert (decision.effect, decision.code) == (DENY, "policy_evaluation_error")


def test_conditions_see_the_method_and_the_uri() -> None:
    rules = policy(
        """
rules:
  - id: handbook
    decision: allow
    match: {methods: ["*"]}
    when: request.method == 'resources/read' && resource.uri.startsWith('file:///handbook/')
"""
    )
    read = replace(
        request("file:///handbook/travel.md"), method=Method.READ_RESOURCE, kind=Kind.RESOURCE
    )
    assert rules.decide(read).effect is ALLOW
    assert rules.decide(replace(read, method=Method.SUBSCRIBE)).effect is DENY
    assert rules.decide(replace(read, tool="file:///payroll/may.md")).effect is DENY


def test_shadow_rules_watch_every_method() -> None:
    rules = policy(
        """
rules:
  - {id: all, decision: allow, match: {methods: ["*"]}}
  - {id: watch, decision: deny, code: no_asking, mode: shadow, match: {methods: [roots/list]}}
"""
    )
    decision = rules.decide(replace(request(), method=Method.LIST_ROOTS))
    assert decision.effect is ALLOW
    assert [each.rule for each in decision.shadow] == ["watch"]
    assert rules.asks(request()) == {
        Method.ELICIT,
        Method.SAMPLE,
        Method.LIST_ROOTS,
        Method.LOG,
    }


ROWS = """
sets: {regions: [eu, us]}
rules:
  - id: mine
    decision: allow
    output:
      rows:
        - {path: /rows, where: row.tenant == identity.tenant && row.n <= args.most}
        - {path: /rows, where: row.region in sets.regions}
      documents: row.version == "2"
"""


def verdict(row: Json, most: Json = 5) -> list[bool | None]:
    call = replace(request(), arguments={"most": most})
    decision = policy(ROWS).decide(call)
    assert decision.effect is ALLOW
    return [each.holds(row) for each in decision.output.rows]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"tenant": "acme", "n": 5, "region": "eu", "version": "2"}, [True, True, True]),
        ({"tenant": "globex", "n": 6, "region": "x", "version": "1"}, [False, False, False]),
        ({}, [None, None, None]),
        ("text", [None, None, None]),
        ({"tenant": "acme", "n": 2**70, "region": "eu", "version": "2"}, [None, True, True]),
        ({"tenant": "acme", "n": 1, "other": 2**70, "region": "eu", "version": "2"},
         [True, True, True]),
        ({"tenant": "acme", "n": Decimal("1.5"), "region": "us", "version": 2},
         [None, True, False]),
        ({"tenant": "acme", "n": 1, "gone": None, "region": "eu", "version": ""},
         [True, True, False]),
    ],
)  # fmt: skip
def test_a_row_is_judged_for_the_caller_by_every_condition(
    row: Json, expected: list[bool | None]
) -> None:
    assert verdict(row) == expected


def test_the_context_of_a_search_is_written_from_the_actor_and_the_run() -> None:
    rules = policy(
        """
rules:
  - id: a
    decision: allow
    constrain:
      set:
        context: >-
          {'tenant': identity.tenant, 'roles': identity.roles, 'task': run.task,
          'customer': run.fields.customer_id}
"""
    )
    field = Collected(value="c-1", trust=Trust.HOST, source="host", at=0)
    run = Run(
        run_id="r", tenant="acme", owner="o", user="sam", task_id="T-1",
        fields={"customer_id": field},
    )  # fmt: skip
    (written,) = rules.decide(replace(request(), run=run)).constraints
    assert written.value == {
        "tenant": "acme",
        "roles": ["support"],
        "task": "T-1",
        "customer": "c-1",
    }
    assert rules.decide(request()).code == "policy_evaluation_error"


def test_what_conditions_can_not_hold_is_still_there() -> None:
    """Or a row would leave for lack of what forbids it."""
    text = "rules: [{id: a, decision: allow, output: {rows: [{path: /r, where: '!has(row.x)'}]}}]"
    (rows,) = policy(text).decide(request()).output.rows
    assert rows.holds({}) is True
    assert rows.holds({"x": 2**70}) is False
    assert rows.holds({"x": Decimal("0.1")}) is False


@pytest.mark.parametrize(
    "where",
    [
        "row.a == 1 && has(row.b)",
        "row . a == 1 && row.b == 2",
        "row['a'] == 1",
        "size(row) == 3",
        "row == {'a': 1, 'b': 2, 'c': 3}",
        "[row].exists(row, row.c == 3)",
        "row.exists(key, key == 'c')",
        "row.exists (key, key == 'c')",
        "row.map(key, row.b).size() == 3",
        "row.all(key, row[key] > 0)",
        "args.most == 5 && row.a < row.b",
    ],
)
def test_a_condition_sees_all_of_a_row_that_it_reads(where: str) -> None:
    rule = f'{{id: a, decision: allow, output: {{rows: [{{path: /r, where: "{where}"}}]}}}}'
    text = f"rules: [{rule}]"
    (rows,) = policy(text).decide(replace(request(), arguments={"most": 5})).output.rows
    assert rows.holds({"a": 1, "b": 2, "c": 3}) is True
    assert rows.holds({"a": 7, "b": 2, "d": -1, "e": 5}) is not True


def test_rows_count_for_the_result_of_a_task_as_well() -> None:
    text = "rules: [{id: a, decision: allow, output: {rows: [{path: /r, where: row.ok}]}}]"
    decision = policy(text).decide(replace(request(), method=Method.GET_TASK))
    assert [each.path for each in decision.output.rows] == ["/r"]


def test_rows_of_every_rule_that_obliges_count() -> None:
    text = """
rules:
  - {id: a, decision: allow, output: {rows: [{path: /r, where: row.a}]}}
  - {id: b, decision: obligation, output: {rows: [{path: /r, where: row.b}]}}
"""
    decision = policy(text).decide(request())
    assert [(each.rule, each.where) for each in decision.output.rows] == [
        ("a", "row.a"),
        ("b", "row.b"),
    ]


@pytest.mark.parametrize(
    ("where", "message"),
    [("rows.x", "no name `rows.x` here; did you mean `row`?"), ("'x'", "not true or false")],
)
def test_a_condition_on_rows_is_checked_when_it_is_read(where: str, message: str) -> None:
    text = f"""
rules:
  - id: a
    decision: allow
    output: {{rows: [{{path: /r, where: "{where}"}}]}}
"""
    with pytest.raises(FileError, match=re.escape(message)) as refused:
        policy(text)
    assert ":5:" in str(refused.value)
