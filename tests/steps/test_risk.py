"""Step 5: risk."""

from typing import Any

import pytest

from gateway.case import Case
from gateway.steps import risk
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk, RiskRaise
from tests.helpers.cases import a_case, a_contract, a_definition, a_tool

BIG = RiskRaise(when="args.amount > 1000.0", reason="a large amount", risk=Risk.CRITICAL)


def classified(arguments: JsonObject, annotations: JsonObject | None = None, **fields: Any) -> Case:
    extra = {} if annotations is None else {"annotations": annotations}
    tool = a_tool(a_definition("pay", **extra))
    case = a_case(arguments, tool=tool, contract=a_contract(tool, **fields), arguments=arguments)
    answer = risk.classify(case)
    assert isinstance(answer, Case)
    return answer


def test_the_contract_says_what_a_call_is() -> None:
    case = classified({}, effect=Effect.WRITE, risk=Risk.MEDIUM)
    assert (case.effect, case.risk) == (Effect.WRITE, Risk.MEDIUM)


@pytest.mark.parametrize(("amount", "wanted"), [(1000, Risk.LOW), (1000.01, Risk.CRITICAL)])
def test_a_condition_on_the_arguments_raises_the_class(amount: float, wanted: Risk) -> None:
    case = classified({"amount": amount}, effect=Effect.WRITE, raises=(BIG,))
    assert case.risk is wanted


def test_a_raise_names_its_reason() -> None:
    assert classified({"amount": 5000}, raises=(BIG,)).risk_reason == "a large amount"


def test_a_condition_that_can_not_tell_counts_as_met() -> None:
    assert classified({"amount": "much"}, raises=(BIG,)).risk is Risk.CRITICAL


def test_a_condition_never_lowers() -> None:
    lower = RiskRaise(when="true", reason="r", risk=Risk.LOW, effect=Effect.READ)
    case = classified({}, effect=Effect.DESTRUCTIVE, risk=Risk.CRITICAL, raises=(lower,))
    assert (case.effect, case.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)


def test_a_servers_hint_never_lowers() -> None:
    """case: APR-02"""
    hints: JsonObject = {"readOnlyHint": True, "destructiveHint": False}
    case = classified({}, hints, effect=Effect.DESTRUCTIVE, risk=Risk.CRITICAL)
    assert (case.effect, case.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)


def test_a_servers_hint_can_raise() -> None:
    """case: APR-02"""
    case = classified({}, {"destructiveHint": True}, effect=Effect.WRITE, risk=Risk.LOW)
    assert (case.effect, case.risk) == (Effect.DESTRUCTIVE, Risk.HIGH)


FINAL = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="a mail can't be called back")


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (Risk.LOW, Risk.MEDIUM),
        (Risk.MEDIUM, Risk.HIGH),
        (Risk.HIGH, Risk.CRITICAL),
        (Risk.CRITICAL, Risk.CRITICAL),
    ],
)
def test_what_can_not_be_undone_counts_one_class_higher(was: Risk, becomes: Risk) -> None:
    case = classified({}, effect=Effect.WRITE, risk=was, compensation=FINAL)
    assert case.risk is becomes
    assert case.risk_reason == ("contract" if was is becomes else "cannot be undone")
    listed = risk.classify_tool(case)
    assert isinstance(listed, Case)
    assert listed.risk is becomes


def test_what_can_not_be_undone_counts_higher_than_what_its_arguments_made_it() -> None:
    medium = RiskRaise(when="true", reason="r", risk=Risk.MEDIUM)
    case = classified({}, effect=Effect.WRITE, raises=(medium,), compensation=FINAL)
    assert case.risk is Risk.HIGH


@pytest.mark.parametrize("kind", sorted(set(CompensationClass) - {CompensationClass.IRREVERSIBLE}))
def test_any_other_way_back_raises_nothing(kind: CompensationClass) -> None:
    other = Compensation(kind=kind, reason="r")
    assert classified({}, effect=Effect.WRITE, compensation=other).risk is Risk.LOW


def test_a_read_has_nothing_to_undo() -> None:
    assert classified({}, effect=Effect.READ, compensation=FINAL).risk is Risk.LOW
