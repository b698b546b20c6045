from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.policy.engine import CompiledPolicy
from gateway.types.calls import Method
from gateway.types.decisions import (
    DecisionEffect,
    Limit,
    RedactAs,
    ShadowDecision,
)
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
from tests.policy.example import NOW, OPS, POLICY, SAM, policy, refund, request

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


def four(rules: CompiledPolicy, arguments: dict[str, Json]) -> list[tuple[bool, str]]:
    tools = ("alpha.find", "alpha.save", "alpha.wipe", "beta.find")
    calls = [request(tool, arguments, effect=Effect.READ) for tool in tools]
    return [(rules.may(call), rules.decide(call).effect.value) for call in calls]


@pytest.mark.parametrize(
    ("rules", "find"),
    [
        ("rules: [{id: d, decision: deny, match: {tools: [alpha.wipe]}}]", (False, "deny")),
        ("rules: [{id: a, decision: allow, match: {tools: [alpha.find]}}]", (True, "allow")),
        (
            """
rules:
  - {id: a, decision: allow, match: {tools: [alpha.find]}}
  - {id: d, decision: deny, match: {tools: [alpha.find]}}
""",
            (False, "deny"),
        ),
        ("rules: []", (False, "deny")),
        (
            """
rules:
  - {id: a, decision: allow, match: {tools: [alpha.find]}, when: "args.path.startsWith('/a')"}
""",
            (True, "deny"),
        ),
    ],
)
def test_a_set_of_rules_does_what_is_written_and_no_more(
    rules: str, find: tuple[bool, str]
) -> None:
    """case: AUT-08"""
    others = [(False, "deny")] * 3
    assert four(policy(rules), {"path": "/b/c"}) == [find, *others]


def test_a_condition_on_arguments_does_not_hide_the_tool() -> None:
    """case: AUT-08"""
    rules = policy(
        """
rules:
  - {id: a, decision: allow, match: {tools: [alpha.find]}, when: "args.path.startsWith('/a')"}
  - {id: d, decision: deny, match: {tools: [alpha.find]}, when: args.path == '/a/secret'}
"""
    )
    calls = {
        path: rules.decide(request("alpha.find", {"path": path})).effect
        for path in ("/a/b", "/b", "/a/secret")
    }
    assert calls == {"/a/b": ALLOW, "/b": DENY, "/a/secret": DENY}
    assert rules.may(request("alpha.find"))


def test_may_asks_who_and_where_but_not_for_arguments() -> None:
    assert EXAMPLE.may(request())
    assert not EXAMPLE.may(request(phase=Phase.PLANNING))
    assert not EXAMPLE.may(request(actor=OPS))
    assert not EXAMPLE.may(request(actor=replace(SAM, scopes=frozenset())))
    assert EXAMPLE.may(request("infra.drop", actor=OPS, risk=Risk.CRITICAL))


def test_may_counts_a_class_that_a_condition_might_raise() -> None:
    rules = policy(
        """
rules:
  - {id: raise, decision: obligation, risk: critical, when: args.amount > 5}
  - {id: go, decision: allow, match: {risk: [critical]}}
"""
    )
    assert rules.may(request(risk=Risk.LOW))
    sure = policy(
        """
rules:
  - {id: raise, decision: obligation, risk: critical}
  - {id: less, decision: obligation, risk: medium}
  - {id: away, decision: obligation, risk: critical, match: {phases: [planning]}}
  - {id: go, decision: allow}
  - {id: no, decision: deny, match: {risk: [critical]}}
"""
    )
    assert not sure.may(request(risk=Risk.LOW))


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
