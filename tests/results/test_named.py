"""What a reviewed schema names of a result."""

import pytest

from gateway.results.named import Named
from gateway.types.json import Json, JsonObject

ROW: JsonObject = {"id": 1, "vendor": "x"}
PAGE: JsonObject = {
    "$defs": {"page": {"properties": {"rows": {"type": "array"}, "next": {}}}},
    "properties": {
        "pages": {"type": "array", "items": {"$ref": "#/$defs/page"}},
        "by_name": {"additionalProperties": {"$ref": "#/$defs/page"}},
        "total": {},
    },
}


@pytest.mark.parametrize(
    ("value", "way", "left"),
    [
        ({"rows": [ROW], "more": 1}, ("rows",), {"rows": [ROW]}),
        ({"total": {"any": 1}, "rest": 1}, ("rows",), {"total": {"any": 1}}),
        (
            {"pages": [{"rows": [ROW], "next": 2, "other": [ROW]}], "total": 1, "x": 1},
            ("pages", "*", "rows"),
            {"pages": [{"rows": [ROW], "next": 2}], "total": 1},
        ),
        (
            {"by_name": {"a": {"rows": [ROW], "other": 1}}},
            ("by_name", "*", "rows"),
            {"by_name": {"a": {"rows": [ROW]}}},
        ),
        ({"pages": [{"rows": 1}, {"rows": 2}]}, ("pages", "1", "rows"), {"pages": [{"rows": 2}]}),
        ({"pages": 7}, ("pages", "*", "rows"), {"pages": 7}),
        ([ROW], (), [ROW]),
    ],
)
def test_beside_rows_is_only_what_the_schema_names(
    value: Json, way: tuple[str, ...], left: Json
) -> None:
    assert Named(PAGE).left(value, [way]) == left


def test_a_schema_that_leads_nowhere_or_in_circles_names_nothing() -> None:
    circles: tuple[JsonObject, ...] = (
        {"$ref": "#/gone"},
        {"$ref": "https://x"},
        {"$ref": "#"},
        {"allOf": [True, 1]},
    )
    for schema in circles:
        assert Named(schema).left({"rows": [1], "more": 1}, [("rows",)]) == {"rows": [1]}
    places: JsonObject = {"prefixItems": [{"properties": {"a": {}}}]}
    assert Named(places).left([{"a": 1, "b": 2, "r": 3}], [("0", "r")]) == [{"a": 1, "r": 3}]
