"""The map from exposed names to tools."""

from pathlib import Path

import pytest

from gateway.servers.names import Naming
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.fleets import call, first_text, running, stdio_entry, structured


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
