"""`weighbridge events ask`: what auditors ask, as a table, as JSON and as CSV."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import pytest

from gateway.cli.groups import ask
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.asking import Desk, a_desk
from tests.helpers.cases import an_actor
from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace, weighbridge

QUESTIONS = {
    *("complete", "decided", "policy-changes", "readers", "reviews", "rule-changes", "shown"),
    "who-could",
}


def denied(call: str, **more: Any) -> Event:
    body: Any = {
        "tool": "crm.wipe",
        "decision": "deny",
        "status": "denied",
        "rule": "never",
        **more,
    }
    return an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, call=call, body=body)


def approved(by: str) -> Event:
    votes: list[JsonObject] = []
    body: Any = {
        **{"approval": "apr_1", "tool": "crm.wipe", "status": "approved", "cast": "approved"},
        **{"requester": {"user": "sam"}, "choice": "approve", "reason": "due", "votes": votes},
    }
    return an_event(
        kind=EventKind.APPROVAL, stage=Stage.DECIDED, body=body, actor=an_actor(user=by)
    )


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    found = a_workspace(tmp_path)
    with found.store() as store:
        store.events.append([denied("call_1", reason="=evil\n\x1b[2J"), approved("lea")])
    return found


def test_without_a_question_those_that_there_are_are_listed() -> None:
    done = weighbridge("events", "ask")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert {line.split()[0] for line in lines} == QUESTIONS
    assert {*ask.list_commands(click.Context(ask))} == QUESTIONS
    assert all(len(line.split()) > 4 for line in lines)


def test_a_person_sees_one_line_a_row_whatever_it_holds(place: Workspace) -> None:
    headers, first, second = place.run("events", "ask", "decided").stdout.splitlines()
    assert headers.split()[:5] == ["time", "tenant", "user", "tool", "outcome"]
    assert "denied" in first
    assert "=evil\\u{a}\\u{1b}[2J" in first
    assert second.split()[3:6] == ["crm.wipe", "approved", "lea"]


def test_a_program_gets_rows_as_json_and_a_spreadsheet_all_columns(place: Workspace) -> None:
    done = place.run("events", "ask", "decided", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["call"] for row in rows] == ["call_1", "call_1"]
    assert rows[0]["reason"] == "=evil\n\x1b[2J"
    assert rows[1]["approvers"] == ["lea"]
    done = place.run("events", "ask", "decided", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    assert set(table[0]) == set(rows[0])
    assert table[0]["reason"] == "'=evil\\u{a}\\u{1b}[2J"
    assert table[1]["approvers"] == "lea"


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--outcome", "approved"), 1),
        (("--outcome", "approved", "--outcome", "denied"), 2),
        (("--tool", "crm.find"), 0),
        (("--user", "sam"), 2),
        (("--tenant", "globex"), 0),
        (("--tenant", "globex", "--tenant", "acme"), 2),
        (("--since", "2026-11-30T09:00:00", "--until", "2026-12-01"), 2),
        (("--until", "2026-11-30"), 0),
    ],
)
def test_what_was_decided_is_of_whom_and_when_one_asks(
    words: tuple[str, ...], count: int, place: Workspace
) -> None:
    assert len(place.run("events", "ask", "decided", "--json", *words).stdout.splitlines()) == count


def test_every_question_is_in_the_log_with_what_was_asked(place: Workspace) -> None:
    place.run("events", "ask", "decided", "--tenant", "acme", "--outcome", "denied")
    place.run("events", "ask", "reviews", "--since", "2026-01-01")
    rows = place.run("events", "ask", "readers", "--json").stdout.splitlines()
    first, second, own = map(json.loads, rows)
    assert (first["how"], first["tenant"]) == ("ask decided", "acme")
    assert first["asked"] == {"tenant": ["acme"], "outcome": ["denied"], "format": "table"}
    assert (second["how"], second["tenant"]) == ("ask reviews", "")
    assert (own["how"], own["account"]) == ("ask readers", first["account"])


def test_a_sample_says_of_how_many_it_is(place: Workspace) -> None:
    with place.store() as store:
        store.events.append([denied(f"call_{number}") for number in range(50)])
    words = ("events", "ask", "decided", "--sample", "5", "--json")
    done, again = place.run(*words), place.run(*words)
    assert len(done.stdout.splitlines()) == 5
    assert done.stderr == "(5 of 52 rows, drawn by the seed 1)\n"
    assert done.stdout == again.stdout != place.run(*words, "--seed", "2").stdout
    readers = place.run("events", "ask", "readers", "--json").stdout.splitlines()
    assert json.loads(readers[0])["asked"] == {"sample": 5, "seed": 1, "format": "json"}


def test_what_is_no_question_is_no_reading(place: Workspace) -> None:
    for name in ("decided", "reviews", "readers", "policy-changes"):
        done = place.run("events", "ask", name, "--since", "yesterday")
        assert (done.exit_code, "neither a time" in done.stderr) == (2, True)
    assert len(place.run("events", "ask", "readers", "--json").stdout.splitlines()) == 1


def test_who_decides_about_himself_is_a_breach(place: Workspace) -> None:
    found = place.run("events", "ask", "reviews", "--breaches", "--json")
    assert (found.exit_code, found.stdout) == (0, "")
    with place.store() as store:
        store.events.append([approved("SAM")])
    found = place.run("events", "ask", "reviews", "--breaches", "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["separate"] is False
    assert len(place.run("events", "ask", "reviews", "--json").stdout.splitlines()) == 2


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return a_desk(tmp_path)


def told(desk: Desk, approval: str, digest: str) -> None:
    body: Any = {"approval": approval, "presented_digest": digest, "status": "pending"}
    with desk.place.store() as store:
        store.events.append([an_event(kind=EventKind.APPROVAL, stage=Stage.REQUESTED, body=body)])


def test_what_the_approver_saw_is_shown_with_its_proof(desk: Desk) -> None:
    approval = desk.request()
    told(desk, approval.approval_id, approval.presented_digest)
    done = desk.place.run("events", "ask", "shown", "--request", approval.approval_id, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"group": "arguments", "label": "amount", "text": "400", "marks": []} in rows
    assert (rows[-1]["group"], rows[-1]["text"]) == ("proof", approval.presented_digest)


def test_what_the_log_tells_otherwise_is_not_taken_for_what_was_seen(desk: Desk) -> None:
    approval = desk.request()
    words = ("events", "ask", "shown", "--request", approval.approval_id)
    assert "is not what the log says" in desk.place.run(*words).stderr
    told(desk, approval.approval_id, "sha256:other")
    done = desk.place.run(*words)
    assert (done.exit_code, "is not what the log says" in done.stderr) == (1, True)
    done = desk.place.run("events", "ask", "shown", "--request", "apr_0")
    assert (done.exit_code, "there is no request `apr_0`" in done.stderr) == (1, True)


def test_without_a_checkpoint_nobody_can_say_whether_it_is_complete(place: Workspace) -> None:
    done = place.run("events", "ask", "complete")
    assert (done.exit_code, "--checkpoint" in done.stderr) == (2, True)
