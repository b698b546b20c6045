"""What a repeated call is told is what is true today."""

from dataclasses import replace

import pytest

from gateway.operations import again
from gateway.types.operations import Execution, OpState, Verification, VerificationState
from gateway.types.outcomes import Answer, Refusal, Status
from tests.helpers.operations import wanted

PENDING = Verification(state=VerificationState.PENDING, detail="goes on")
ANSWER = Answer(result={"content": [], "structuredContent": {"id": 1}}, verification=PENDING)
REFUSAL = Refusal(status=Status.TOOL_FAILED, reason="no")


def settled(
    verification: VerificationState, state: OpState = OpState.SUCCEEDED
) -> Answer | Refusal:
    return again.told(wanted(op_id="op_1", state=state, verification=verification), ANSWER)


def test_an_answer_whose_check_goes_on_is_told_as_it_was() -> None:
    assert settled(VerificationState.PENDING) is ANSWER


def test_a_check_that_held_after_the_answer_is_told() -> None:
    told = settled(VerificationState.VERIFIED)
    assert isinstance(told, Answer)
    assert told.verification.state is VerificationState.VERIFIED
    assert told.result == ANSWER.result


def test_a_check_that_failed_after_the_answer_makes_it_a_failure() -> None:
    told = settled(VerificationState.FAILED)
    assert isinstance(told, Refusal)
    assert (told.status, told.executed) == (Status.POSTCONDITION_FAILED, Execution.YES)
    assert told.original == ANSWER.result


@pytest.mark.parametrize(
    ("state", "code"),
    [(OpState.COMPENSATED, "undone"), (OpState.COMPENSATING, "being_undone")],
)
def test_what_was_undone_is_not_told_as_done(state: OpState, code: str) -> None:
    told = settled(VerificationState.PENDING, state)
    assert isinstance(told, Refusal)
    assert (told.status, told.code) == (Status.POSTCONDITION_FAILED, code)
    assert "`op_1`" in told.reason


def test_a_refusal_stays_one() -> None:
    row = replace(wanted(state=OpState.FAILED_FINAL), verification=VerificationState.FAILED)
    assert again.told(row, REFUSAL) is REFUSAL


def test_an_answer_that_nobody_checks_stays_as_it_was() -> None:
    assert settled(VerificationState.NOT_DECLARED) is ANSWER
