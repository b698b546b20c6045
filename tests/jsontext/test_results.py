"""Reading what downstreams send."""

import json
from decimal import Decimal
from unittest.mock import patch

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.errors import JsonError
from gateway.jsontext import dump, parse_exactly, parse_halves, parse_result


def test_large_integers_come_back_digit_by_digit() -> None:
    """case: ARG-02"""
    text = b'{"content":[],"structuredContent":{"id":9100000000000000123}}'
    assert dump(parse_result(text)) == text
    longer = b'{"id":123456789012345678901234567890,"n":18446744073709551616}'
    assert dump(parse_result(longer)) == longer


def test_a_number_beyond_a_float_is_a_decimal_never_infinity() -> None:
    """case: ARG-02"""
    value = parse_result(b"[1E400,-1e-400,0.1000000000000000055511151231257827]")
    assert value == [
        Decimal("1E+400"),
        Decimal("-1E-400"),
        Decimal("0.1000000000000000055511151231257827"),
    ]


def test_ordinary_fractions_stay_floats_on_both_ways_of_reading() -> None:
    assert parse_result(b"[0.30000000000000004, 1.5]") == [0.30000000000000004, 1.5]
    assert isinstance(parse_result(b"1e5"), float)


@pytest.mark.parametrize(
    "text",
    [b"NaN", b'{"a":Infinity}', b'["\\ud800"]', b'"\xff"', b"", b"[1,",
     b"[12345678901234567890123, NaN]", b'[12345678901234567890123, "\\ud800"]',
     b'[12345678901234567890123, "\xff"]', b"[12345678901234567890123,", b"1e9999999",
     b"1e-99999999999999999999",
     b'{"n":12345678901234567890123,"a":1,"a":2}', b"1." + b"1" * 2000, b"9" * 2000],
)  # fmt: skip
def test_what_is_not_exact_json_is_refused(text: bytes) -> None:
    with pytest.raises(JsonError):
        parse_result(text)


@pytest.mark.parametrize("number", [b"1", b"12345678901234567890123"])
def test_only_what_can_be_written_again_is_read(number: bytes) -> None:
    deepest = b"[" * 254 + number + b"]" * 254
    assert dump(parse_result(deepest)) == deepest
    with pytest.raises(JsonError, match="deeper than 254"):
        parse_result(b"[" + deepest + b"]")
    with pytest.raises(JsonError, match="deeper than 254"):
        parse_result(b"[" + number + b"," + deepest + b"]")
    with pytest.raises(JsonError):
        parse_result(b"[" * 5000 + number + b"]" * 5000)


def test_many_brackets_side_by_side_are_no_depth() -> None:
    assert parse_result(b"[" + b"[]," * 500 + b"[]]") == [[] for _ in range(501)]


digits = st.from_regex(r"\A-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?\Z")


@given(digits, st.sampled_from([0, 10_000]))
@example("10000000000000001E0", 0)  # no more than 64 bits, no point, a short exponent
@example("-9007199254740993e+2", 10_000)
def test_no_number_is_ever_rounded(text: str, spaces: int) -> None:
    try:
        value = parse_result(b"[ " + text.encode() + b" " * spaces + b"]")
    except JsonError:
        assert abs(Decimal(text).adjusted()) > 990  # beyond what is kept at all
        return
    assert isinstance(value, list)
    kept = value[0]
    assert isinstance(kept, int | float | Decimal)
    exact = Decimal(repr(kept)) if isinstance(kept, float) else Decimal(kept)
    assert exact == Decimal(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(json_values)
def test_reading_agrees_with_the_fast_reader_where_that_is_exact(value: object) -> None:
    text = orjson.dumps(value)
    assert parse_result(text) == orjson.loads(text)


_NUMBER = st.from_regex(
    rb"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)


@given(_NUMBER, st.sampled_from([b"", b"[1,", b'{"a": ', b'{"a":']))
def test_short_and_long_texts_agree_on_which_numbers_are_kept_exactly(
    number: bytes, before: bytes
) -> None:
    after = {b"": b"", b"[1,": b"]"}.get(before, b"}")
    text = before + number + after
    padded = text + b" " * 10_000  # white space changes nothing but the length
    try:
        found = repr(parse_result(text))
    except JsonError:
        with pytest.raises(JsonError):
            parse_result(padded)
    else:
        assert repr(parse_result(padded)) == found


@given(json_values, st.sampled_from([(",", ":"), (", ", ": "), (" ,", ":\n")]))
def test_what_is_written_back_is_read_as_by_the_slow_way(
    value: object, gaps: tuple[str, str]
) -> None:
    text = json.dumps(value, separators=gaps).encode()
    quick = repr(parse_result(text))
    with patch("gateway.jsontext.results.writes_back", return_value=False):
        assert repr(parse_result(text)) == quick


@given(digits, st.sampled_from(["%s", "[ %s]", '{"a": %s, "b":"1.5"}']))
def test_a_number_that_is_written_back_is_read_as_by_the_slow_way(number: str, around: str) -> None:
    text = (around % number).encode()
    quick = _read(text)
    with patch("gateway.jsontext.results.writes_back", return_value=False):
        assert _read(text) == quick


def _read(text: bytes) -> str:
    try:
        return repr(parse_result(text))
    except JsonError as error:
        return f"refused: {error}"


def test_what_most_servers_send_is_looked_at_once() -> None:
    with patch("gateway.jsontext.results.has_fractions", None):
        for text in (b'{"a":[1,0.1,"x"]}', b'{"a": [1, 0.1, "x" ]}'):
            assert parse_result(text) == {"a": [1, 0.1, "x"]}


def test_what_is_read_exactly_has_each_key_once_and_the_same_values() -> None:
    text = b'{"a": [1.5, 12345678901234567890123, 0.12345678901234567890123], "b": {"c": "d"}}'
    assert parse_exactly(text) == parse_result(text)
    for twice in (b'{"a": 1, "a": 1}', b'[{"b": {"a": 1, "\\u0061": 2}}]'):
        with pytest.raises(JsonError, match="duplicate key"):
            parse_exactly(twice)


def test_half_a_surrogate_pair_stands_only_where_it_is_asked_for() -> None:
    text = b'{"a": ["\\ud800", 12345678901234567890123, 0.10]}'
    assert parse_halves(text) == {"a": ["\ud800", 12345678901234567890123, 0.10]}
    with pytest.raises(JsonError):
        parse_result(text)
    for bad in (b"[" * 100_000, b"[" * 400 + b"1" + b"]" * 400, b"[NaN]", b'"\xff"', b"["):
        with pytest.raises(JsonError):
            parse_halves(bad)
