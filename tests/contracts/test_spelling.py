"""Other spellings of the names of arguments."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contracts.spelling import Misspelt, like, misspelt
from gateway.types.json import JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "tenant_id": {"type": "string"},
        "kelvin": {},
        "to": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/person"}]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "labels": {"type": "object"},
    },
    "$defs": {
        "person": {"properties": {"name": {}}},
        "line": {"properties": {"id": {}}, "additionalProperties": {"$ref": "#/$defs/person"}},
    },
}


@pytest.mark.parametrize(
    ("arguments", "pointer", "name"),
    [
        ({"tenant_id": "a", "Tenant_ID": "b"}, "/Tenant_ID", "tenant_id"),
        ({"tenantId": "b"}, "/tenantId", "tenant_id"),
        ({"tenant-id": "b"}, "/tenant-id", "tenant_id"),
        ({"\u212aelvin": 1}, "/\u212aelvin", "kelvin"),
        ({"to": {"NAME": "x"}}, "/to/NAME", "name"),
        ({"lines": [{"id": 1}, {"ID": 2}]}, "/lines/1/ID", "id"),
        ({"lines": [{"extra": {"Name": 2}}]}, "/lines/0/extra/Name", "name"),
        ({"Free": 1}, "/Free", "free"),
    ],
)
def test_another_spelling_of_a_name_is_found_wherever_the_schema_has_names(
    arguments: JsonObject, pointer: str, name: str
) -> None:
    assert misspelt(SCHEMA, arguments, ["free"]) == Misspelt(pointer=pointer, name=name)


@pytest.mark.parametrize(
    "arguments",
    [
        {"tenant_id": "a", "other": 1, "free": 2},
        {"labels": {"a": 1, "A": 2}},
        {"to": "NAME", "lines": [{"id": 1}, "ID"]},
        {},
    ],
)
def test_names_of_their_own_and_keys_of_maps_pass(arguments: JsonObject) -> None:
    assert misspelt(SCHEMA, arguments, ["free"]) is None
    assert misspelt({"$ref": "#"}, arguments) is None


def test_two_names_that_are_both_known_are_no_slip() -> None:
    assert like({"a_b", "ab"}, ["a_b", "ab"]) is None


NAMES = st.sampled_from(["tenant_id", "Tenant_id", "to", "TO", "lines", "name", "Name", "id", "ID"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.just("NAME"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_arguments_that_are_passed_at_a_look_are_those_that_pass_the_walk(
    arguments: JsonObject,
) -> None:
    quick = misspelt(SCHEMA, arguments)
    with patch("gateway.contracts.spelling._FLAT", frozenset[type]()):
        assert misspelt(SCHEMA, arguments) == quick


def test_known_names_with_plain_values_are_not_walked_through() -> None:
    with patch("gateway.contracts.spelling._in", None):
        assert misspelt(SCHEMA, {"tenant_id": "a", "kelvin": 1}) is None
