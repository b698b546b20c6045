"""What the commands about tools, resources and prompts have in common."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.cli import offers
from gateway.types.tools import Quarantine
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

TOOL = a_tool()
TOLD = a_tool(a_definition("find", description="finds", count=3))
NOBODY = offers.Asker(user="", tenant="", roles=(), scopes=())


def test_without_a_caller_nothing_is_said_of_lists(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    assert offers.listed_for(NOBODY, place.loaded(), place.config) is None
    assert (offers.header(None), offers.column(None, TOOL), offers.member(None, TOOL)) == (
        (),
        (),
        {},
    )


def test_what_is_wrong_with_a_server_is_said_once_and_moves_no_cursor(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    forged = "import sys; sys.exit('\\x1b[2Jgone')"
    script = Script(tools=[tool("find"), {"name": 7}])
    servers = {
        "broken": {"command": sys.executable, "args": ["-c", forged]},
        "crm": house.stdio(script, tmp_path, "crm"),
    }
    place = a_workspace(tmp_path, servers)
    found = offers.inspected(place.loaded(), place.config)
    assert [each.name for each in found.tools] == ["find"]
    told = capfd.readouterr().err
    assert "\x1b" not in told
    broken, listed = sorted(told.splitlines(), reverse=True, key=lambda line: "`broken`" in line)
    assert broken.startswith("weighbridge: server `broken`: ")
    assert r"\u{1b}[2Jgone" in broken
    assert listed.startswith("weighbridge: server crm: ")


@pytest.mark.parametrize("asker", [replace(NOBODY, roles=("r",)), replace(NOBODY, user="u")])
def test_a_named_caller_is_judged_by_the_policy(asker: offers.Asker, tmp_path: Path) -> None:
    rule = "rules: [{id: a, decision: allow, match: {tools: ['*'], roles: {any: [r]}}}]"
    place = a_workspace(tmp_path, policy=rule, contracts=[a_contract()])
    is_listed = offers.listed_for(asker, place.loaded(), place.config)
    assert is_listed is not None
    expected = bool(asker.roles)
    assert is_listed(TOOL) is expected
    assert offers.column(is_listed, TOOL) == ("yes" if expected else "no",)
    assert offers.member(is_listed, TOOL) == {"listed": expected}
    assert offers.header(is_listed) == ("listed",)


def test_texts_of_a_definition_are_told_when_they_are_texts() -> None:
    assert offers.said(TOLD, "description") == "finds"
    assert (offers.said(TOLD, "count"), offers.said(TOLD, "title")) == ("", "")
    assert offers.reason(TOOL) == ""
    assert offers.reason(replace(TOOL, quarantine=Quarantine(reason="r"))) == "r"
