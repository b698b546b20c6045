"""Strict reading of requests."""

import json
import time
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import JsonError
from gateway.jsontext import parse


@pytest.mark.parametrize(
    ("text", "message", "pointer"),
    [
        ('{"a":1,"a":2}', "duplicate key", "/a"),
        ('{"x":[{"a/b":1,"a/b":2}]}', "duplicate key", "/x/0/a~1b"),
        ('{"a":[1,NaN]}', "`NaN` is not JSON", "/a/1"),
        ('{"a":-Infinity}', "`-Infinity` is not JSON", "/a"),
        ('{"a":{"b":1e999}}', "too large", "/a/b"),
        ('{"a":1e-400}', "more digits than can be kept", "/a"),
        ('{"a":0.1000000000000000055}', "more digits than can be kept", "/a"),
        ('["\\ud800"]', "half of a surrogate pair", "/0"),
        ('{"\\udc00":1}', "half of a surrogate pair in a key", ""),
        ("[" + "9" * 1001 + "]", "more than 1000 digits", "/0"),
    ],
)
def test_a_text_with_no_exact_meaning_is_refused_with_its_place(
    text: str, message: str, pointer: str
) -> None:
    with pytest.raises(JsonError, match=message) as refused:
        parse(text)
    assert refused.value.pointer == pointer


@pytest.mark.parametrize("text", ["", "{", "[1,]", "nul", '{"a":1} x', '\ufeff{"a":1}', "01"])
def test_what_is_not_json_is_refused_with_line_and_column(text: str) -> None:
    with pytest.raises(JsonError, match=r"^not JSON: .* \(line 1, column [0-9]+\)"):
        parse(text)


def test_a_syntax_error_behind_a_fault_is_still_a_json_error() -> None:
    with pytest.raises(JsonError, match="not JSON"):
        parse('{"a":NaN,')


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(JsonError, match="not valid UTF-8"):
        parse(b'{"a":"\xff"}')
    with pytest.raises(JsonError, match="not valid UTF-8"):
        parse('"\ud800"')


def test_digits_are_kept() -> None:
    """case: ARG-02"""
    value = parse('{"id":9007199254740993,"big":123456789012345678901234567890,"amount":0.1}')
    assert value == {
        "id": 9007199254740993,
        "big": 123456789012345678901234567890,
        "amount": 0.1,
    }


def test_a_fraction_of_seventeen_digits_that_a_float_carries_is_kept() -> None:
    assert parse("0.30000000000000004") == 0.1 + 0.2
    assert parse("1.10") == 1.1
    assert parse("1e5") == 100000.0


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert parse('"\\ud83d\\ude00"') == "\U0001f600"


def test_depth_is_bounded_before_reading() -> None:
    assert parse("[" * 64 + "]" * 64) is not None
    with pytest.raises(JsonError, match="deeper than 64"):
        parse("[" * 65 + "]" * 65)
    with pytest.raises(JsonError, match="deeper than 64"):
        parse('{"a":' * 100_000)


def test_brackets_inside_texts_do_not_count_as_depth() -> None:
    assert parse('["' + "[{" * 100 + '", "\\"[[["]') == ["[{" * 100, '"[[[']


def test_depth_beyond_the_interpreter_is_a_json_error_too() -> None:
    with pytest.raises(JsonError, match="deeper"):
        parse("[" * 200_000 + "]" * 200_000, max_depth=10**6, max_nodes=10**6)


def test_the_number_of_values_is_bounded() -> None:
    assert parse("[" + "[]," * 99 + "[]]", max_nodes=300) is not None
    with pytest.raises(JsonError, match="more than 50000 values"):
        parse("[" + "1," * 50_000 + "1]")
    assert parse('["' + "," * 60_000 + '"]') is not None


def test_size_is_bounded_in_bytes_not_characters() -> None:
    assert parse('"éé"', max_bytes=6) == "éé"
    with pytest.raises(JsonError, match="7 bytes of JSON; at most 6"):
        parse('"ééa"', max_bytes=6)
    with pytest.raises(JsonError, match="at most 6"):
        parse('"ééa"'.encode(), max_bytes=6)


def test_hostile_texts_take_no_longer_than_honest_ones() -> None:
    quotes = '["' + '\\"' * 400_000
    started = time.perf_counter()
    for text in (quotes, '"' * 400_000, "[{" * 200_000, "[" * 100 + '"' + "\\" * 400_001):
        with pytest.raises(JsonError):
            parse(text)
    assert time.perf_counter() - started < 5.0  # quadratic reading takes minutes


def test_no_message_repeats_a_value() -> None:
    with pytest.raises(JsonError) as refused:
        parse('{"password":"hunter2","n":1e999}')
    assert "hunter2" not in str(refused.value)


LIKELY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30, 0.1, 1e16, 5e-324, -0.0])
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc") | st.text(), inner),
    max_leaves=12,
)
MEANT_TWICE = [
    '{"a":1,"a":1}',
    '{"a":1,"a":2}',
    '[{"b":{"c":[],"c":[]}}]',
    '{"a":1,"\\u0061":1}',
    "0.10000000000000001",
    "[100000000000000000000000]",
    "[-0]",
    "1E2",
    '"\\ud800"',
    "[NaN]",
    '{"a": 1}',
    '{"a": 1, "a": 1}',
    '{"a": 1, "a": 1 , "b":"          "}',
    '[{"b ": 1, "b": 2, "b ":3}]',
    "[ -0, 1E2 ]",
    '"a\tb"',
    '["a\\u0020b", 1 ]',
    "[1 2]",
    '{"a":1e2 }',
]


def outcome(text: bytes) -> tuple[str, str]:
    try:
        value = parse(text)
    except JsonError as error:
        return "refused", str(error)
    return "read", repr(value)  # with the types of all numbers


GAPS = [(",", ":"), (", ", ": "), (" ,\n", "\t:\r")]


@given(value=LIKELY, gaps=st.sampled_from(GAPS), ascii_only=st.booleans())
def test_the_quick_look_changes_nothing(
    value: object, gaps: tuple[str, str], ascii_only: bool
) -> None:
    text = json.dumps(value, separators=gaps, ensure_ascii=ascii_only).encode("utf-8", "replace")
    quick = outcome(text)
    with patch("gateway.jsontext.reading._written_alike", return_value=None):
        assert outcome(text) == quick


@pytest.mark.parametrize("text", MEANT_TWICE)
def test_what_has_two_meanings_never_passes_the_quick_look(text: str) -> None:
    quick = outcome(text.encode())
    with patch("gateway.jsontext.reading._written_alike", return_value=None):
        assert outcome(text.encode()) == quick


def test_what_most_clients_send_takes_the_quick_look() -> None:
    with patch("gateway.jsontext.reading._STRICT", None):
        for text in ('{"a":[1,0.5,"é x",null,true]}', '{"a": [1, 0.5,\n"é x", null, true ] }'):
            assert parse(text.encode()) == {"a": [1, 0.5, "é x", None, True]}


@given(st.text(alphabet='{}[],:" \n\\u0a1-.e\x85\u2028', max_size=40))
def test_no_text_of_signs_is_read_otherwise_by_the_quick_look(text: str) -> None:
    quick = outcome(text.encode())
    with patch("gateway.jsontext.reading._written_alike", return_value=None):
        assert outcome(text.encode()) == quick
