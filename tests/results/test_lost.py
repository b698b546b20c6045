import pytest

from gateway.results import envelope, lost
from gateway.results.envelope import Subject
from gateway.types.operations import Execution
from gateway.types.outcomes import Refusal, Status


@pytest.mark.parametrize("has_output_schema", [True, False])
def test_a_lost_answer_is_told_in_a_form_that_clients_take(has_output_schema: bool) -> None:
    """case: OUT-03"""
    end = lost.told_again(has_output_schema=has_output_schema, found_by="a lookup")
    subject = Subject(call_id="c", has_output_schema=has_output_schema)
    told = (
        envelope.answer(end, subject)
        if isinstance(end, lost.Answer)
        else envelope.refuse(end, subject)
    ).result
    assert "took effect" in str(told["content"])
    assert (told.get("isError") is True) == has_output_schema
    assert "structuredContent" not in told


def test_what_took_effect_is_not_told_as_unknown() -> None:
    end = lost.told_again(has_output_schema=True, found_by="a lookup")
    assert isinstance(end, Refusal)
    assert (end.status, end.executed) == (Status.RESULT_INVALID, Execution.YES)
    assert end.row.retryable is False
    assert "do not repeat" in end.next
