"""Questions about the policy: of a day, of a rule, of every change."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

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
