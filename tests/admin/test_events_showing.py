"""What pages say of events."""

from typing import Any

import pytest

from gateway.admin.auditors import Sight
from gateway.admin.events_showing import days, line_of, sheet
from gateway.admin.log_reader import Inclusion
from gateway.events.envelope import to_bytes
from gateway.store.events import StoredEvent
from gateway.types.events import EventKind, Stage
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event

OWN = Sight(own="acme", tenants=frozenset({"acme"}))
AUDITOR = Sight(own="ops", is_all=True, is_auditor=True)


def kept(seq: int = 1, **changes: Any) -> StoredEvent:
    return StoredEvent(seq=seq, body=to_bytes(an_event(**changes), ORIGIN))


@pytest.mark.parametrize(
    ("kind", "stage", "body", "title", "is_verb", "word"),
    [
        ("authorization", "decided", {"decision": "deny"}, "wanted", True, "denied"),
        ("tool_call", "started", {"tool": "a.b"}, "calls", True, "started"),
        ("tool_call", "finished", {"status": "ok"}, "called", True, "done"),
        ("tool_call", "failed", {"status": "denied"}, "was refused", True, "denied"),
        ("tool_call", "failed", {"status": "timeout"}, "called", True, "timeout"),
        ("retrieval", "recorded", {"tool": "a.b"}, "read", True, ""),
        ("run", "paused", {}, "the run was paused", False, ""),
        ("admin", "recorded", {"action": "log_read"}, "read the log", True, ""),
        ("admin", "recorded", {"action": "something_new"}, "something new", False, ""),
    ],
)
def test_a_line_reads_as_a_sentence(
    kind: str, stage: str, body: dict[str, Any], title: str, is_verb: bool, word: str
) -> None:
    shown = line_of(kept(kind=EventKind(kind), stage=Stage(stage), body=body))
    assert (shown.title, shown.is_verb) == (title, is_verb)
    assert shown.verdict.word == word


def test_lines_stand_under_their_days_and_long_reasons_are_cut() -> None:
    events = [kept(2, body={"status": "denied", "reason": "x" * 400}), kept(1)]
    [(day, lines)] = days(events)
    assert (day, [each.seq for each in lines]) == ("2026-11-30", [2, 1])
    assert lines[0].detail == "x" * 280 + "…"


def test_a_link_was_made_by_the_account_of_the_machine_for_a_person() -> None:
    body = {"action": "login_link_made", "user": "ana", "account": "root", "until": "x"}
    shown = line_of(kept(kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body, actor=None))
    assert (shown.who, shown.title, shown.detail) == ("root", "made a login link", "for ana")


def test_what_was_redacted_is_said_in_words() -> None:
    body = {"query": '{"$redacted":"personal","hmac":"h","len":2}', "count": 3}
    shown = line_of(kept(kind=EventKind.RETRIEVAL, stage=Stage.RECORDED, body=body))
    assert shown.detail == "[redacted: personal]; 3 documents"


def test_pages_of_others_are_not_linked_and_policies_for_auditors_alone() -> None:
    event = kept(run="run_1", body={"approval": "apr_1", "revision": "sha256:" + "ab" * 32})
    own = {each.name: each.to for each in sheet(event, OWN, Inclusion(), 0).facts}
    assert (own["Run"], own["Request"], own["Policy"]) == ("/runs/run_1", "/approvals/apr_1", "")
    other = {each.name: each.to for each in sheet(event, AUDITOR, Inclusion(), 0).facts}
    assert (other["Run"], other["Request"]) == ("", "")
    assert other["Policy"] == f"/policies/{'ab' * 32}"


def test_what_was_taken_away_is_named() -> None:
    event = kept(erased=("/arguments/a",), masked=("/arguments/b",), body={"arguments": {"c": 1}})
    shown = sheet(event, OWN, Inclusion(), 0)
    assert shown.kept == ["/arguments/a erased", "/arguments/b masked"]
    assert shown.arguments == [("c", "1")]
    assert shown.bytes == len(event.body)
