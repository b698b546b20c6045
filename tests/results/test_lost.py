import pytest

from gateway.results import envelope, lost
from gateway.results.envelope import Subject


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
