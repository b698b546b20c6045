from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Case
from gateway.crossing.settle import ending
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    OpState,
    Rejected,
    Undelivered,
    Verification,
    VerificationState,
)
from gateway.types.outcomes import Answer, Refusal, Status, WireError
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_case
from tests.helpers.operations import wanted


def a_write(**changes: Any) -> Case:
    operation = replace(wanted(), state=OpState.DISPATCHING, epoch=1)
    case = replace(a_case(), operation=operation, effect=Effect.WRITE, risk=Risk.LOW)
    return replace(case, **changes)


def came(result: JsonObject) -> Delivered:
    return Delivered(result=result, size=10)


DONE = came({"content": []})
GONE = Undelivered(failure=Failure.CLOSED, executed=Execution.UNKNOWN, detail="gone")
UNSENT = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="away")


def refused(status: Status, **more: Any) -> Refusal:
    return Refusal(status=status, reason="r", **more)


def test_an_answer_settles_what_was_sent() -> None:
    end = ending(a_write(), DONE, Answer(result=DONE.result))
    assert (end.state, end.executed, end.evidence) == (OpState.SUCCEEDED, Execution.YES, "")
    assert end.outcome == Answer(result=DONE.result)
    assert not end.gives_back


@pytest.mark.parametrize("delivery", [None, UNSENT, Rejected(code=-32601, message="no")])
def test_what_was_certainly_not_carried_out_may_be_sent_again(delivery: Delivery | None) -> None:
    """case: IDM-03"""
    said = refused(Status.TOOL_FAILED, executed=Execution.UNKNOWN)
    end = ending(a_write(), delivery, said)
    assert end.state is OpState.FAILED_RETRYABLE
    assert end.gives_back
    assert isinstance(end.outcome, Refusal)
    assert (end.outcome.status, end.outcome.executed) == (Status.TOOL_FAILED, Execution.NO)


@pytest.mark.parametrize("delivery", [GONE, Rejected(code=-32603, message="internal")])
def test_what_may_have_been_carried_out_is_unknown(delivery: Delivery) -> None:
    error = WireError(code=-32603, message="internal")
    end = ending(a_write(), delivery, refused(Status.TOOL_FAILED, error=error))
    assert (end.state, end.executed) == (OpState.INDETERMINATE, Execution.UNKNOWN)
    assert isinstance(end.outcome, Refusal)
    assert end.outcome.status is Status.INDETERMINATE
    assert end.outcome.error == error
    assert "do not repeat" in end.outcome.next


def test_a_question_comes_before_anything_is_carried_out() -> None:
    result: JsonObject = {"resultType": "input_required"}
    asks = Answer(result=result, status=Status.INPUT_REQUIRED)
    end = ending(a_write(), came(result), asks)
    assert (end.state, end.outcome) == (OpState.FAILED_RETRYABLE, asks)
    denied = refused(Status.DENIED, code="ask_denied")
    end = ending(a_write(), came(result), denied)
    assert (end.state, end.gives_back) == (OpState.FAILED_RETRYABLE, True)
    end = ending(a_write(), DONE, denied)
    assert (end.state, end.evidence) == (OpState.FAILED_RETRYABLE, "ask_denied")


def test_a_task_goes_on_at_its_server() -> None:
    result: JsonObject = {"resultType": "task", "taskId": "t"}
    end = ending(a_write(), came(result), Answer(result=result))
    assert (end.state, end.evidence) == (OpState.SUCCEEDED, "task")


def test_an_error_of_a_dangerous_tool_leaves_its_text_and_no_certainty() -> None:
    result: JsonObject = {"isError": True, "content": [{"type": "text", "text": "no"}]}
    answer = Answer(result=result, status=Status.TOOL_FAILED)
    low = ending(a_write(), came(result), answer)
    assert (low.state, low.outcome, low.gives_back) == (OpState.FAILED_FINAL, answer, False)
    high = ending(a_write(risk=Risk.HIGH), came(result), answer)
    assert high.state is OpState.INDETERMINATE
    assert isinstance(high.outcome, Answer)
    assert (high.outcome.status, high.outcome.result) == (Status.INDETERMINATE, result)
    assert "nobody knows" in high.outcome.notes[0]


@pytest.mark.parametrize("status", [Status.POSTCONDITION_FAILED, Status.RESULT_INVALID])
def test_an_outcome_that_is_not_as_declared_took_place_all_the_same(status: Status) -> None:
    end = ending(a_write(), DONE, refused(status, executed=Execution.YES))
    assert (end.state, end.verification) == (OpState.SUCCEEDED, VerificationState.FAILED)


def test_what_was_verified_is_noted() -> None:
    checked = Verification(state=VerificationState.VERIFIED)
    end = ending(a_write(), DONE, Answer(result=DONE.result, verification=checked))
    assert end.verification is VerificationState.VERIFIED


def test_a_late_answer_settles_what_was_unknown() -> None:
    end = ending(a_write(), DONE, Answer(result=DONE.result), late=True)
    assert (end.state, end.evidence) == (OpState.SUCCEEDED, "late_answer")
    assert ending(a_write(), GONE, refused(Status.INDETERMINATE), late=True).state is (
        OpState.INDETERMINATE
    )
    never = ending(a_write(), UNSENT, refused(Status.UNAVAILABLE), late=True)
    assert never.state is OpState.FAILED_RETRYABLE


def test_only_operations_are_settled() -> None:
    with pytest.raises(ValueError, match="operations"):
        ending(a_write(operation=None), DONE, Answer(result=DONE.result))
