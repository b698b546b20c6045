from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events.patterns import PATTERNS
from gateway.events.profile import EVENTS, RESULTS, Profile
from gateway.events.quick import QuickLook
from gateway.events.redact import Redacted, Redactor
from gateway.events.scanner import Scanner
from gateway.types.json import Json

SCANNER = Scanner(PATTERNS)


def look(value: Json, profile: Profile = EVENTS) -> int | None:
    return QuickLook(SCANNER, profile).clean(value)


def test_a_clean_value_is_told_by_the_number_of_its_keys() -> None:
    assert look({"a": [{"b": 1}, {"b": "x"}], "c": None}) == 4
    assert look("text") == 0


def test_anything_that_may_have_to_change_is_left_to_the_slow_way() -> None:
    assert look({"password": "x"}) is None
    assert look({"a": ["mail a@x.org"]}) is None
    assert look({"a": '{"token": "x"}'}) is None
    assert look({"a": "x" * (EVENTS.max_text + 1)}) is None
    many: list[Json] = [0] * (EVENTS.max_nodes + 1)
    assert look(many) is None


def in_a_list(inner: Json) -> Json:
    return [inner]


def in_an_object(inner: Json) -> Json:
    return {"a": inner}


@pytest.mark.parametrize("wrapped", [in_a_list, in_an_object])
def test_depth_and_number_of_values_are_bounded_exactly(wrapped: Callable[[Json], Json]) -> None:
    deep: Json = 1
    for _ in range(EVENTS.max_depth):
        deep = wrapped(deep)
    assert look(deep) is not None
    assert look(wrapped(deep)) is None
    zeros: list[Json] = [0] * (EVENTS.max_nodes - 2)
    assert look(wrapped(zeros)) is not None
    assert look(wrapped([*zeros, 0])) is None


def test_one_text_may_be_long_and_many_together_longer() -> None:
    longest = "x " * (EVENTS.max_text // 2)
    assert look({"a": [longest, longest]}) == 1
    assert look({"a": ["x", longest + "x"]}) is None


SECRETS = st.sampled_from(
    ["mail a@x.org", '{"token": "x"}', ' ["\\u0061"]', "4111111111111111", "ghp_" + "a" * 36]
)
LIKELY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | SECRETS
    | st.sampled_from([4111111111111111, 10**11, 10**11 - 1]),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["a", "b", "password", "tokens"]) | st.text(), inner),
    max_leaves=10,
)  # fmt: skip
REDACTOR = Redactor(lambda tenant: b"k" * 32)


@given(LIKELY, st.sampled_from([EVENTS, RESULTS]))
def test_what_is_clean_at_a_look_is_left_as_it_is_by_the_walk(
    value: Json, profile: Profile
) -> None:
    keys = look(value, profile)
    with patch.object(QuickLook, "clean", return_value=None):
        walked = REDACTOR.value(value, profile=profile)
    if keys is not None:
        assert walked == Redacted(value=value)


def test_numbers_as_long_as_a_card_matter_only_where_personal_data_does() -> None:
    assert look({"n": 4111111111111111}) is None
    assert look({"n": 4111111111111111}, RESULTS) == 1


def test_it_bears_more_keys_than_it_remembers() -> None:
    quick = QuickLook(SCANNER, EVENTS)
    for start in range(0, 6_000, 1_000):
        value: Json = {f"k{number}": 1 for number in range(start, start + 1_000)}
        assert quick.clean(value) == 1_000
    assert quick.clean({"k1": 1, "x" * 100: 1}) == 2
