"""What can be chosen of requests, from what two policies speak of."""

from dataclasses import replace

from gateway.policy.axes import NOW, axes, texts
from gateway.policy.methods import Target
from gateway.policy.probes import ABSENT, Axes
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.runs import Phase
from gateway.types.tools import Kind, RiskRaise, WhenTainted
from tests.helpers.probing import REFUND, SEARCH, a_side
from tests.policy.example import CONTRACTS, POLICY, policy

EMPTY = "rules: []"


def of(old: str, new: str = EMPTY, target: Target = REFUND) -> Axes:
    return axes(target, [a_side(old, tool=target.key), a_side(new, tool=target.key)])


def rule(match: str = "", when: str = "") -> str:
    condition = f"\n    when: {when!r}" if when else ""
    return f"rules:\n  - id: it\n    decision: allow\n    match: {{{match}}}{condition}\n"


def test_roles_and_scopes_are_none_each_all_and_all_but_each() -> None:
    found = of(rule("roles: {any: [a, b]}, scopes: {all: [x, y, z]}"), rule("roles: {any: [c]}"))
    roles = {frozenset(each) for each in found.roles}
    assert roles >= {frozenset(), frozenset("a"), frozenset("c"), frozenset("abc"), frozenset("bc")}
    scopes = {frozenset(each) for each in found.scopes}
    assert scopes >= {frozenset("xyz"), frozenset("xy"), frozenset("x"), frozenset()}
    assert found.roles[0] == found.scopes[0] == ()


def test_a_contract_s_scopes_are_there_with_those_of_a_rule() -> None:
    refund = replace(CONTRACTS[0], scopes=frozenset({"pay"}))
    side = a_side(rule("scopes: {all: [x, y]}"), contract=refund)
    found = {frozenset(each) for each in axes(REFUND, [side, side]).scopes}
    assert frozenset({"pay", "x", "y"}) in found


def test_names_of_both_sides_are_tried_and_one_that_neither_has() -> None:
    found = of(
        rule("tenants: [acme], users: [sam]"), rule("tenants: [globex]", "identity.client == 'x'")
    )
    assert set(found.tenants) == {"other-tenant", "acme", "globex"}
    assert set(found.users) == {"somebody", "sam"}
    assert set(found.clients) == {"client", "x"}
    assert len(of(EMPTY).tenants) == 2


def test_every_phase_is_tried_and_causes_where_they_are_named() -> None:
    assert set(of(EMPTY).phases) == set(Phase)
    assert of(EMPTY).causes == (Cause.CALLER,)
    assert set(of(rule("causes: [compensation]")).causes) == set(Cause)
    assert len(of(EMPTY).ways_in) == 1
    assert len(of(rule("authenticated_by: [local]")).ways_in) == 3


def test_times_are_tried_where_something_depends_on_them() -> None:
    assert of(EMPTY).moments == (NOW,)
    assert len(of(rule(when="now.getHours() < 8")).moments) == 25
    assert {each.month for each in of(rule(when="now.getMonth() == 3")).moments} == {*range(1, 13)}
    days = of(rule(when="now.getDayOfWeek() == 0")).moments
    assert {each.weekday() for each in days} == {*range(7)}
    around = of(rule(when="now < timestamp('2026-12-01T00:00:00Z')")).moments
    assert [each.isoformat() for each in around[1:]] == [
        "2026-12-01T00:00:00+00:00",
        "2026-12-01T00:00:01+00:00",
        "2026-11-30T23:59:59+00:00",
    ]


def test_arguments_are_tried_by_schema_and_by_what_they_are_held_against() -> None:
    found = of(POLICY).arguments
    assert {999, 1000, 1001, 10001} <= {each for each in found["amount"] if isinstance(each, int)}
    assert {"EUR", "USD"} <= {each for each in found["currency"] if isinstance(each, str)}
    assert found["order_id"] == ("x",)  # nobody speaks of it, and it has to be there
    assert found["note"] == (ABSENT, "x")
    limit = of(POLICY, target=SEARCH).arguments
    assert limit["tenant"][0] is ABSENT
    assert "other-tenant" in limit["tenant"]


def test_each_part_of_a_condition_gives_values_to_its_own_arguments() -> None:
    found = of(
        rule("tools: [payments.refund]", "args.amount > 5.0 && args.note == 'gift'")
    ).arguments
    assert "gift" in found["note"]
    assert 5 not in found["note"]


def test_runs_are_tried_where_something_depends_on_them() -> None:
    assert of(EMPTY).templates == (None,)
    found = of(rule(when="has(run.fields.ticket) && args.order_id == run.fields.ticket"))
    assert found.templates == (None, "")
    assert found.fields["ticket"] == (ABSENT, "r-1")
    assert "r-1" in found.arguments["order_id"]
    tainted = of(rule(when="!run.tainted"))
    assert (tainted.tainted, tainted.templates) == ((False, True), (None, ""))
    assert of(rule(when="run.said.why == 'x'")).said["why"][0] is ABSENT
    minds = a_side(EMPTY, contract=replace(CONTRACTS[0], when_tainted=WhenTainted.DENY))
    assert axes(REFUND, [minds, minds]).tainted == (False, True)


def test_templates_of_which_the_sides_say_different_things_are_tried() -> None:
    old = a_side(EMPTY, guards={"case": "evidence >= 2", "other": "x"})
    new = a_side(EMPTY, guards={"case": "fields.ticket != ''", "other": "x"})
    found = axes(REFUND, [old, new])
    assert found.templates == (None, "", "case")
    assert found.counts == {"evidence": (0, 1, 2, 3)}
    assert "ticket" in found.fields


def test_what_raises_a_call_by_its_contract_is_looked_at_too() -> None:
    raised = replace(CONTRACTS[0], raises=(RiskRaise(when="args.amount > 77.0", reason="r"),))
    found = axes(REFUND, [a_side(EMPTY, contract=raised), a_side(EMPTY)])
    assert 78 in found.arguments["amount"]


def test_a_prompt_has_the_arguments_that_conditions_name() -> None:
    prompt = Target(Method.GET_PROMPT, Kind.PROMPT, "desk.reply", "desk")
    side = a_side(
        rule("prompts: [desk.reply]", "args.tone == 'kind'"),
        tool="",
    )
    assert "kind" in axes(prompt, [side, side]).arguments["tone"]


def test_every_expression_of_a_rule_is_one_of_its_texts() -> None:
    text = """\
rules:
  - id: it
    decision: allow
    match: {tools: ["*"]}
    when: args.a
    constrain: {set: {tenant: identity.tenant}, max: {limit: 5}}
    limits: [{id: l, per: [tenant], max: 1, window: 1h, sum: args.b}]
    output: {rows: [{path: /items, where: row.c}]}
"""
    assert texts(policy(text).rules[0]) == ("args.a", "identity.tenant", "args.b", "row.c")
