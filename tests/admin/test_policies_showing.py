"""What pages say of policies."""

from typing import Any

from gateway.admin.policies_showing import changes, difference
from gateway.events.envelope import to_bytes
from gateway.store.events import StoredEvent
from gateway.types.events import EventKind
from gateway.types.json import JsonObject
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event

NEW, OLD = "sha256:" + "ab" * 32, "sha256:" + "cd" * 32


def told(seq: int, action: str = "policy_activated", **body: Any) -> StoredEvent:
    event = an_event(kind=EventKind.ADMIN, tenant="", body={"action": action, **body})
    return StoredEvent(seq=seq, body=to_bytes(event, ORIGIN))


def policy(**texts: str) -> JsonObject:
    return {"texts": {name.replace("_", "."): text for name, text in texts.items()}}


def test_the_newest_of_what_is_in_force_is_marked_and_refusals_say_why() -> None:
    wider = {"wider": 2, "narrower": 1, "other": 0}
    found = changes(
        [
            told(4, "policy_refused", by="reload", errors=["rules.yaml:1:1: bad\u202e"]),
            told(3, revision=NEW, by="reload", **{"from": OLD}, tests=53, change=wider),
            told(2, revision=OLD, by="start", warnings=1),
            told(1, revision=NEW, by="start"),
        ],
        NEW,
        0,
    )
    assert [each.is_in_force for each in found] == [False, True, False, False]
    assert found[0].id == ""
    assert "bad" in found[0].errors[0]
    assert "\u202e" not in found[0].errors[0]
    assert (found[1].short, found[1].before, found[1].tests) == ("ab" * 6, "cd" * 32, 53)
    assert (found[1].wider, found[1].narrower, found[1].is_told) == (2, 1, True)
    assert (found[2].warnings, found[2].by) == (1, "with the start of a gateway")


def test_a_difference_names_each_file_once_and_keeps_indents() -> None:
    old = policy(a_yaml="rules:\n  - x: 1\n  - y: 2\n", same_yaml="a: 1\n")
    new = policy(a_yaml="rules:\n  - x: 2\n  - y: 2\n", same_yaml="a: 1\n", new_yaml="b: 1\n")
    lines = difference(old, new)
    assert [each.text for each in lines if each.kind == "file"] == ["a.yaml", "new.yaml"]
    shown = [(each.kind, each.text) for each in lines if each.kind in ("added", "removed")]
    assert shown == [("removed", "  - x: 1"), ("added", "  - x: 2"), ("added", "b: 1")]
    assert difference(old, old) == []


def test_a_change_that_hides_is_written_out() -> None:
    [_, _, line] = difference(policy(a_yaml=""), policy(a_yaml="  x: a\u202eb"))
    assert (line.kind, "\u202e" in line.text, line.text[:4]) == ("added", False, "  x:")


def test_a_long_difference_is_cut_and_says_so() -> None:
    lines = difference(policy(a_yaml=""), policy(a_yaml="x\n" * 9_000))
    assert len(lines) == 4_001
    assert "more than 4,000" in lines[-1].text
