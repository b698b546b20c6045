"""What the sections of a contract file are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gateway.contracts.sections import (
    Duration,
    OneField,
    Pointer,
    ToolName,
    as_json,
    duration_text,
    said,
)


@given(st.integers(0, 10**11).map(lambda thousandths: thousandths / 1000))
def test_a_time_is_written_as_it_is_read(seconds: float) -> None:
    assert TypeAdapter(Duration).validate_python(duration_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"), [(86400, "1d"), (600, "10m"), (90, "90s"), (0.25, "250ms"), (0, "0ms")]
)
def test_a_time_is_written_in_the_largest_whole_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize("name", ["desk.refund", "desk.a.b"])
def test_a_tool_is_named_with_its_server(name: str) -> None:
    assert TypeAdapter(ToolName).validate_python(name) == name


@pytest.mark.parametrize("name", ["refund", ".refund", "desk.", "de sk.refund", ""])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=r"`server.name`"):
        TypeAdapter(ToolName).validate_python(name)


def test_only_a_pattern_has_a_wildcard() -> None:
    assert TypeAdapter(Pointer).validate_python("/items/*/id") == "/items/*/id"
    with pytest.raises(ValidationError, match="without `\\*`"):
        TypeAdapter(OneField).validate_python("/items/*/id")


def test_only_what_says_something_is_written() -> None:
    assert said(a=1, b=None, c="", d=False, e=[], f={}, g=0.5) == {"a": 1, "g": 0.5}


def test_what_a_model_read_keeps_its_values() -> None:
    assert as_json({"n": 2**70}) == {"n": 2**70}
