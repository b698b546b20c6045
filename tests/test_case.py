"""What a case starts as, and what it takes to skip the durable steps."""

import pytest

from gateway.case import Case, Facts
from gateway.types.decisions import Decision, DecisionEffect, Limit
from gateway.types.runs import Run
from gateway.types.tools import Effect, Retrieval, Risk, SourceTrust, WhenTainted, Yield
from tests.helpers.cases import (
    NOW,
    a_call,
    a_case,
    a_contract,
    a_definition,
    a_resource,
    a_revision,
    a_tool,
)

ALLOWED = Decision(effect=DecisionEffect.ALLOW)
LIMIT = Limit(id="l", key="sam", maximum=1, window_s=60, amount=1, rule="r")


def test_what_no_check_has_learned_stands_at_its_worst() -> None:
    case = a_case()
    assert case.arguments is None
    assert (case.effect, case.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)
    assert case.decision.effect is DecisionEffect.DENY
    assert not case.is_plain_read


def test_only_an_allowed_read_without_limits_is_a_plain_one() -> None:
    def case(effect: Effect, decision: Decision) -> Case:
        return a_case(effect=effect, decision=decision)

    assert case(Effect.READ, ALLOWED).is_plain_read
    assert not case(Effect.WRITE, ALLOWED).is_plain_read
    limited = Decision(effect=DecisionEffect.ALLOW, limits=(LIMIT,))
    assert not case(Effect.READ, limited).is_plain_read
    held = Decision(effect=DecisionEffect.REQUIRE_APPROVAL)
    assert not case(Effect.READ, held).is_plain_read


YIELDS = a_contract(yields=(Yield(type="id", path="/id"),))
EXTERNAL = a_contract(result_trust=SourceTrust.EXTERNAL)
READ = a_contract(retrieval=Retrieval(query="/q"))


def a_run(*, is_tainted: bool) -> Run:
    return Run(run_id="run_1", tenant="acme", owner="o", user="sam", is_tainted=is_tainted)


def test_most_results_leave_nothing_to_judge_later_calls_by() -> None:
    assert not a_case().leaves_traces
    assert a_case(contract=YIELDS).leaves_traces
    assert not a_case(contract=READ).leaves_traces
    assert a_case(contract=READ, run_id="run_1").leaves_traces
    assert not a_case(tool=a_resource(), contract=a_contract()).leaves_traces
    assert a_case(tool=a_resource(), contract=a_contract(), run_id="run_1").leaves_traces


def test_what_the_gateway_asks_by_itself_was_given_to_nobody() -> None:
    assert not a_case(contract=YIELDS, call=a_call(cause="verification")).leaves_traces
    assert not a_case(contract=EXTERNAL, call=a_call(cause="lookup")).leaves_traces


@pytest.mark.parametrize("minds", [True, False])
def test_without_a_run_a_caller_is_tainted_where_that_matters(minds: bool) -> None:
    send = a_tool(a_definition("send"))
    careful = a_contract(send, when_tainted=WhenTainted.DENY if minds else None)
    revision = a_revision([EXTERNAL, careful])
    assert revision.minds_taint is minds
    assert a_case(contract=EXTERNAL, revision=revision).taints is minds


def test_in_a_run_each_result_that_others_can_write_counts_anew() -> None:
    assert not a_case(contract=YIELDS).taints
    for is_tainted in (False, True):  # for the actor, whose taint would else end first
        assert a_case(contract=EXTERNAL, run=a_run(is_tainted=is_tainted)).taints


@pytest.mark.parametrize("of_run", [None, False, True])
@pytest.mark.parametrize("of_actor", [False, True])
def test_a_call_is_tainted_by_its_run_or_by_its_actor(of_run: bool | None, of_actor: bool) -> None:
    run = None if of_run is None else a_run(is_tainted=of_run)
    case = a_case(run=run, facts=Facts(now=NOW, is_tainted=of_actor))
    assert case.is_tainted is (of_actor or bool(of_run))


@pytest.mark.parametrize(
    ("said", "reads"),
    [
        ('when: "!run.tainted"', True),
        ("constrain: {set: {a: run.tainted}}", True),
        ("output: {rows: [{path: /a, where: row.b || !run.tainted}]}", True),
        ("when: run.id != ''", False),
    ],
)
def test_a_revision_knows_whether_its_rules_read_of_taint(said: str, reads: bool) -> None:
    rule = f"rules: [{{id: a, decision: allow, match: {{tools: ['*']}}, {said}}}]"
    revision = a_revision(policy=rule)
    assert (revision.reads_taint, revision.minds_taint) == (reads, reads)
