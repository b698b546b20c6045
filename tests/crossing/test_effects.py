"""What is known of a side effect when an attempt is over."""

from dataclasses import replace

import pytest

from gateway.case import Case
from gateway.crossing.effects import effect_of
from gateway.crossing.settle import Ending
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, OpState, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status
from tests.helpers.cases import a_case
from tests.helpers.operations import wanted

DONE: JsonObject = {"content": [], "structuredContent": {"id": "t1"}}
ANSWERED = Ending(
    state=OpState.SUCCEEDED,
    outcome=Answer(result=DONE),
    executed=Execution.YES,
    evidence="late_answer",
    verification=VerificationState.PENDING,
)


def a_write() -> Case:
    return replace(a_case(), operation=wanted(), arguments={"id": "a1"})


def test_all_that_is_known_of_an_attempt_is_handed_on() -> None:
    case = a_write()
    effect = effect_of(case, ANSWERED, old={"id": "t0"}, late=True)
    assert (effect.operation, effect.contract) == (case.operation, case.contract)
    assert (effect.executed, effect.state, effect.status) == (
        Execution.YES,
        OpState.SUCCEEDED,
        Status.OK,
    )
    assert (effect.arguments, effect.result, effect.old) == ({"id": "a1"}, DONE, {"id": "t0"})
    assert (effect.evidence, effect.verification) == ("late_answer", VerificationState.PENDING)
    assert effect.late


def test_what_was_kept_from_leaving_took_place_all_the_same() -> None:
    refused = Refusal(status=Status.POSTCONDITION_FAILED, reason="r", original=DONE)
    effect = effect_of(a_write(), replace(ANSWERED, outcome=refused))
    assert (effect.status, effect.result) == (Status.POSTCONDITION_FAILED, DONE)


def test_a_lost_answer_has_no_result() -> None:
    lost = Refusal(status=Status.INDETERMINATE, reason="r", executed=Execution.UNKNOWN)
    end = Ending(state=OpState.INDETERMINATE, outcome=lost, executed=Execution.UNKNOWN)
    effect = effect_of(replace(a_write(), arguments=None), end)
    assert (effect.result, effect.arguments, effect.late) == (None, {}, False)


def test_what_is_no_operation_has_no_effect() -> None:
    with pytest.raises(ValueError, match="only operations"):
        effect_of(a_case(), ANSWERED)
