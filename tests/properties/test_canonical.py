"""The canonical form as others rely on it: approvals, pins and idempotency keys."""

import math
from decimal import Decimal
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gateway.jsontext import canonical, digest, dump, parse, parse_result
from gateway.types.json import Json

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(values)
def test_canonical_after_parse_is_idempotent(value: Json) -> None:
    once = canonical(parse(dump(value)))
    assert canonical(parse(once)) == once
    assert canonical(parse_result(once)) == once


@given(values)
def test_writing_and_reading_loses_nothing(value: Json) -> None:
    assert parse(dump(value)) == value
    assert parse_result(dump(value)) == value
    assert canonical(parse(dump(value))) == canonical(value)


@given(values, values)
def test_a_digest_is_equal_exactly_when_the_canonical_bytes_are(one: Json, other: Json) -> None:
    assert (digest(one) == digest(other)) == (canonical(one) == canonical(other))


@given(st.dictionaries(st.text(), values, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, Json], random: object) -> None:
    items = list(value.items())
    random.shuffle(items)  # type: ignore[attr-defined] - hypothesis types it loosely  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert canonical(dict(items)) == canonical(value)


@given(st.integers(2**53, 10**30), st.integers(1, 1000))
def test_neighbouring_large_integers_stay_apart(number: int, step: int) -> None:
    assert digest({"id": number}) != digest({"id": number + step})
    assert digest(number) != digest({"$int": str(number)})


def respelled(value: Json, choose: Random) -> Json:
    """Return an equal value in other words: members in another order, numbers of another kind."""
    match value:
        case dict():
            items = [(key, respelled(inner, choose)) for key, inner in value.items()]
            choose.shuffle(items)
            return dict(items)
        case list():
            return [respelled(inner, choose) for inner in value]
        case bool():
            return value
        case int() if abs(value) < 2**53:
            return choose.choice([value, float(value), Decimal(value)])
        case _:
            return value


def with_one_more(value: Json) -> Json:
    """Return a value that differs in its first innermost place, by as little as goes."""
    match value:
        case dict() if value:
            key = next(iter(value))
            return {**value, key: with_one_more(value[key])}
        case list() if value:
            return [with_one_more(value[0]), *value[1:]]
        case str():
            return value + "\0"
        case int() if not isinstance(value, bool):
            return value + 1
        case float():
            return math.nextafter(value, math.inf if value < 0 else -math.inf)
        case _:
            return [value]


@given(values, st.randoms(use_true_random=False))
def test_equal_values_in_other_words_share_their_bytes_and_their_digest(
    value: Json, choose: Random
) -> None:
    other = respelled(value, choose)
    assert canonical(other) == canonical(value)
    assert digest(other) == digest(value)


@given(values)
def test_the_least_difference_is_another_digest(value: Json) -> None:
    other = with_one_more(value)
    assert canonical(other) != canonical(value)
    assert digest(other) != digest(value)
