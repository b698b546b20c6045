"""Which tools of its own the gateway shows agents."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.app.offering import Offering
from gateway.config.settings import ExposeSettings
from gateway.crossing.running import Running
from gateway.relay.repeat import Again
from gateway.relay.run_tools import RunTools
from gateway.relay.wait import Wait
from gateway.revision import Revision
from gateway.types.guarantees import Idempotency, Repeat
from gateway.types.own import Own
from tests.helpers.cases import ALLOW_ALL, a_contract, a_revision, a_tool
from tests.helpers.held import ASK
from tests.helpers.people import a_holding
from tests.helpers.relays import some_states


def a_running(is_on: bool) -> Running:
    nothing: Any = None
    return Running(
        runs=nothing,
        templates=lambda: {},
        is_on=lambda: is_on,
        idle_s=0.0,
        redactor=nothing,
        clock=nothing,
    )


def offered(revision: Revision, *, is_on: bool = False, **expose: Any) -> set[str]:
    nothing: Any = None  # nobody calls any of them
    holding = a_holding(some_states())
    own = Offering(expose=ExposeSettings.model_validate(expose), revision=lambda: revision).tools(
        wait=Wait(find=holding.find, wait=holding.wait),
        again=Again(operation=nothing, remains=nothing, tool_of=nothing, own=nothing),
        runs=RunTools(
            running=a_running(is_on),
            bound=nothing,
            owner=nothing,
            seen=nothing,
            tainted=nothing,
            reach=nothing,
            bringers=nothing,
        ),
        errands=holding.errands,
    )
    return {str(each["name"]) for each in own.definitions()}


def repeatable(repeat: Repeat, **changes: Any) -> Revision:
    contract = a_contract(a_tool(), idempotency=Idempotency(repeat=repeat), **changes)
    return a_revision([contract], ALLOW_ALL)


def test_each_is_shown_where_it_is_of_use() -> None:
    assert offered(a_revision([], ALLOW_ALL)) == set()
    assert offered(a_revision([], ASK)) == {Own.WAIT}
    assert offered(repeatable(Repeat.ALLOW)) == {Own.REPEAT}
    assert offered(repeatable(Repeat.APPROVE)) == {Own.REPEAT}
    assert offered(repeatable(Repeat.DENY)) == set()


def test_tools_for_runs_are_shown_where_calls_belong_to_runs() -> None:
    runs = {each for each in Own if each.startswith("run_")}
    nothing = a_revision([], ALLOW_ALL)
    assert offered(nothing, is_on=True) == runs
    assert offered(nothing, is_on=True, own_tools=["run_status"]) == {Own.RUN_STATUS}
    assert offered(nothing, is_on=True, own_tools=False) == set()


def test_a_contract_that_nobody_reviewed_lets_nothing_be_repeated() -> None:
    assert offered(repeatable(Repeat.ALLOW, reviewed=False)) == set()


@pytest.mark.parametrize(
    ("own_tools", "shown"),
    [
        (True, {Own.WAIT, Own.REPEAT}),
        (False, set[Own]()),
        ([], set[Own]()),
        (["gateway_repeat"], {Own.REPEAT}),
    ],
)
def test_the_configuration_hides_all_or_some(own_tools: object, shown: set[Own]) -> None:
    both = replace(repeatable(Repeat.ALLOW), policy=a_revision([], ASK).policy)
    assert offered(both, own_tools=own_tools) == shown
    assert offered(both, own_tools=own_tools, transparent=True) == set()
