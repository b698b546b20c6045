"""Questions about the policy: of a day, of a rule, of every change."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace

OLD = "rules:\n  - {id: a, decision: allow, match: {tools: [crm.*], roles: {any: [support]}}}\n"
NEW = OLD.replace("support", "lead")


async def _changed(place: Workspace) -> None:
    (rules,) = place.loaded().settings.policies.glob("*.yaml")
    async with place.opened() as gateway:
        rules.write_text(NEW)
        await gateway.reload("a file changed")
        rules.write_text("rules: [")
        await gateway.reload("a file changed")


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    found = a_workspace(tmp_path, {}, policy=OLD)
    anyio.run(_changed, found)
    return found


def rows(place: Workspace, *words: str) -> list[Any]:
    done = place.run("events", "ask", *words, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_who_could_call_a_tool_is_told_by_what_was_in_force(place: Workspace) -> None:
    at = rows(place, "policy-changes")[0]["time"]
    now = rows(place, "who-could", "--tool", "crm.find")
    assert [(row["what"], row.get("roles")) for row in now] == [
        *(("no contract", None), ("allow", "lead"), ("otherwise", None)),
    ]
    day = rows(place, "who-could", "--tool", "crm.find", "--on", at[:10])
    assert [row["roles"] for row in day if row["what"] == "allow"] == ["support", "lead"]
    assert rows(place, "who-could", "--tool", "crm.find", "--on", "2026-01-01T09:00:00") == []
    lines = place.run("events", "ask", "who-could", "--tool", "crm.find").stdout.splitlines()
    assert lines[0].split()[:5] == ["what", "rule", "tenants", "users", "roles"]


def test_every_change_of_a_rule_is_told_with_its_difference(place: Workspace) -> None:
    first, second = rows(place, "rule-changes", "--rule", "a")
    assert (first["change"], second["change"]) == ("there at first", "changed")
    assert "+  - {id: a, decision: allow" in second["diff"]
    shown = place.run("events", "ask", "rule-changes", "--rule", "a").stdout.splitlines()
    assert shown[0].split() == ["time", "change", "place", "revision", "by", "tests"]
    assert any(line.startswith("-  - {id: a") and "support" in line for line in shown)
    assert second["revision"][7:19] in shown[2]


def test_a_rule_that_never_was_is_told_as_such(place: Workspace) -> None:
    done = place.run("events", "ask", "rule-changes", "--rule", "b")
    assert done.exit_code == 1
    assert done.stderr == "weighbridge: no revision in the log had a rule `b`\n"


def test_every_change_of_the_policy_is_told_and_so_is_what_was_refused(place: Workspace) -> None:
    first, second, refused = rows(place, "policy-changes", "--diff")
    assert (first["files"], second["files"]) == ([], ["policy.yaml"])
    assert (second["from"], second["by"]) == (first["revision"], "a file changed")
    assert "lead" in second["diff"]
    assert (refused["what"], "policy.yaml:2" in refused["errors"][0]) == ("refused", True)
    assert rows(place, "policy-changes", "--until", "2026-01-01") == []
    table = place.run("events", "ask", "policy-changes").stdout
    assert "+++" not in table
    assert "+++ b/policy.yaml" in place.run("events", "ask", "policy-changes", "--diff").stdout


async def _filled(place: Workspace) -> None:
    (rules,) = place.loaded().settings.policies.glob("*.yaml")
    rules.write_text(NEW)
    async with place.opened() as gateway:
        gateway.store.events.append([an_event() for _ in range(600)])


def _archived(place: Workspace) -> None:
    anyio.run(_filled, place)
    done = place.run(
        *("events", "archive", "--before", "0s", "--out", str(place.folder / "old.archive"))
    )
    assert "events 1 to 512 left the log" in done.stdout, done.stderr


def left(place: Workspace) -> str:
    """Return what is said of the archive."""
    file = place.folder / "old.archive"
    return f"(events 1 to 512 left the log for archives, and are not here: `{file}`)\n"


def test_who_could_is_told_though_what_was_put_in_force_is_in_an_archive(place: Workspace) -> None:
    now = rows(place, "who-could", "--tool", "crm.find")
    _archived(place)
    assert rows(place, "policy-changes") == []
    left = rows(place, "who-could", "--tool", "crm.find")
    assert [(row["what"], row.get("roles")) for row in left] == [
        (row["what"], row.get("roles")) for row in now
    ]
    assert {row["revision"] for row in left} == {row["revision"] for row in now}


def test_who_could_is_not_known_of_a_time_that_only_an_archive_tells(place: Workspace) -> None:
    _archived(place)
    done = place.run(
        *("events", "ask", "who-could", "--tool", "crm.find", "--on", "2020-01-01", "--json")
    )
    (row,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.exit_code, row["what"]) == (1, "not known")
    assert row["also"] == "events 1 to 512 are in archives, which tell it"
    said = "weighbridge: who could is not known for all of that time\n"
    assert done.stderr == left(place) + said


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "decided"),
        ("ask", "reviews"),
        ("ask", "readers"),
        ("ask", "policy-changes"),
        ("query",),
    ],
)
def test_what_left_for_archives_is_told_where_the_time_is_about_it(
    place: Workspace, words: tuple[str, ...]
) -> None:
    _archived(place)
    for period in ((), ("--since", "2020-01-01")):
        for form in ((), ("--json",)):
            assert place.run("events", *words, *period, *form).stderr.startswith(left(place))
    assert left(place) not in place.run("events", *words, "--since", "2100-01-01").stderr
    assert place.run("events", "ask", "rule-changes", "--rule", "a").stderr.startswith(left(place))


@pytest.mark.parametrize(
    "words",
    [("policy", "shadow"), ("policy", "suggest"), ("policy", "history"), ("replay",)],
)
def test_whoever_judges_by_the_past_is_told_which_part_of_it_left(
    place: Workspace, words: tuple[str, ...]
) -> None:
    _archived(place)
    assert left(place) in place.run(*words, "--since", "2020-01-01").stderr
    assert left(place) not in place.run(*words, "--since", "0s").stderr


def test_a_tool_that_nothing_knows_is_told(place: Workspace) -> None:
    done = place.run("events", "ask", "who-could", "--tool", "crm.find")
    assert "no event in the store names the tool `crm.find`" in done.stderr
