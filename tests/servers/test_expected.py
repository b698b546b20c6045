"""Tools that are known from their contracts before their servers publish them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.servers.entry import Entry
from gateway.servers.fleet import Servers
from gateway.types.tools import Tool
from tests.helpers.cases import a_contract, a_tool
from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.fleets import QUICK, running, stdio_entry

FIND = a_contract(a_tool(tool("find"), "alpha"))
GONE = Entry(name="alpha", command="no-such-command", timeouts=QUICK)


def expecting(servers: Servers, **changes: Any) -> Tool | None:
    """Look up `alpha__find` with its contract, or another one."""
    contract = replace(FIND, **changes)
    servers.catalog.expect(lambda: {contract.tool: contract})
    return servers.catalog.find("alpha__find")


async def test_a_server_that_is_still_starting_is_away(tmp_path: Path) -> None:
    """case: LIF-03"""
    script = Script(tools=[tool("find")], on_start=[{"wait_for_file": str(tmp_path / "go")}])
    async with running(stdio_entry(script, tmp_path), wait_s=0) as servers:
        found = expecting(servers)
        assert found is not None
        assert found.away is not None
        assert (found.key, found.pin) == (FIND.tool, FIND.pin)
        assert found.away.reason == "`alpha` is still starting"
        assert found.away.code == "downstream_starting"
        assert found.away.retry_after_s
        assert servers.catalog.tools() == ()  # called for by name, never listed
        (tmp_path / "go").touch()
        await until_async(servers.catalog.tools)
        found = servers.catalog.find("alpha__find")
        assert found is not None
        assert found.away is None


async def test_a_server_that_was_never_reached_says_why(tmp_path: Path) -> None:
    async with running(GONE) as servers:
        found = expecting(servers)
        assert found is not None
        assert found.away is not None
        assert "`alpha` is unavailable since" in found.away.reason
        assert "no-such-command" in found.away.reason
        assert found.away.code == "downstream_unavailable"


async def test_a_server_whose_tools_can_not_be_listed_says_so(tmp_path: Path) -> None:
    failing = Script(on_list=[{"error": {"code": -32603, "message": "bad day"}}])
    async with running(stdio_entry(failing, tmp_path)) as servers:
        found = expecting(servers)
        assert found is not None
        assert found.away is not None
        assert "the tools of `alpha` can't be listed" in found.away.reason


async def test_only_contracts_of_configured_servers_are_known_and_drafts_too() -> None:
    async with running(GONE) as servers:
        assert expecting(servers, reviewed=False) is not None
        assert expecting(servers, tool="alpha.other") is None
        assert expecting(servers, tool="beta.find") is None
        assert expecting(servers) is not None
        servers.catalog.expect(dict)
        assert servers.catalog.find("alpha__find") is None


async def test_a_tool_that_a_listed_server_does_not_have_is_not_there(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(tools=[tool("other")]), tmp_path)) as servers:
        assert expecting(servers) is None
    async with running(stdio_entry(Script(tools=[]), tmp_path)) as servers:
        assert expecting(servers) is None
