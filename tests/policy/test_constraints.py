from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.constraints import ConstraintError, apply, is_number, tokens_of
from gateway.types.decisions import Constraint
from gateway.types.json import Json, JsonObject


def constraint(kind: str, pointer: str, value: Json) -> Constraint:
    return Constraint(pointer=pointer, kind=kind, value=value, rule="r")


@pytest.mark.parametrize(
    ("kind", "pointer", "value", "arguments", "expected"),
    [
        ("set", "/tenant", "acme", {"tenant": "evil"}, {"tenant": "acme"}),
        ("set", "/tenant", "acme", {}, {"tenant": "acme"}),
        ("set", "/a/b", 1, {"a": {"c": 2}}, {"a": {"c": 2, "b": 1}}),
        ("set", "/a/b", 1, {}, {"a": {"b": 1}}),
        ("set", "/a~1b/c~0d", 1, {}, {"a/b": {"c~d": 1}}),
        ("set", "/items/*/own", True, {"items": [{}, {"own": 0}]}, {"items": [{"own": True}] * 2}),
        ("set", "/items/1", 9, {"items": [1, 2, 3]}, {"items": [1, 9, 3]}),
        ("set", "/a/*/x", 9, {}, {}),
        ("max", "/limit", 50, {"limit": 200}, {"limit": 50}),
        ("max", "/limit", 50, {"limit": 20}, {"limit": 20}),
        ("max", "/limit", 50, {"limit": 50.5}, {"limit": 50}),
        ("max", "/limit", 50, {"limit": 2**90}, {"limit": 50}),
        ("max", "/limit", 50, {"limit": Decimal("50.1")}, {"limit": 50}),
        ("max", "/limit", 50, {}, {}),
        ("max", "/items/7/n", 50, {"items": [1]}, {"items": [1]}),
        ("min", "/limit", 5, {"limit": 1}, {"limit": 5}),
        ("min", "/*/n", 5, {"a": {"n": 1}, "b": {"n": 9}}, {"a": {"n": 5}, "b": {"n": 9}}),
        ("default", "/limit", 20, {}, {"limit": 20}),
        ("default", "/limit", 20, {"limit": None}, {"limit": None}),
        ("default", "/a/b", 20, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_constraints_write_into_a_copy(
    kind: str, pointer: str, value: Json, arguments: JsonObject, expected: JsonObject
) -> None:
    before = repr(arguments)
    assert apply(arguments, [constraint(kind, pointer, value)]) == expected
    assert repr(arguments) == before


@pytest.mark.parametrize(
    ("kind", "pointer", "value", "arguments"),
    [
        ("max", "/limit", 50, {"limit": "200"}),
        ("max", "/limit", 50, {"limit": True}),
        ("max", "/limit", 50, {"limit": None}),
        ("max", "/limit", 50, {"limit": float("nan")}),
        ("max", "/limit", "50", {"limit": 1}),
        ("set", "/a/b", 1, {"a": "text"}),
        ("set", "/a/b", 1, {"a": None}),
        ("set", "/a/b", 1, {"a": [1]}),
        ("set", "/a/9", 1, {"a": [1]}),
        ("set", "", {}, {}),
        ("nonsense", "/a", 1, {"a": 1}),
    ],
)
def test_what_can_not_be_met_is_an_error(
    kind: str, pointer: str, value: Json, arguments: JsonObject
) -> None:
    with pytest.raises(ConstraintError):
        apply(arguments, [constraint(kind, pointer, value)])


def test_a_bound_holds_whoever_wrote_the_value() -> None:
    demands = [
        constraint("max", "/limit", 50),
        constraint("set", "/limit", 80),
        constraint("default", "/limit", 90),
    ]
    assert apply({}, demands) == {"limit": 50}


@given(st.integers() | st.floats(allow_nan=False), st.integers(), st.integers())
def test_a_number_between_two_bounds_ends_between_them(value: float, one: int, other: int) -> None:
    low, high = sorted((one, other))
    arguments = apply({"n": value}, [constraint("max", "/n", high), constraint("min", "/n", low)])
    number = arguments["n"]
    assert is_number(number)
    assert low <= number <= high


def test_a_pointer_is_split_as_rfc_6901_says() -> None:
    assert tokens_of("/a~1b/~01//") == ("a/b", "~1", "", "")
    assert tokens_of("") == ()
