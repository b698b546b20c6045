"""The engine: what sets of rules let through, with arguments and before there are any."""

from dataclasses import replace

import pytest

from gateway.policy.engine import CompiledPolicy
from gateway.types.calls import Method
from gateway.types.decisions import (
    DecisionEffect,
)
from gateway.types.json import Json
from gateway.types.runs import Phase, Run
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced
from tests.policy.example import OPS, POLICY, SAM, policy, request

EXAMPLE = policy(POLICY)
ALLOW, DENY = DecisionEffect.ALLOW, DecisionEffect.DENY


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


def test_what_a_server_may_ask_of_anybody_is_what_some_enforced_allow_rule_names() -> None:
    rules = policy(
        """
        rules:
          - {id: a, decision: allow, match: {methods: [elicitation/create], servers: [crm]}}
          - {id: b, decision: allow, match: {methods: [roots/list]}, when: "args.x == 1"}
          - {id: c, decision: deny, match: {methods: [sampling/createMessage]}}
          - {id: d, decision: allow, mode: shadow, match: {methods: [sampling/createMessage]}}
          - {id: e, decision: allow, match: {tools: ['*']}}
        """
    )
    assert rules.questions("crm") == {Method.ELICIT, Method.LIST_ROOTS}
    assert rules.questions("desk") == {Method.LIST_ROOTS}
    assert EXAMPLE.questions("crm") == frozenset()


OF_RUNS = policy(
    """
rules:
  - {id: a, decision: allow, match: {tools: [crm.note], templates: [refund], phases: [planning]}}
  - {id: d, decision: deny, match: {tools: [crm.note], templates: [lookup]}}
"""
)


def test_where_the_run_is_not_known_what_a_rule_says_of_runs_may_hold() -> None:
    call = request("crm.note")
    assert not OF_RUNS.may(call)
    assert OF_RUNS.may(replaced(call, any_run=True))


def test_a_denial_of_some_runs_hides_nothing_where_the_run_is_not_known() -> None:
    only = policy(
        """
rules:
  - {id: a, decision: allow, match: {tools: [crm.note]}}
  - {id: d, decision: deny, match: {tools: [crm.note], phases: [acting]}}
"""
    )
    assert not only.may(request("crm.note"))
    assert only.may(replaced(request("crm.note"), any_run=True))


def test_a_class_that_only_some_runs_raise_to_is_one_that_may_be() -> None:
    raising = policy(
        """
rules:
  - {id: a, decision: allow, match: {tools: [crm.note], risk: [high]}}
  - {id: r, decision: obligation, risk: critical, match: {tools: [crm.note], phases: [acting]}}
"""
    )
    assert not raising.may(request("crm.note"))
    assert raising.may(replaced(request("crm.note"), any_run=True))


def test_what_a_server_may_ask_depends_on_the_template_of_the_run() -> None:
    rules = policy(
        """
rules:
  - {id: a, decision: allow, match: {methods: [elicitation/create], templates: [refund]}}
"""
    )
    run = Run(run_id="run_1", tenant="acme", owner="o", user="sam", template="refund")
    assert rules.asks(request("crm.note")) == frozenset()
    assert rules.asks(replaced(request("crm.note"), run=run)) == {Method.ELICIT}
