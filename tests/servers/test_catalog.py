"""The map from exposed names to tools."""

from pathlib import Path
from typing import Any

import pytest

from gateway.servers.entry import Entry
from gateway.servers.names import Naming
from gateway.types.tools import Ambiguous, Tool
from tests.helpers.fake_server import EVERYTHING, Script, text, tool
from tests.helpers.fleets import QUICK, call, first_text, running, stdio_entry, structured


async def test_every_listed_name_reaches_its_own_server_by_its_own_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """case: NAM-01"""
    caplog.set_level("INFO", "gateway.servers")
    entries = [
        stdio_entry(
            Script(tools=[tool("send_note")], on_call={"send_note": [{"reply": text(name)}]}),
            tmp_path,
            name,
        )
        for name in ("alpha", "beta")
    ]
    async with running(*entries) as servers:
        listed = servers.catalog.tools()
        assert [item.exposed_name for item in listed] == ["alpha__send_note", "beta__send_note"]
        for item in listed:
            assert servers.catalog.find(item.exposed_name) is item
            server = servers.catalog.server(item.server)
            assert first_text(await call(server, item.name)) == item.server
    assert "send_note is used by several servers: alpha, beta" in caplog.text


async def test_altered_names_are_mapped_back_exactly(tmp_path: Path) -> None:
    """case: NAM-03, NAM-04"""
    names = ["clock.read-time", "area/item/rename", "say hello", "inner__find"]
    script = Script(tools=[tool(name) for name in names])
    async with running(stdio_entry(script, tmp_path)) as servers:
        called = {
            structured(await call(servers.catalog.server(item.server), item.name))["name"]
            for item in servers.catalog.tools()
        }
        exposed = [item.exposed_name for item in servers.catalog.tools()]
    assert called == set(names)
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert [item.exposed_name for item in servers.catalog.tools()] == exposed


async def test_a_transparent_gateway_changes_no_name(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(), tmp_path), naming=Naming(transparent=True)) as servers:
        assert [item.exposed_name for item in servers.catalog.tools()] == ["echo"]
        assert servers.catalog.find("alpha__echo") is None


async def test_a_uri_of_two_servers_is_listed_under_both_and_read_from_the_named_one(
    tmp_path: Path,
) -> None:
    entries = [
        stdio_entry(
            Script(capabilities=EVERYTHING, resources=[{"uri": "x://1", "name": name}]),
            tmp_path,
            name,
        )
        for name in ("alpha", "beta")
    ]
    async with running(*entries) as servers:
        catalog = servers.catalog
        assert isinstance(catalog.resource("x://1"), Ambiguous)
        for listed in catalog.resources():
            found = catalog.resource(listed.exposed_name)
            assert isinstance(found, Tool)
            assert found.definition["name"] == found.server == listed.server


async def test_the_only_server_with_resources_gets_uris_that_nobody_lists(tmp_path: Path) -> None:
    entries = [
        stdio_entry(Script(capabilities=EVERYTHING), tmp_path),
        stdio_entry(Script(), tmp_path, "beta"),
    ]
    async with running(*entries) as servers:
        found = servers.catalog.resource("anything://1")
        assert isinstance(found, Tool)
        assert found.server == "alpha"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_extensions_that_pass_are_those_of_connected_servers(
    tmp_path: Path, era: str
) -> None:
    offered: Any = {"io.modelcontextprotocol/tasks": {"x": 1}, "com.example/other": {}}
    script = Script(eras=[era], capabilities={"tools": {}, "extensions": offered})
    away = Entry(name="away", command="no-such-command", timeouts=QUICK)
    async with running(stdio_entry(script, tmp_path), away) as servers:
        assert servers.catalog.extensions() == {"io.modelcontextprotocol/tasks": {"x": 1}}
