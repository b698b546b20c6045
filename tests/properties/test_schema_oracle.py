"""Validity against an independent implementation, on small schemas and values."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contracts.schemas import compile_tool

NAMES = ["a", "b", "c"]
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "abc", "1"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
            "enum": st.lists(values, min_size=1, max_size=3),
            "const": values,
            "minimum": st.integers(-2, 2),
            "maxLength": st.integers(0, 2),
            "minItems": st.integers(0, 2),
            "uniqueItems": st.booleans(),
            "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            "properties": named,
            "additionalProperties": inner,
            "dependentRequired": st.just({"a": ["b"]}),
            "items": inner,
            "prefixItems": some,
            "contains": inner,
            "propertyNames": st.just({"enum": ["a", "b"]}),
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "$ref": st.just("#/$defs/leaf"),
        },
    )


anything: Any = {}
schemas: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.just(anything), grown, max_leaves=6
)


def compiled(schema: dict[str, Any]) -> tuple[Any, Any]:
    whole: Any = {"properties": schema, "$defs": {"leaf": {"type": ["integer", "object"]}}}
    ours = compile_tool({"name": "t", "inputSchema": whole}).input
    return ours, jsonschema.Draft202012Validator(whole)


@given(st.dictionaries(st.sampled_from(NAMES), schemas, max_size=2), objects)
def test_both_implementations_agree(schema: dict[str, Any], value: Any) -> None:
    ours, oracle = compiled(schema)
    assert ours.is_valid(value) == oracle.is_valid(value)  # pyright: ignore[reportUnknownMemberType] - untyped oracle


@given(st.dictionaries(st.sampled_from(NAMES), schemas, min_size=1, max_size=2), objects)
def test_each_refusal_is_explained_at_a_place_that_exists(
    schema: dict[str, Any], value: Any
) -> None:
    ours, _ = compiled(schema)
    if ours.is_valid(value):
        return
    for violation in ours.violations(value):
        assert violation.expected
        assert violation.received == "nothing" or violation.pointer.count("/") <= 12


CORPUS: list[tuple[dict[str, Any], list[Any]]] = [
    (
        {"$schema": "http://json-schema.org/draft-04/schema#",
         "properties": {"n": {"minimum": 0, "exclusiveMinimum": True}, "id": {"type": "integer"}}},
        [{"n": 0}, {"n": 1}, {"id": 1}, {"id": 1.5}],
    ),
    (
        {"$schema": "http://json-schema.org/draft-06/schema#",
         "properties": {"n": {"exclusiveMinimum": 0}, "c": {"contains": {"const": 1}}}},
        [{"n": 0}, {"n": 1}, {"c": [1]}, {"c": [2]}, {"c": []}],
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#",
         "properties": {"t": {"items": [{"type": "string"}], "additionalItems": False}},
         "if": {"required": ["x"]}, "then": {"required": ["y"]},
         "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        [{"t": ["a"]}, {"t": ["a", 1]}, {"x": 1}, {"x": 1, "y": 2}, {"a": 1}, {"c": 1}],
    ),
    (
        {"$schema": "https://json-schema.org/draft/2019-09/schema",
         "allOf": [{"properties": {"a": {"$ref": "#/$defs/i", "maximum": 3}}}],
         "$defs": {"i": {"type": "integer"}}, "unevaluatedProperties": False},
        [{"a": 1}, {"a": 4}, {"a": "x"}, {"b": 1}],
    ),
    (
        {"properties": {"l": {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3}},
         "dependentSchemas": {"k": {"required": ["l"]}}, "minProperties": 1},
        [{}, {"l": ["a", "b"]}, {"l": ["a"]}, {"l": ["a"] * 4}, {"k": 1}],
    ),
]  # fmt: skip
ORACLES = {
    "04": jsonschema.Draft4Validator,
    "06": jsonschema.Draft6Validator,
    "07": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: str(case[0].get("$schema")))
def test_each_dialect_agrees_with_the_oracle(case: tuple[dict[str, Any], list[Any]]) -> None:
    """case: SCH-05"""
    schema, instances = case
    declared = str(schema.get("$schema", "2020-12"))
    (oracle,) = [found for name, found in ORACLES.items() if name in declared]
    ours = compile_tool({"name": "t", "inputSchema": schema}).input
    for value in instances:
        assert ours.is_valid(value) == oracle(schema).is_valid(value), value  # pyright: ignore[reportUnknownMemberType] - untyped oracle
