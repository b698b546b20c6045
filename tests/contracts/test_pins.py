"""Pins."""

import pytest

from gateway import jsontext
from gateway.contracts.pins import pin, pinned
from gateway.types.json import Json, JsonObject

DEFINITION: JsonObject = {
    "name": "t",
    "title": "T",
    "description": "d",
    "inputSchema": {"type": "object", "properties": {"n": {"maximum": 1}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.org/i.png"}],
    "_meta": {"k": 1},
}


@pytest.mark.parametrize(
    ("key", "value"),
    [("name", "u"), ("title", None), ("description", "d "), ("inputSchema", {"type": "object"}),
     ("outputSchema", None), ("annotations", {"readOnlyHint": False})],
)  # fmt: skip
def test_each_reviewed_field_changes_the_pin(key: str, value: Json) -> None:
    """case: APR-05"""
    assert pin(DEFINITION | {key: value}) != pin(DEFINITION)


def test_what_is_not_reviewed_and_the_order_of_keys_change_nothing() -> None:
    """case: APR-09"""
    assert pin(DEFINITION | {"icons": [], "_meta": {}, "execution": {}}) == pin(DEFINITION)
    assert pin(dict(reversed(DEFINITION.items()))) == pin(DEFINITION)
    assert pin(DEFINITION | {"title": None}) == pin(
        {key: value for key, value in DEFINITION.items() if key != "title"}
    )


def test_a_definition_in_another_spelling_is_the_same_and_in_another_order_of_a_list_is_not() -> (
    None
):
    """case: APR-09"""
    listed = b'{"name":"t","inputSchema":{"required":["a","b"],"properties":{"n":{"maximum":1}}}}'
    spelled = b"""{ "inputSchema": {"properties": {"n": {"maximum": 1.0}},
      "required": ["a", "b"]}, "name": "\\u0074" }"""
    reordered = listed.replace(b'["a","b"]', b'["b","a"]')
    known, same, other = (jsontext.parse_result(each) for each in (listed, spelled, reordered))
    assert isinstance(known, dict)
    assert isinstance(same, dict)
    assert isinstance(other, dict)
    assert pin(known) == pin(same)
    assert pin(known) != pin(other)


def test_the_pinned_part_holds_exactly_what_people_review() -> None:
    assert set(DEFINITION) - set(pinned(DEFINITION)) == {"icons", "_meta"}


def test_a_pin_never_depends_on_the_machine() -> None:
    assert pin({"name": "r"}) == (
        "sha256:5d5ec6a6665cc83519349a0c541784ec058b52ed0082256434a4c0df28a55acb"
    )
