"""What may stand in a request, and what a newer gateway may add to an answer."""

import pytest
from pydantic import ValidationError

from gateway.client import wire


@pytest.mark.parametrize("text", ["a\x00b", "a\x1b[2Jb", "a\x7fb", "x" * 257])
def test_a_name_holds_nothing_that_a_log_or_a_store_can_not_take(text: str) -> None:
    with pytest.raises(ValidationError):
        wire.StartRun(task_id=text)


def test_a_reason_may_have_lines() -> None:
    assert wire.Why(reason="one\n\ttwo").reason == "one\n\ttwo"


def test_what_nobody_knows_is_a_mistake_in_a_request_and_none_in_an_answer() -> None:
    with pytest.raises(ValidationError):
        wire.Why.model_validate({"reason": "x", "colour": "red"})
    fault = wire.Fault.model_validate({"pointer": "/a", "detail": "d", "line": 3})
    assert fault.detail == "d"


@pytest.mark.parametrize("tokens", [-1, True, "7", 1.5, 10**13])
def test_tokens_are_a_count(tokens: object) -> None:
    with pytest.raises(ValidationError):
        wire.Usage.model_validate({"tokens": tokens})


def test_a_run_holds_so_many_fields_and_no_more() -> None:
    with pytest.raises(ValidationError):
        wire.SetFields(fields={f"f{number}": number for number in range(101)})
