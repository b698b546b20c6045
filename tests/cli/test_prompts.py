"""`weighbridge prompts`: the prompts that servers offer, and who finds them."""

from pathlib import Path

import pytest

from tests.helpers.fake_server import EVERYTHING, Script
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

RULE = "rules: [{id: a, decision: allow, match: {prompts: [desk.reply], roles: {any: [support]}}}]"
REPLY = {"name": "reply", "description": "Answers", "arguments": [{"name": "tone"}, {"name": "to"}]}


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    script = Script(prompts=[REPLY, {"name": "weekly report"}], capabilities=EVERYTHING)
    return a_workspace(tmp_path, {"desk": house.stdio(script, tmp_path, "desk")}, policy=RULE)


def test_every_prompt_has_the_names_that_rules_and_agents_use(place: Workspace) -> None:
    code, (reply, weekly) = place.json("prompts", "list")
    assert code == 0
    assert reply == {
        "prompt": "desk.reply",
        "server": "desk",
        "exposed": "desk__reply",
        "description": "Answers",
        "arguments": ["tone", "to"],
        "reason": "",
    }
    assert weekly["prompt"] == "desk.weekly report"
    assert weekly["exposed"].startswith("desk__weekly_report_")
    lines = place.run("prompts", "list").stdout.splitlines()
    assert lines[0].split() == ["prompt", "exposed", "as", "arguments"]
    assert lines[1].split() == ["desk.reply", "desk__reply", "tone,", "to"]
    assert lines[2].endswith("–")


def test_a_caller_is_told_what_it_would_find(place: Workspace) -> None:
    rows = place.run("prompts", "list", "--role", "support").stdout.splitlines()
    assert [row.split()[-1] for row in rows] == ["listed", "yes", "no"]
    _, listed = place.json("prompts", "list", "--tenant", "acme")
    assert [each["listed"] for each in listed] == [False, False]
