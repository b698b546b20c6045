"""`weighbridge events hold`."""

from pathlib import Path

import pytest

from gateway.cli import output
from tests.helpers.workspaces import Workspace, a_workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    place = a_workspace(tmp_path)
    with place.store():
        pass
    return place


def hold(place: Workspace, *words: str) -> tuple[int, str]:
    done = place.run("events", "hold", *words)
    return done.exit_code, (done.stdout or done.stderr).strip()


def test_a_hold_is_set_shown_and_lifted(place: Workspace) -> None:
    assert hold(place, "add", "--tenant", "acme", "--reason", "case 4711", "--by", "ada") == (
        *(0, "events of tenant `acme` stay"),
    )
    assert hold(place, "add", "--tenant", "acme", "--reason", "again")[1].endswith("stay already")
    assert hold(place, "add", "--run", "run_1", "--reason", "x")[1] == "events of run `run_1` stay"
    _, shown = place.json("events", "hold", "list")
    assert [(each["tenant"], each["run"], each["reason"]) for each in shown] == [
        *(("acme", None, "case 4711"), (None, "run_1", "x")),
    ]
    assert "case 4711" in hold(place, "list")[1]
    assert hold(place, "remove", "--tenant", "acme") == (0, "they may be archived again")
    assert hold(place, "remove", "--tenant", "acme")[0] == output.EXIT_USAGE
    events = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    assert ["log_hold_lifted" in line for line in events] == [False, False, True]
    assert '"by":"ada"' in events[0]


def test_programs_are_told_what_was_set_and_lifted(place: Workspace) -> None:
    whose = {"tenant": "acme", "run": None}
    words = ("--tenant", "acme", "--json")
    add = ("events", "hold", "add", "--reason", "x", *words)
    assert place.json(*add) == (0, {**whose, "is_new": True})
    assert place.json(*add) == (0, {**whose, "is_new": False})
    assert place.json("events", "hold", "remove", *words) == (0, {**whose, "is_lifted": True})


@pytest.mark.parametrize("words", [(), ("--tenant", "a", "--run", "b")])
def test_whose_events_has_to_be_said(place: Workspace, words: tuple[str, ...]) -> None:
    assert "say whose events" in hold(place, "remove", *words)[1]
    assert "say whose events" in hold(place, "add", *words, "--reason", "x")[1]
