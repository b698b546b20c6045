"""Words for schemas and values."""

from decimal import Decimal

import pytest

from gateway.contracts.wording import LEAVES, expected, kind
from gateway.types.json import Json, JsonObject


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "integer"), (1.0, "number"), (Decimal(1), "number"),
     ("", "string"), ([], "array"), ({}, "object")],
)  # fmt: skip
def test_a_value_is_called_by_its_json_type(value: Json, name: str) -> None:
    assert kind(value) == name


@pytest.mark.parametrize(
    ("schema", "keyword", "words"),
    [
        ({"type": ["string", "null"]}, "type", "string or null"),
        ({"enum": ["a", 1, None]}, "enum", 'one of "a", 1, null'),
        ({"enum": list(range(11))}, "enum", "one of 11 values"),
        ({"enum": ["x" * 41]}, "enum", "one of 1 values"),
        ({"minimum": 0, "exclusiveMinimum": True}, "exclusiveMinimum", "more than 0"),
        ({"exclusiveMaximum": 5}, "exclusiveMaximum", "less than 5"),
        ({"maxLength": 64}, "maxLength", "at most 64 characters"),
        ({"const": "x"}, "const", 'the constant "x"'),
    ],
)
def test_a_keyword_is_told_in_words(schema: JsonObject, keyword: str, words: str) -> None:
    assert expected(schema, keyword) == words


def test_every_keyword_has_words() -> None:
    for keyword in LEAVES:
        assert expected({keyword: 3}, keyword)
