"""`weighbridge resources`: what servers offer to be read, and who finds it."""

from pathlib import Path

import pytest

from tests.helpers.fake_server import EVERYTHING, Script
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

RULE = """\
rules:
  - id: handbook
    decision: allow
    match: {resources: ["file:///handbook/*"], servers: [files], roles: {any: [support]}}
"""
TRAVEL = {"uri": "file:///handbook/travel.md", "name": "travel", "mimeType": "text/markdown"}
SHARED = {"uri": "file:///shared", "name": "shared"}
PAGE = {"uriTemplate": "file:///handbook/{page}", "name": "page"}


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    files = Script(resources=[TRAVEL, SHARED], templates=[PAGE], capabilities=EVERYTHING)
    notes = Script(resources=[SHARED], capabilities=EVERYTHING)
    servers = {
        "files": house.stdio(files, tmp_path, "files"),
        "notes": house.stdio(notes, tmp_path, "notes"),
    }
    return a_workspace(tmp_path, servers, policy=RULE)


def test_every_resource_has_the_names_that_rules_and_agents_use(place: Workspace) -> None:
    code, found = place.json("resources", "list")
    assert code == 0
    assert found[0] == {
        "resource": "file:///handbook/travel.md",
        "kind": "resource",
        "server": "files",
        "exposed": "file:///handbook/travel.md",
        "name": "travel",
        "mime_type": "text/markdown",
        "reason": "",
    }
    shared = [each for each in found if each["resource"] == "file:///shared"]
    assert [(each["server"], each["exposed"]) for each in shared] == [
        ("files", "weighbridge://files/file%3A%2F%2F%2Fshared"),
        ("notes", "weighbridge://notes/file%3A%2F%2F%2Fshared"),
    ]
    assert [each["resource"] for each in found if each["kind"] == "template"] == [
        "file:///handbook/{page}"
    ]
    lines = place.run("resources", "list").stdout.splitlines()
    assert lines[0].split() == ["resource", "kind", "server", "exposed", "as"]
    assert lines[1].split() == [TRAVEL["uri"], "resource", "files", TRAVEL["uri"]]


def test_a_caller_is_told_from_nobody_by_what_it_would_find(place: Workspace) -> None:
    def found(*words: str) -> dict[str, bool]:
        _, listed = place.json("resources", "list", *words)
        return {f"{each['server']} {each['resource']}": each["listed"] for each in listed}

    assert found("--role", "support") == {
        "files file:///handbook/travel.md": True,
        "files file:///shared": False,
        "notes file:///shared": False,
        "files file:///handbook/{page}": True,
    }
    assert not any(found("--user", "eve").values())
    rows = place.run("resources", "list", "--role", "support").stdout.splitlines()
    assert [row.split()[-1] for row in rows] == ["listed", "yes", "no", "no", "yes"]


def test_a_policy_that_does_not_compile_lists_for_nobody(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policy="rules: [{id: a, decision: perhaps}]")
    assert place.json("resources", "list") == (0, [])
    assert place.run("resources", "list", "--role", "x").exit_code == 3
