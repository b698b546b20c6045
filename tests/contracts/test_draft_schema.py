"""Arguments as a draft looks at them."""

from gateway.contracts.draft_schema import arguments, mapping, plain, shown
from gateway.types.json import Json, JsonObject


def test_arguments_of_branches_and_references_count_as_well() -> None:
    schema: JsonObject = {
        "properties": {"a": {"type": "string"}},
        "allOf": [{"properties": {"a": {}, "b": {}}}, {"$ref": "#/$defs/x~1y"}],
        "$defs": {"x/y": {"properties": {"c": {}}}},
    }
    assert arguments({"inputSchema": schema}) == {"a": {"type": "string"}, "b": {}, "c": {}}


def test_schemas_that_refer_to_themselves_or_elsewhere_come_to_an_end() -> None:
    again: list[Json] = [{"$ref": "#"}] * 500
    loop: JsonObject = {"anyOf": again, "properties": {"a": {}}}
    assert list(arguments({"inputSchema": loop})) == ["a"]
    assert arguments({"inputSchema": {"$ref": "https://example.com/x"}}) == {}
    assert arguments({"inputSchema": [1]}) == {}


def test_a_strangers_word_stays_on_its_line() -> None:
    assert shown("a`b\n\u2028c") == "a b  c"
    assert len(shown("x" * 500)) == 60


def test_one_spelling_for_all() -> None:
    assert plain("dryRun") == plain("dry-run") == "dry_run"
    assert mapping([]) == {}
