import json
from typing import Any

import pytest

from gateway.contracts.schemas import Schema, compile_tool
from gateway.replay import validity
from gateway.replay.types import Gone

GONE = {"/note": Gone.REDACTED}
SENT: dict[str, Any] = {"note": {"$redacted": "secret"}, "limit": 5}


def a_schema(note: Any = None, limit: Any = None, **more: Any) -> Schema:
    properties = {
        "note": {"type": "string"} if note is None else note,
        "limit": {"type": "integer"} if limit is None else limit,
    }
    whole: dict[str, Any] = {"type": "object", "properties": properties, **more}
    whole["additionalProperties"] = False
    return compile_tool({"inputSchema": whole}).input


OLD = a_schema()


@pytest.mark.parametrize("was", [True, False])
def test_an_unchanged_schema_says_what_it_said(was: bool) -> None:
    assert validity.valid(SENT, GONE, OLD, a_schema(), was=was) is was


def test_what_is_known_is_judged_anew_beside_an_unchanged_part() -> None:
    tighter = a_schema(limit={"type": "integer", "maximum": 4})
    looser = a_schema(limit={})
    assert validity.valid(SENT, GONE, tighter, OLD, was=True) is False
    assert validity.valid(SENT, GONE, looser, OLD, was=True) is True


def test_whether_an_unknown_value_suits_another_schema_is_not_known() -> None:
    assert validity.valid(SENT, GONE, a_schema(note={"maxLength": 3}), OLD, was=True) is None


def test_a_known_value_that_matches_not_decides_whatever_the_unknown_one_is() -> None:
    other = a_schema(note={"maxLength": 3}, limit={"type": "string"})
    assert validity.valid(SENT, GONE, other, OLD, was=True) is False


def test_an_unknown_value_that_did_not_match_matches_the_same_part_no_more_than_then() -> None:
    looser = a_schema(limit={})
    assert validity.valid(SENT, GONE, looser, OLD, was=False) is False


def test_where_known_values_did_not_match_nothing_is_known_of_the_others() -> None:
    old = a_schema(limit={"type": "string"})
    assert validity.valid(SENT, GONE, a_schema(), old, was=False) is None


@pytest.mark.parametrize(
    "more",
    [
        '{"anyOf": [{}]}',
        '{"patternProperties": {"n": {}}}',
        '{"not": {"required": ["x"]}}',
    ],
)
def test_a_schema_that_looks_at_members_by_other_ways_is_not_taken_apart(more: str) -> None:
    assert validity.valid(SENT, GONE, a_schema(**json.loads(more)), OLD, was=True) is None


def test_a_part_that_refers_to_another_is_no_part_of_its_own() -> None:
    note = {"$ref": "#/properties/limit"}
    old, new = a_schema(note=note), a_schema(note=note, limit={"type": "string"})
    assert validity.valid({"note": {"$redacted": "secret"}}, GONE, new, old, was=True) is None


def test_without_any_unknown_value_the_schema_is_asked() -> None:
    assert validity.valid({"limit": 5}, {}, OLD, None, was=None) is True
    assert validity.valid({"limit": "x"}, {}, OLD, None, was=None) is False


def test_arguments_that_were_cut_are_judged_by_an_unchanged_schema_alone() -> None:
    cut: dict[str, Any] = {"$cut": {}}
    assert validity.valid(cut, {"": Gone.CUT}, OLD, a_schema(), was=True) is True
    assert validity.valid(cut, {"": Gone.CUT}, a_schema(limit={}), OLD, was=True) is None


def test_without_the_schema_of_then_only_a_failure_is_certain() -> None:
    assert validity.valid(SENT, GONE, OLD, None, was=None) is None
    assert validity.valid({**SENT, "limit": "x"}, GONE, OLD, None, was=None) is False
