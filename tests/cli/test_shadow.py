"""`weighbridge policy shadow` as a person types it."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.types.events import EventKind, Stage
from gateway.types.json import Json
from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace

RULES = """\
rules:
  - {id: all, decision: allow, match: {tools: ['*'], roles: {any: [r]}}}
  - {id: silent, decision: deny, mode: shadow, match: {tools: [a.b]}}
"""


def decided(watched: str = "wide", effect: str = "deny", **body: Any) -> Any:
    shadow: list[Json] = [{"rule": watched, "effect": effect, "code": "c"}] if watched else []
    fields: dict[str, Json] = {"decision": "allow", "rule": "all", "tool": "a.b", "shadow": shadow}
    return an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, body=fields | body)


async def _written(place: Workspace) -> None:
    with place.store() as store:
        store.events.append(
            [
                decided(),
                decided(decision="deny", rule=""),
                decided(""),
                decided("rare", "allow"),
            ]
        )
        await store.events.kept()


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    found = a_workspace(tmp_path, {}, policy=RULES)
    anyio.run(_written, found)
    return found


def test_what_a_rule_would_have_done_is_counted_from_the_log(place: Workspace) -> None:
    code, said = place.json("policy", "shadow")
    assert code == 0
    assert [
        (each["rule"], each["would"], each["calls"], each["changed"]) for each in said["rules"]
    ] == [
        ("wide", "deny", 2, 1),
        ("rare", "allow", 1, 0),
    ]
    assert said["never"] == ["silent"]
    shown = place.run("policy", "shadow").stdout
    assert "`silent` matched no call" in shown
    assert shown.splitlines()[1].split()[:4] == ["wide", "deny", "2", "1"]


def test_one_rule_or_a_later_time_can_be_asked_for(place: Workspace) -> None:
    _, said = place.json("policy", "shadow", "--rule", "rare")
    assert [each["rule"] for each in said["rules"]] == ["rare"]
    assert said["never"] == []
    _, said = place.json("policy", "shadow", "--since", "2999-01-01")
    assert said["rules"] == []


def test_where_nothing_is_watched_that_is_said(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, {}, policy="rules: []\n")
    with place.store():
        pass
    assert place.run("policy", "shadow").stdout == "no rule is in shadow mode, and none was\n"
