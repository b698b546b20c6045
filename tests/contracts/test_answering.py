"""The output schema as callers see it, where something may be taken out of results."""

from typing import Any

from gateway.contracts.answering import loosened
from gateway.contracts.schemas import compile_tool

ROW = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "total": {"type": "number", "title": "Total"},
        "required": {"type": "boolean"},
    },
    "required": ["id", "total"],
    "additionalProperties": False,
}
SCHEMA: Any = {
    "type": "object",
    "$defs": {"Row": ROW},
    "properties": {"rows": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Row"}}},
    "required": ["rows"],
}


def accepts(schema: Any, value: Any) -> bool:
    tool: Any = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    output = compile_tool(tool).output
    assert output is not None
    return output.is_valid(value)


def test_whatever_is_taken_out_of_a_result_the_rest_meets_its_schema() -> None:
    loose = loosened(SCHEMA)
    parts: list[Any] = [{}, {"rows": []}, {"rows": [{"id": "a"}]}, {"rows": [{"required": True}]}]
    for part in parts:
        assert accepts(loose, part)
        assert not accepts(SCHEMA, part)
    for wrong in ({"rows": 1}, {"rows": [{"id": 1}]}, {"rows": [{"other": 1}]}):
        assert not accepts(loose, wrong)


def test_a_value_that_is_rewritten_may_have_any_form() -> None:
    loose: Any = loosened(SCHEMA, {"total"})
    assert accepts(loose, {"rows": [{"id": "a", "total": "[redacted]"}]})
    assert loose["$defs"]["Row"]["properties"]["total"] == {"title": "Total"}


def test_where_nobody_can_tell_what_is_rewritten_there_is_no_schema() -> None:
    assert loosened(SCHEMA, {"iban"}) is None
    assert loosened(SCHEMA, {"*"}) is None


def test_one_of_several_forms_need_not_be_told_apart_any_more() -> None:
    forms: Any = [{"properties": {"a": {}}, "required": ["a"]}, {"required": ["b"]}]
    assert accepts(loosened({"type": "object", "oneOf": forms}), {})
    both: Any = {"anyOf": [{"type": "object"}], "oneOf": forms}
    assert accepts(loosened(both), {})
    tuples: Any = {"type": "array", "prefixItems": [{"type": "string"}], "items": False}
    assert accepts(loosened(tuples), [1, 2])


def test_what_asks_for_something_only_then_is_left_out_too() -> None:
    schema: Any = {"type": "object", "if": {"required": ["a"]}, "else": {"required": ["b"]}}
    assert accepts(loosened(schema), {})
    assert loosened({"type": "object", "not": {"maxProperties": 0}}) == {"type": "object"}
