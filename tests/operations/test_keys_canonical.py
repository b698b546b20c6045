"""What makes two keys one: the canonical form of arguments, and how changes of it are named."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.operations.keys import (
    KeyRefused,
    changed,
)
from gateway.types.json import Json, JsonObject
from tests.operations.keyed import key

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
ARGUMENTS = st.dictionaries(NAMES, JSON, max_size=4)


@given(ARGUMENTS)
def test_the_canonical_form_of_a_canonical_form_is_itself(arguments: JsonObject) -> None:
    written = jsontext.canonical(arguments)
    assert jsontext.canonical(jsontext.parse_result(written)) == written


@given(ARGUMENTS, ARGUMENTS)
def test_digests_are_equal_exactly_when_the_canonical_bytes_are(
    one: JsonObject, other: JsonObject
) -> None:
    same = jsontext.canonical(one) == jsontext.canonical(other)
    assert (key(one).arguments == key(other).arguments) is same
    assert (key(one).key == key(other).key) is same


@given(ARGUMENTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(arguments: JsonObject, random: Any) -> None:
    names = list(arguments)
    random.shuffle(names)
    assert key({name: arguments[name] for name in names}) == key(arguments)


@given(st.integers(min_value=2**53), st.integers(min_value=2**53))
def test_two_large_integers_never_share_a_key(one: int, other: int) -> None:
    assert (key({"id": one}).key == key({"id": other}).key) is (one == other)


def test_large_integers_side_by_side_are_apart() -> None:
    ids = [1234567890123456789, 1234567890123456788, 1234567890123456800]
    assert len({key({"id": each}).key for each in ids}) == 3


def test_numbers_are_equal_as_rfc_8785_says() -> None:
    assert key({"v": 100}).key == key({"v": 100.0}).key == key({"v": Decimal("1e2")}).key
    assert key({"v": 0}).key == key({"v": -0.0}).key
    unlike: list[Json] = [1, "1", True, [1]]
    assert len({key({"v": each}).key for each in unlike}) == 4


@given(st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3), NAMES, NAMES)
def test_the_scope_keeps_tenants_and_principals_apart(
    one: list[str], other: list[str], tenant: str, another: str
) -> None:
    mine = key({}, principal=tuple(one), tenant=tenant)
    theirs = key({}, principal=tuple(other), tenant=another)
    assert (mine.scope == theirs.scope) is ((one, tenant) == (other, another))
    assert (mine.key == theirs.key) is ((one, tenant) == (other, another))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), "\ud800", {"\ud800": 1}]
)
def test_what_has_no_canonical_form_has_no_key(value: Json) -> None:
    with pytest.raises(KeyRefused, match="can't be compared"):
        key({"v": value})


# --- changes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "pointers"),
    [
        ({"v": 1}, {"v": 1.0}, ()),
        ({"v": 1}, {"v": True}, ("/v",)),
        ({"v": 1}, {"w": 1}, ("/v", "/w")),
        ({"v": None}, {}, ("/v",)),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, ("/a/c",)),
        ({"a": {"b": 1, "c": 2}}, {"a": "x"}, ("/a",)),
        ({"a": {"b": 1, "c": 2}}, {}, ("/a",)),
        ({"l": [1, 2]}, {"l": [1, 3]}, ("/l/1",)),
        ({"l": [1, 2]}, {"l": [1]}, ("/l",)),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, ("/a~1b/~0",)),
    ],
)
def test_changes_are_named_where_they_begin(
    before: JsonObject, after: JsonObject, pointers: tuple[str, ...]
) -> None:
    assert changed(before, after) == pointers


def test_only_so_many_changes_are_named() -> None:
    found = changed({f"k{n:03}": 1 for n in range(50)}, {})
    assert len(found) == 20
    assert found == tuple(sorted(found))


@given(ARGUMENTS, ARGUMENTS)
def test_there_are_changes_exactly_when_the_digests_differ(
    one: JsonObject, other: JsonObject
) -> None:
    assert bool(changed(one, other)) is (key(one).arguments != key(other).arguments)
