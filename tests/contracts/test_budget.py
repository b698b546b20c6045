"""What a schema may cost."""

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from gateway.contracts import budget
from gateway.contracts.schemas import compile_tool
from gateway.errors import SchemaError


def levels(depth: int, inside: Callable[[Any], Any], last: Any = True) -> dict[str, Any]:
    """A chain of definitions, each made by `inside` from the reference to the next."""
    definitions = {f"L{n}": inside({"$ref": f"#/$defs/L{n + 1}"}) for n in range(depth)}
    return {"$ref": "#/$defs/L0", "$defs": {**definitions, f"L{depth}": last}}


deep: Any = {}
for _ in range(70):
    deep = {"not": deep}

HOSTILE: dict[str, tuple[Any, str]] = {
    "two to the forty in place": (levels(40, lambda n: {"allOf": [n, n]}), "budget"),
    "two to the forty any of": (levels(40, lambda n: {"anyOf": [n, n]}), "budget"),
    "two to the forty one level down": (
        levels(40, lambda n: {"allOf": [{"properties": {"a": n}}] * 2}), "budget"),
    "two to the forty in items": (levels(40, lambda n: {"anyOf": [{"items": n}] * 2}), "budget"),
    "conditions": (levels(40, lambda n: {"if": n, "then": n}), "budget"),
    "many patterns on one text": ({"allOf": [{"pattern": "a"}] * 200}, "budget"),
    "itself": ({"$ref": "#"}, "refers to itself in place"),
    "itself, in all of": ({"allOf": [{"$ref": "#"}]}, "refers to itself in place"),
    "a ring": (
        {"$ref": "#/$defs/a",
         "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        "refers to itself in place"),
    "recursion twice": (
        {"anyOf": [{"properties": {"c": {"$ref": "#"}}}, {"properties": {"c": {"$ref": "#"}}}]},
        "doubles"),
    "recursion by name and by pattern": (
        {"properties": {"c": {"$ref": "#"}}, "patternProperties": {"c": {"$ref": "#"}}},
        "doubles"),
    "recursion twice over two levels": (
        {"$ref": "#/$defs/a", "$defs": {
            "a": {"items": {"$ref": "#/$defs/b"}},
            "b": {"allOf": [{"items": {"$ref": "#/$defs/a"}}, {"contains": {"$ref": "#/$defs/a"}}]},
        }}, "doubles"),
    "nowhere": ({"$ref": "#/$defs/x"}, "leads nowhere"),
    "no pointer": ({"$ref": "#/~x"}, "not a JSON Pointer"),
    "an anchor": ({"$ref": "#x", "$defs": {"a": {"$anchor": "x"}}}, "by anchor"),
    "no text": ({"$ref": 3}, "only references inside"),
    "a dynamic one": ({"properties": {"a": {"$dynamicRef": "#a"}}}, "not enforced"),
    "a recursive one": ({"$recursiveRef": "#"}, "not enforced"),
    "another base": ({"properties": {"a": {"$id": "x"}}}, "below the root"),
    "another base, draft 4": (
        {"$schema": "http://json-schema.org/draft-04/schema#", "not": {"id": "x"}},
        "below the root"),
    "a long pattern": ({"pattern": "a" * 257}, "pattern of more than 256"),
    "a long pattern in a key": ({"patternProperties": {"a" * 257: {}}}, "pattern of more than"),
    "a word edge": ({"pattern": r"\<b"}, "mean different things"),
    "a long enum": ({"enum": list(range(1001))}, "enum of more than 1000"),
    "size": ({"description": "x" * 70_000}, "at most 65536"),
    "values": ({"default": [0] * 10_000}, "more than 10000 values"),
    "depth": (deep, "deeper than 64"),
    "a number beyond floats": ({"maximum": Decimal("1E+400")}, "no float carries"),
    "half a pair": ({"description": "\ud800"}, "can't be written"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_schema_over_the_budget_is_refused_at_once(name: str) -> None:
    """case: SCH-10"""
    schema, reason = HOSTILE[name]
    started = time.perf_counter()
    with pytest.raises(SchemaError, match=reason):
        budget.check(schema)
    assert time.perf_counter() - started < 2.0


ORDINARY: dict[str, Any] = {
    "a tree": {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
    "a list of itself": {"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}},
    "any JSON": {
        "$defs": {"j": {"anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/j"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/j"}}]}},
        "properties": {"value": {"$ref": "#/$defs/j"}}},
    "named and other members": {
        "properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
    "one definition used often": {
        "$defs": {"id": {"type": "string", "pattern": "^[a-z]+$"}},
        "properties": {f"p{n}": {"$ref": "#/$defs/id"} for n in range(400)}},
    "percent escapes": {
        "definitions": {"A<B>": {}}, "properties": {"a": {"$ref": "#/definitions/A%3CB%3E"}}},
    "an id at the root": {"$id": "https://example.org/s", "properties": {"$id": True}},
    "an `id` property": {"properties": {"id": {"type": "string"}}},
    "a reference to no known place": {
        "components": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/components/x"}}},
    "lists of names": {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
    "a true definition": {"$defs": {"t": True}, "properties": {"a": {"$ref": "#/$defs/t"}}},
    "shallow reuse": levels(8, lambda n: {"properties": {"a": n, "b": n, "c": {"items": n}}}),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_schema_is_within_the_budget(name: str) -> None:
    assert compile_tool({"name": "t", "inputSchema": ORDINARY[name]}).input.is_valid({})


def test_a_pattern_with_nested_repeats_is_judged_in_linear_time() -> None:
    """case: SCH-10"""
    schema: Any = {"properties": {"p": {"type": "string", "pattern": "^(a+)+$"}}}
    compiled = compile_tool({"name": "t", "inputSchema": schema}).input
    started = time.perf_counter()
    assert not compiled.is_valid({"p": "a" * 40 + "!"})
    assert not compiled.is_valid({"p": "a" * 1_000_000 + "!"})
    assert compiled.violations({"p": "a" * 40 + "!"})[0].pointer == "/p"
    assert time.perf_counter() - started < 5.0
