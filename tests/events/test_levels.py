import pytest

from gateway.events import levels
from gateway.events.redact import Redacted
from gateway.replay import unknown
from gateway.replay.types import Gone
from gateway.types.audit import Level
from gateway.types.guarantees import WrittenObject
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity

ARGUMENTS: JsonObject = {
    "name": "ana",
    "amount": 12.5,
    "count": 3,
    "on": True,
    "none": None,
    "lines": [{"sku": "x-1"}, {}],
    "iban": {"$redacted": "personal", "hmac": "hmac-sha256:" + "0" * 32, "len": 22},
}


def kept(value: Json, level: Level) -> Redacted:
    return levels.kept(Redacted(value=value, erased=("/before",)), level)


def test_a_request_is_kept_as_it_was_redacted() -> None:
    for level in (Level.REQUEST, Level.FULL):
        assert kept(ARGUMENTS, level).value is ARGUMENTS


def test_metadata_keeps_names_types_lengths_and_what_stood_for_values() -> None:
    found = kept(ARGUMENTS, Level.METADATA)
    assert found.value == {
        "name": {"$redacted": "level", "type": "string", "len": 3},
        "amount": {"$redacted": "level", "type": "number"},
        "count": {"$redacted": "level", "type": "integer"},
        "on": {"$redacted": "level", "type": "boolean"},
        "none": {"$redacted": "level", "type": "null"},
        "lines": [{"sku": {"$redacted": "level", "type": "string", "len": 3}}, {}],
        "iban": ARGUMENTS["iban"],
    }
    assert found.erased[:3] == ("/before", "/name", "/amount")
    assert "/lines/0/sku" in found.erased
    assert "/iban" not in found.erased
    gone = unknown.places(found.value)
    assert gone == {**dict.fromkeys(found.erased[1:], Gone.LEFT_OUT), "/iban": Gone.REDACTED}


def test_of_many_values_the_whole_counts_as_gone() -> None:
    found = kept({str(number): "x" for number in range(100)}, Level.METADATA)
    assert found.erased == ("/before", "")


def test_at_metadata_no_argument_turns_up_elsewhere() -> None:
    known = {"secret-1": Sensitivity.SECRET}
    assert levels.hidden(ARGUMENTS, known, Level.REQUEST) is known
    hidden = levels.hidden({"note": "call me", "n": 77_123}, known, Level.METADATA)
    assert set(hidden or {}) == {"secret-1", "call me", "77123"}


def test_too_many_arguments_are_not_looked_for_one_by_one() -> None:
    many: JsonObject = {"lines": [{"n": number} for number in range(300)]}
    assert levels.hidden(many, {}, Level.METADATA) is None
    assert levels.hidden(many, {}, Level.FULL) == {}
    few: JsonObject = {"lines": [{"n": 1_000 + number} for number in range(200)]}
    assert len(levels.hidden(few, {}, Level.METADATA) or {}) == 200


def test_changes_are_counted_and_not_told() -> None:
    body: JsonObject = {"op": "op_1", "changes": [{"pointer": "/a"}], "changes_left_off": 2}
    bare: JsonObject = {"op": "op_1", "changes": [], "changes_left_off": 3}
    assert levels.without_results(body, None) == bare
    assert levels.without_results({"changes": []}, None) == {"changes": []}


@pytest.mark.parametrize(
    ("template", "id"), [("$result.id", ""), ("of $old.name", ""), ("$args.id", "i-1")]
)
def test_the_id_of_an_object_is_kept_unless_a_server_gave_it(template: str, id: str) -> None:
    body: JsonObject = {"changes": [], "object": {"type": "t", "id": "i-1"}}
    found = levels.without_results(body, WrittenObject(type="t", id=template))
    assert found["object"] == {"type": "t", "id": id}
