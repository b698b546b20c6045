"""What a reader asks about each piece."""

import pytest

from gateway.errors import JsonError
from gateway.jsontext import hooks
from gateway.types.json import Json


def test_integers_of_a_thousand_digits_are_exact() -> None:
    assert hooks.integer("9" * 1000) == 10**1000 - 1
    with pytest.raises(JsonError):
        hooks.integer("9" * 1001)


def test_short_fractions_need_no_comparison() -> None:
    assert hooks.fraction("0.12345678901234") == 0.12345678901234


@pytest.mark.parametrize(
    "digits", ["1e400", "1e-400", "9007199254740993.0", "1e-99999999999999999999"]
)
def test_a_fraction_that_a_float_changes_is_refused(digits: str) -> None:
    with pytest.raises(JsonError):
        hooks.fraction(digits)


def test_a_pointer_over_half_a_pair_can_be_printed() -> None:
    assert hooks.printable("/\ud800/a") == "/\ufffd/a"


def test_surrogates_are_found_in_nested_keys_and_values() -> None:
    found: list[tuple[Json, str]] = [
        ({"a": ["x", "\ud800"]}, "/a/1"),
        ({"a": {"\udfff": 1}}, "/a"),
    ]
    for value, pointer in found:
        with pytest.raises(JsonError) as refused:
            hooks.refuse_surrogates(value, "")
        assert refused.value.pointer == pointer
    hooks.refuse_surrogates({"a": ["x", 1, None, "\U0001f600"]}, "")


def test_half_surrogate_pairs_are_replaced_in_texts_and_keys() -> None:
    assert hooks.without_halves({"a\ud800": ["\udfff", 1, None, "\U0001f600"]}) == {
        "a\ufffd": ["\ufffd", 1, None, "\U0001f600"]
    }
