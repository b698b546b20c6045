import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from gateway.config.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("30s", 30),
        ("1.5s", 1.5),
        ("5m", 300),
        ("1h", 3600),
        ("2d", 172800),
        ("0s", 0),
    ],
)
def test_a_duration_has_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "value", ["10x", "30", 30, 1.5, "", "s", "-1s", "1 m 2 s", "1e3s", True, None, "٣s"]
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    """case: CFG-01"""
    with pytest.raises(PydanticCustomError, match="is not a duration; write it with a unit"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (1024, 1024),
        ("1024", 1024),
        ("1KiB", 1024),
        ("1MiB", 1 << 20),
        ("1.5 MiB", 1572864),
        ("2MB", 2_000_000),
    ],
)
def test_a_size_is_a_number_or_has_a_unit(value: object, size: int) -> None:
    assert parse_size(value) == size


@pytest.mark.parametrize("value", ["1 potato", "-5", "1mb", True, None, 1.5, "9" * 30])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(PydanticCustomError, match="is not a size"):
        parse_size(value)


@given(st.integers(min_value=0, max_value=10**9))
def test_what_is_printed_reads_back_as_the_same(number: int) -> None:
    assert parse_size(format_size(number)) == number
    assert parse_duration(format_duration(number)) == number
    assert parse_duration(format_duration(number / 1000)) == pytest.approx(number / 1000)
