"""JSON out."""

import re
from decimal import Decimal
from unittest.mock import patch

import orjson
import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.errors import JsonError
from gateway.jsontext import canonical, digest, dump, writing
from gateway.jsontext.writing import writes_back
from gateway.types.json import Json


def test_output_is_compact_utf8_in_the_order_given() -> None:
    assert (
        dump({"b": [1, 1.0, None, True], "a": "é\n"})
        == '{"b":[1,1.0,null,true],"a":"é\\n"}'.encode()
    )


def test_integers_of_any_size_and_decimals_keep_their_digits() -> None:
    """case: ARG-02"""
    value: Json = {"i": [10**30, -(2**63) - 1, 2**64], "f": 0.1, "d": Decimal("1.10E+400")}
    assert dump(value) == (
        b'{"i":[1000000000000000000000000000000,-9223372036854775809,18446744073709551616],'
        b'"f":0.1,"d":1.10E+400}'
    )


@pytest.mark.parametrize(
    "value",
    [float("nan"), [float("inf")], {"a": {"b": float("-inf")}}, [None, float("nan")],
     Decimal("NaN"), [Decimal("Infinity"), 10**30], [10**30, float("nan")], "\ud800",
     {"\ud800": 1.5}, [10**30, "\ud800"]],
)  # fmt: skip
def test_what_is_not_json_is_never_written(value: Json) -> None:
    with pytest.raises(JsonError):
        dump(value)
    with pytest.raises(JsonError):
        canonical(value)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(JsonError, match="`object` is not a JSON type"):
        dump([object()])  # type: ignore[list-item] - the fault under test  # pyright: ignore[reportArgumentType]


def test_depth_beyond_the_writer_is_a_json_error() -> None:
    deep: Json = []
    for _ in range(5000):
        deep = [deep]
    for write in (dump, canonical):
        with pytest.raises(JsonError):
            write(deep)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": 2}, b'{"a":2,"b":1}'),
        ([1.0, -0.0, 1e21, 1e-7, 333333333.33333329], b"[1,0,1e+21,1e-7,333333333.3333333]"),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'.encode()),
        ('\x00\x1f"\\\u2028é', '"\\u0000\\u001f\\"\\\\\u2028é"'.encode()),
        ([2**53, -(2**70)], b"[9007199254740992,-1180591620717411303424]"),
        (Decimal("1.50"), b"1.5"),
        (Decimal("1.50E+400"), b"1.5e+400"),
        (Decimal("-0.10000000000000000000000001"), b"-1.0000000000000000000000001e-1"),
    ],
)
def test_the_canonical_form(value: Json, text: bytes) -> None:
    assert canonical(value) == text


def test_different_numbers_never_share_a_digest() -> None:
    """case: ARG-02"""
    close: list[Json] = [
        2**53, 2**53 + 1, 2**53 + 2, {"$int": str(2**53 + 1)}, str(2**53 + 1),
        0.1, Decimal("0.1000000000000000001"),
    ]  # fmt: skip
    assert len({digest(value) for value in close}) == len(close)


def test_equal_numbers_share_a_digest() -> None:
    assert digest({"a": 1}) == digest({"a": 1.0}) == digest({"a": Decimal("1.00")})
    assert digest(True) != digest(1)
    assert digest([]).startswith("sha256:")
    assert len(digest([])) == 71


safe = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(safe)
def test_the_canonical_form_is_that_of_rfc_8785_wherever_it_has_one(value: Json) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # pyright: ignore[reportArgumentType] - no Decimal in here


LIKELY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.sampled_from([1e16, 1e22, 1e-7, 5e-324, -0.0, 1.0, 1e-5, 1e21, 2**53, 2**64])
    | st.sampled_from([Decimal("1e16"), Decimal("NaN")])
    | st.sampled_from(["null", "1.5", "-", "e+", "\ud800", "\ue000", "\U00010000"]),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["a", "b", "\ue000", "\U00010000", "é", "1.5"]) | st.text(), inner),
    max_leaves=12,
)  # fmt: skip


def outcome(value: Json) -> bytes | str:
    try:
        return canonical(value)
    except JsonError as error:
        return str(error)


@given(LIKELY, st.sampled_from(["", "x" * 2_000]))
def test_the_looks_that_save_spelling_a_value_change_nothing(value: Json, padding: str) -> None:
    value = [value, padding]
    quick = outcome(value)
    # What is in all bytes, so that every value is spelled.
    signs = patch.multiple(writing, _EXPONENT=b"", _SPELLED_OTHERWISE=re.compile(b""))
    with signs, patch.object(writing, "has_fractions", return_value=True):
        assert outcome(value) == quick


def test_what_the_bytes_show_to_be_canonical_is_not_walked() -> None:
    with patch.object(writing, "has_fractions", side_effect=AssertionError):
        assert canonical({"b": [7, {}], "a": "x y"}) == b'{"a":"x y","b":[7,{}]}'
        assert canonical({"b": [0.5], "a": "v-1.5"}) == b'{"a":"v-1.5","b":[0.5]}'
        with pytest.raises(AssertionError):
            canonical([1.0])


@pytest.mark.parametrize("number", [1e16, 1e-7, 1e-6, 1.0, -0.0, 5e-324, 1e300, float("nan")])
@pytest.mark.parametrize("padding", ["", "x" * 2_000])
def test_every_number_that_is_spelled_otherwise_is_walked_to(number: float, padding: str) -> None:
    """Another writer of floats would need other looks."""
    value: Json = [padding, number]
    with patch.object(writing, "has_fractions", return_value=False) as walked:
        assert canonical(value) == orjson.dumps(value)
    walked.assert_called_once()


def test_fractions_that_are_written_as_rfc_8785_asks_are_not_spelled() -> None:
    text = "1.5" * 1_000
    with patch.object(writing, "_spelled", None):
        assert canonical([[0.5, -12.25], text]) == f'[[0.5,-12.25],"{text}"]'.encode()
        with pytest.raises(TypeError):
            canonical({"b": [0.5, 1.0]})


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e-6)
@example(1.5e-6)
@example(1.00000001)
@example(1e16)
@example(123456789012345680000.0)
@example(0.0001)
@example(0.00001)
@example(-0.0)
@example(-9496306264962832.0)
@example(9999999999999998.0)
@example(9.999999999999999e-6)
def test_a_float_is_spelled_as_rfc_8785_asks(number: float) -> None:
    assert canonical(number) == rfc8785.dumps(number)
    assert canonical([number, 1.0]) == rfc8785.dumps([number, 1.0])  # which is spelled


@given(safe)
def test_white_space_between_values_is_all_that_writing_back_overlooks(value: Json) -> None:
    text = dump(value)
    assert writes_back(value, text)
    assert writes_back(value, b" " + text + b"\n")
    assert not writes_back([value], text)
    assert not writes_back(value, b"[" + text + b"]")
