"""Other spellings of the names of arguments."""

import pytest

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
