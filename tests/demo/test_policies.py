"""The shipped policies: they hold for the servers as they are, and teach nothing wrong."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer

from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.contracts import files
from gateway.contracts.pins import pin
from gateway.demo import crm, desk
from gateway.demo.helpdesk import HelpDesk
from gateway.demo.workspace import policies, time_server
from gateway.revision import Unreviewed
from gateway.types.json import JsonObject


async def _published(server: MCPServer | StdioServerParameters) -> Mapping[str, str]:
    async with Client(server) as client:
        listed = await client.list_tools()
    return {
        tool.name: pin(cast("JsonObject", tool.model_dump(by_alias=True, exclude_none=True)))
        for tool in listed.tools
    }


def _pinned(server: str) -> Mapping[str, str]:
    path = policies() / "contracts" / f"{server}.yaml"
    contracts = files.load(path.read_text(encoding="utf-8"), file=str(path))
    return {contract.tool.removeprefix(f"{server}."): contract.pin for contract in contracts}


_STALE = "a definition changed: look at `weighbridge tools diff`, then pin it again"


async def test_the_pins_of_the_crm_are_those_of_its_tools(tmp_path: Path) -> None:
    books = HelpDesk.create(tmp_path / "db")
    args = ["-m", "gateway.demo.crm", "--db", str(books.path)]
    process = StdioServerParameters(command=sys.executable, args=args, cwd=policies().parent)
    assert await _published(process) == _pinned("crm"), _STALE
    assert await _published(crm.build(books)) == _pinned("crm"), _STALE


async def test_the_pins_of_the_desk_are_those_of_its_tools(tmp_path: Path) -> None:
    books = HelpDesk.create(tmp_path / "db")
    assert await _published(desk.build(books)) == _pinned("desk"), _STALE


async def test_the_pins_of_the_time_server_are_those_of_its_tools() -> None:
    program = time_server()
    if program is None:
        pytest.skip("`scripts/demo` installs the time server")
    process = StdioServerParameters(command=str(program), args=["--local-timezone=UTC"])
    assert await _published(process) == _pinned("time"), _STALE


def test_the_policies_have_nothing_to_mend_and_their_tests_reach_every_rule() -> None:
    built = revisions.build(
        revisions.read(policies()), unreviewed=Unreviewed.REFUSE, at=SystemClock().now()
    )
    assert built.errors == ()
    assert built.findings == ()
    assert built.report is not None
    assert [result.name for result in built.report.results if not result.passed] == []
    assert built.report.coverage.rule_ratio == 1
    assert built.report.coverage.condition_ratio == 1
