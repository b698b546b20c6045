"""Limits of runs: what a call takes of them."""

from decimal import Decimal

import pytest

from gateway.runs import limits
from gateway.runs.limits import Use
from gateway.runs.templates import RunLimit, Template
from gateway.types.decisions import RUN_S
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Status
from gateway.types.runs import Run
from gateway.types.values import replaced

RUN = Run(run_id="run_1", tenant="acme", owner="o", user="ana", template="refund")
REFUND = frozenset({"desk.refund"})


def a_template(*some: RunLimit) -> Template:
    return Template(name="refund", limits=some)


def money(maximum: float = 500, *, argument: str = "/amount", named: bool = True) -> RunLimit:
    tools = REFUND if named else frozenset[str]()
    return RunLimit(kind="money", maximum=maximum, argument=argument, tools=tools)


def use(tool: str = "desk.refund", *, is_write: bool = True, **arguments: Json) -> Use:
    return Use(tool=tool, is_write=is_write, arguments=arguments)


def taken(template: Template, call: Use) -> dict[str, float]:
    return {each.id: each.amount for each in limits.of_call(template, RUN, call)}


def test_a_limit_is_counted_for_the_run_and_for_its_whole_life() -> None:
    (limit,) = limits.of_call(a_template(RunLimit(kind="calls", maximum=80)), RUN, use())
    assert (limit.id, limit.key, limit.maximum) == ("run_calls", "of_run=run_1", 80)
    assert limit.window_s == RUN_S
    assert limit.rule == "runs.refund"


def test_reads_are_calls_and_no_writes() -> None:
    template = a_template(RunLimit(kind="calls", maximum=80), RunLimit(kind="writes", maximum=3))
    assert taken(template, use("crm.find", is_write=False)) == {"run_calls": 1}
    assert taken(template, use()) == {"run_calls": 1, "run_writes": 1}


@pytest.mark.parametrize("amount", [25, 25.0, Decimal("25.00")])
def test_money_is_the_amount_of_the_named_tools(amount: Json) -> None:
    assert taken(a_template(money()), use(amount=amount)) == {"run_money": 25.0}
    assert taken(a_template(money()), use("crm.note", amount=amount)) == {}


def test_money_of_no_named_tool_is_that_of_every_write_that_has_an_amount() -> None:
    template = a_template(money(named=False))
    assert taken(template, use("erp.pay", amount=7)) == {"run_money": 7.0}
    assert taken(template, use("crm.note", text="hello")) == {}
    assert taken(template, use("crm.find", is_write=False, amount=7)) == {}


def test_each_sum_keeps_its_place_whichever_the_call_moves() -> None:
    template = a_template(money(), money(10, argument="/fee", named=False))
    assert taken(template, use("erp.pay", fee=2)) == {"run_money_2": 2.0}
    assert taken(template, use(amount=5, fee=2)) == {"run_money": 5.0, "run_money_2": 2.0}


@pytest.mark.parametrize(
    "arguments", [{}, {"amount": "25"}, {"amount": True}, {"amount": -1}, {"amount": float("nan")}]
)
def test_an_amount_that_can_not_be_told_is_none_of_zero(arguments: JsonObject) -> None:
    call = Use(tool="desk.refund", is_write=True, arguments=arguments)
    with pytest.raises(limits.Unmeasured, match="`/amount` is limited in this run"):
        limits.of_call(a_template(money()), RUN, call)


def test_tokens_that_were_spent_let_no_further_call_begin() -> None:
    template = a_template(RunLimit(kind="tokens", maximum=1000))
    assert taken(template, use()) == {}
    assert limits.spent(template, replaced(RUN, tokens=999)) == ""
    assert limits.spent(template, replaced(RUN, tokens=1000)) == "run_tokens"
    assert limits.spent(a_template(), replaced(RUN, tokens=1000)) == ""


@pytest.mark.parametrize("limit", [*limits.TAKEN, limits.TOKENS])
def test_a_run_that_has_nothing_left_is_not_told_to_wait(limit: str) -> None:
    said = limits.refusal(limit, rule="runs.refund")
    assert (said.status, said.code, said.rule) == (Status.LIMIT_EXCEEDED, limit, "runs.refund")
    assert said.retry_after_s is None
    assert said.reason.startswith("the run has used up ")
    assert limits.is_of_run(limit)
    assert not limits.is_of_run("refunds-per-user")
