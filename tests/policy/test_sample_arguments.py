"""Arguments by their schema."""

import pytest

from gateway.contracts.schemas import compile_tool
from gateway.policy.sample_arguments import values
from gateway.policy.sample_texts import Pool
from gateway.types.json import Json, JsonObject

POOL = Pool(texts=("EUR", "acme"), numbers=(100.0, 101.0, 99.5), lengths=(3, 2))


def of(schema: Json, some: Pool = POOL) -> tuple[Json, ...]:
    return values(schema, {}, some)


def test_numbers_are_whole_where_the_schema_says_so() -> None:
    assert of({"type": "integer"}) == (1, 100, 101)
    assert of({"type": "number"}) == (1, 100, 101, 99.5)
    bounded = of({"type": "integer", "minimum": 5, "exclusiveMaximum": 9, "default": 6})
    assert bounded[0] == 6
    assert 5 in bounded
    assert 8 in bounded


def test_what_is_listed_is_all_there_is() -> None:
    assert of({"enum": ["a", "b"]}) == ("a", "b")
    assert of({"const": 7}) == (7,)
    assert of({"type": "boolean"}) == (False, True)


def test_texts_have_the_form_and_the_lengths_that_are_asked_for() -> None:
    assert of({"type": "string"}) == ("x", "EUR", "acme", "xxx", "xx")
    assert of({"type": "string", "format": "uri"})[0] == "https://example.com/x"
    assert of({"type": "string", "pattern": "^c-[0-9]{4}$"})[0] == "c-0000"
    assert of({"type": "string", "minLength": 4, "maxLength": 5})[0] == "xxxx"
    assert "xxxxx" in of({"type": "string", "minLength": 4, "maxLength": 5})


def test_lists_are_empty_of_one_of_two_kinds_and_long() -> None:
    found = of({"type": "array", "items": {"type": "string"}})
    for wanted in ([], ["x"], ["EUR"], ["x", "EUR"], ["x", "x", "x"]):
        assert wanted in found
    least = of({"type": "array", "items": {"type": "string"}, "minItems": 2})
    assert least[0] == ["x", "x"]


def test_objects_have_what_is_required_and_one_thing_more_at_a_time() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"street": {"type": "string"}, "country": {"enum": ["DE", "FR"]}},
        "required": ["street"],
    }
    found = of(schema, Pool())
    assert found == (
        {"street": "x"},
        {"street": "x", "country": "DE"},
        {"street": "x", "country": "FR"},
    )


def test_an_object_inside_of_itself_comes_to_an_end() -> None:
    root: JsonObject = {"$defs": {"node": {"type": "object", "properties": {}}}}
    node: JsonObject = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node"}},
        "required": ["next"],
    }
    root["$defs"] = {"node": node}
    assert values({"$ref": "#/$defs/node"}, root, Pool())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        {"type": ["integer", "string"]},
        {},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    ],
)
def test_something_of_every_kind_of_schema_is_valid(schema: JsonObject) -> None:
    tool: JsonObject = {"inputSchema": {"type": "object", "properties": {"a": schema}}}
    judge = compile_tool(tool).input
    assert any(judge.is_valid({"a": each}) for each in of(schema))


def test_what_may_be_null_is_tried_as_null() -> None:
    assert None in of({"type": ["string", "null"]})
    assert None in of({"anyOf": [{"type": "string"}, {"type": "null"}]})
