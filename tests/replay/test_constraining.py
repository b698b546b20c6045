from typing import Any

import pytest

from gateway.actions.templates import templates
from gateway.policy.run_files import load
from gateway.replay.oracle import Answer
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect, Risk, Sensitivity
from tests.helpers.replays import (
    a_known_case,
    a_law,
    a_secret_note,
    again,
    decided,
    places,
    policy,
    recorded,
    rule,
)
from tests.helpers.runs import a_run

SENT: dict[str, Any] = {"note": "hush", "amount": 9}


def under(
    then: dict[str, Any], now: dict[str, Any], contract: Contract | None = None, **more: Any
) -> Answer:
    contract = contract or a_secret_note()
    law = a_law(policy(rule("all", **then)), contract)
    other = a_law(policy(rule("all", **now)), contract, id="sha256:now")
    call = recorded(a_known_case(law, {**SENT, **more}))
    assert call.unknown
    return again(call, law, other)


def test_a_bound_on_a_known_argument_is_written_beside_an_unknown_one() -> None:
    found = under({"constrain": {"max": {"amount": 50}}}, {"constrain": {"max": {"amount": 5}}})
    (written,) = decided(found).constraints
    assert written.value == 5


def test_a_known_argument_that_suits_no_more_denies() -> None:
    found = decided(under({}, {"constrain": {"set": {"id": 7}}}))
    assert (found.effect, found.code) == (DecisionEffect.DENY, "constraint_unsatisfiable")


def test_the_same_constraint_on_an_unknown_argument_fits_as_it_did() -> None:
    cut = {"constrain": {"set": {"note": "'short'"}}}
    assert decided(under(cut, cut)).effect is DecisionEffect.ALLOW
    bad = {"constrain": {"max": {"note": 5}}}
    assert decided(under(bad, bad)).code == "constraint_unsatisfiable"


def test_another_constraint_on_an_unknown_argument_may_not_fit() -> None:
    assert places(under({}, {"constrain": {"max": {"note": 5}}})) == ["/arguments/note"]


def test_without_unknown_arguments_constraints_are_written_as_ever() -> None:
    law = a_law(policy(rule()), a_secret_note())
    other = a_law(policy(rule(constrain={"max": {"amount": 5}})), a_secret_note())
    call = recorded(a_known_case(law, {"amount": 9}))
    assert decided(again(call, law, other)).constraints[0].value == 5


TEMPLATE = """
runs:
  t:
    limits: {calls: 5, money: {argument: /amount, max: 100, tools: [crm.find]}}
"""


@pytest.mark.parametrize("most", ["100", "200"])
def test_an_unknown_amount_of_a_run_is_the_one_that_was_taken(most: str) -> None:
    contract = a_secret_note(
        sensitive={"/amount": Sensitivity.SECRET}, effect=Effect.WRITE, risk=Risk.LOW
    )

    def law(text: str, id: str) -> Any:
        found = templates(load(text, file="runs/t.yaml"))
        return a_law(policy(rule()), contract, templates=found, id=id)

    run = a_run(template="t", phase=Phase.ACTING)
    then, now = law(TEMPLATE, "sha256:then"), law(TEMPLATE.replace("100", most), "sha256:now")
    call = recorded(a_known_case(then, {"amount": 9}, run=run, run_id=run.run_id))
    taken = {
        each.id: (each.amount, each.maximum) for each in decided(again(call, then, now)).limits
    }
    assert taken == {"run_calls": (1.0, 5.0), "run_money": (9.0, float(most))}
