"""Dialects, and where schemas hold schemas."""

import jsonschema_rs
import pytest

from gateway.contracts.dialects import (
    Position,
    dialect_of,
    ref_stands_alone,
    subschemas,
    target_of,
)
from gateway.types.json import Json


@pytest.mark.parametrize(
    ("declared", "dialect"),
    [
        ("http://json-schema.org/draft-04/schema#", jsonschema_rs.Draft4Validator),
        ("http://json-schema.org/draft-06/schema", jsonschema_rs.Draft6Validator),
        ("https://json-schema.org/draft-07/schema#", jsonschema_rs.Draft7Validator),
        ("https://json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator),
        ("https://json-schema.org/draft/2020-12/schema", jsonschema_rs.Draft202012Validator),
    ],
)
def test_a_dialect_is_known_by_its_name_whatever_its_spelling(
    declared: str, dialect: object
) -> None:
    """case: SCH-05"""
    assert dialect_of({"$schema": declared}) is dialect


def test_the_newest_dialect_is_the_default() -> None:
    """case: SCH-05"""
    assert dialect_of({}) is jsonschema_rs.Draft202012Validator
    assert not ref_stands_alone(dialect_of({}))
    assert ref_stands_alone(jsonschema_rs.Draft7Validator)


def test_each_place_of_a_subschema_is_known() -> None:
    found = {
        inner.pointer: inner.position
        for inner in subschemas(
            {
                "properties": {"a/b": {}, "t": True},
                "items": [{}, {}],
                "additionalItems": False,
                "dependencies": {"x": ["y"], "z": {}},
                "allOf": [{}],
                "enum": [{"not": {}}],
                "not": {},
                "$defs": {"d": {}},
                "additionalProperties": {},
                "default": {"not": {}},
            },
            "/r",
        )
    }
    assert found == {
        "/r/properties/a~1b": Position.NAMED,
        "/r/properties/t": Position.NAMED,
        "/r/items/0": Position.ITEM,
        "/r/items/1": Position.ITEM,
        "/r/additionalItems": Position.ITEM,
        "/r/dependencies/z": Position.SAME,
        "/r/allOf/0": Position.SAME,
        "/r/not": Position.SAME,
        "/r/$defs/d": Position.NOWHERE,
        "/r/additionalProperties": Position.OTHER,
    }


def test_only_local_pointers_are_targets() -> None:
    assert target_of("#") == ""
    assert target_of("#/$defs/A%20b") == "/$defs/A b"
    refused: list[Json] = ["x#/a", "#a", 1, None, "#/%ff"]
    for reference in refused:
        with pytest.raises(ValueError):  # noqa: PT011 - its text is tested where people see it
            target_of(reference)
