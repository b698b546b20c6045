"""What is wrong with a value."""

import time
from typing import Any

import pytest

from gateway.contracts.explain import MAX_VIOLATIONS
from gateway.contracts.schemas import compile_tool
from gateway.types.json import JsonObject


def said(schema: Any, value: JsonObject) -> list[str]:
    compiled = compile_tool({"name": "t", "inputSchema": schema}).input
    assert not compiled.is_valid(value)
    return [f"{one.pointer}: {one.expected} / {one.received}" for one in compiled.violations(value)]


def test_json_inside_a_text_is_named_with_both_types() -> None:
    """case: ARG-01"""
    schema = {
        "properties": {
            "item": {"type": "object"},
            "tags": {"type": "array"},
            "text": {"type": "string"},
        }
    }
    value: JsonObject = {"item": '{"id": 1}', "tags": '["a"]', "text": '{"keep": true}'}
    assert said(schema, value) == ["/item: object / string", "/tags: array / string"]
    assert value["text"] == '{"keep": true}'


def test_null_for_an_optional_field_says_to_omit_it() -> None:
    """case: ARG-03"""
    schema = {
        "properties": {
            "q": {"type": "string"},
            "country": {"type": "string"},
            "lang": {"enum": ["de", "en"]},
            "page": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
        "required": ["q"],
    }
    assert said(schema, {"q": "x", "country": None, "lang": None, "page": None}) == [
        "/country: string (or omit the field) / null",
        '/lang: one of "de", "en" (or omit the field) / null',
        "/page: integer or string (or omit the field) / null",
    ]
    assert said(schema, {"q": None}) == ["/q: string / null"]


CASES: list[tuple[Any, JsonObject, list[str]]] = [
    ({"required": ["a", "b"]}, {}, ["/a: a value / nothing", "/b: a value / nothing"]),
    (
        {"properties": {"query": {"type": "string"}}, "additionalProperties": False},
        {"qeury": "x", "zz": 1},
        ["/qeury: no such field; did you mean `query`? / string", "/zz: no such field / integer"],
    ),
    ({"additionalProperties": {"type": "string"}}, {"x": 1}, ["/x: string / integer"]),
    (
        {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
        {"x-a": 1, "y": 1},
        ["/x-a: string / integer", "/y: no such field / integer"],
    ),
    ({"propertyNames": {"pattern": "^[a-z]+$"}}, {"A": 1},
     ["/A: another name for this field / integer"]),
    ({"minProperties": 1}, {}, [": at least 1 fields / object"]),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, [": at most 1 fields / object"]),
    (
        {"properties": {"n": {"minimum": 1, "multipleOf": 2}}}, {"n": -3},
        ["/n: at least 1 / integer", "/n: a multiple of 2 / integer"],
    ),
    ({"properties": {"l": {"uniqueItems": True}}}, {"l": [1, 1]},
     ["/l: items that differ from each other / array"]),
    ({"properties": {"l": {"items": {"type": "string"}}}}, {"l": ["a", 1]},
     ["/l/1: string / integer"]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["/b: a value, since `a` is given / nothing"]),
    ({"dependentSchemas": {"a": {"required": ["c"]}}}, {"a": 1}, ["/c: a value / nothing"]),
    ({"allOf": [{"required": ["a"]}]}, {}, ["/a: a value / nothing"]),
    ({"dependencies": {"a": ["b"], "z": ["y"]}}, {"a": 1},
     ["/b: a value, since `a` is given / nothing"]),
    ({"not": {"required": ["a"]}}, {"a": 1}, [": a value that `not` leaves open / object"]),
    (
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
        {"a": 1}, ["/b: a value / nothing"],
    ),
    (
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
        {}, ["/c: a value / nothing"],
    ),
    (
        {"properties": {"v": {"oneOf": [{"type": "integer"}, {"minimum": 1}]}}}, {"v": 3},
        ["/v: a value that fits exactly one of 2 forms / integer"],
    ),
    (
        {"properties": {"s": {"oneOf": [
            {"type": "object", "properties": {"k": {"const": "x"}, "v": {"type": "integer"}}},
            {"type": "object", "properties": {"k": {"const": "y"}}, "required": ["w", "z"]}]}}},
        {"s": {"k": "x", "v": "s"}}, ["/s/v: integer / string"],
    ),
    ({"properties": {"c": {"contains": {"const": 1}}}}, {"c": [2]},
     [": a value that matches the schema / object"]),
    ({"unevaluatedProperties": False}, {"c": 2}, [": a value that matches the schema / object"]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_violation_names_place_expectation_and_type(case: Any) -> None:
    schema, value, lines = case
    assert said(schema, value) == lines


def test_a_text_that_no_keyword_can_judge_still_gets_an_answer() -> None:
    schema = {"properties": {"a": {"pattern": "^x"}}}
    assert said(schema, {"a": "\ud800"}) == [": a value that matches the schema / object"]


def test_no_value_is_ever_repeated() -> None:
    schema: Any = {
        "properties": {
            "password": {"type": "string", "maxLength": 3, "pattern": "^a", "enum": ["a"]},
            "l": {"items": {"const": 1}},
            "u": {"anyOf": [{"type": "integer"}, {"minLength": 99}]},
        }
    }
    lines = said(schema, {"password": "hunter2", "l": ["hunter2"], "u": "hunter2"})
    assert "hunter2" not in "".join(lines)


def test_only_the_first_few_are_told() -> None:
    schema = {"properties": {"l": {"items": {"type": "string"}}}}
    assert len(said(schema, {"l": list(range(100))})) == MAX_VIOLATIONS


def test_a_recursive_value_is_explained_where_it_fails() -> None:
    node = {"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}}}
    schema = {"$ref": "#/$defs/n", "$defs": {"n": node}}
    value: JsonObject = {"c": 1}
    for _ in range(30):
        value = {"c": value}
    assert said(schema, value) == ["/c" * 31 + ": object / integer"]


def test_the_walk_is_bounded_on_schemas_that_are_slow_to_explain() -> None:
    """case: SCH-10"""
    branches: Any = {"anyOf": [{"allOf": [{"type": "string"}] * 20}] * 90}
    started = time.perf_counter()
    assert said({"properties": {"a": branches}}, {"a": list(range(50_000))})
    assert said({"properties": {"a": {"items": branches}}}, {"a": list(range(10_000))})
    assert time.perf_counter() - started < 5.0  # the engine's own texts take a minute
