"""All servers together."""

import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.servers.entry import Entry
from gateway.servers.names import Naming
from tests.helpers.fake_server import Script, until_async
from tests.helpers.fleets import QUICK, call, first_text, running, stdio_entry, until_status


async def test_one_server_in_trouble_stops_no_other(tmp_path: Path) -> None:
    """case: LIF-01"""
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        urls = [f"http://127.0.0.1:{s.getsockname()[1]}/mcp" for s in (closed, silent)]
        patient = replace(QUICK, probe_s=0.3, start_s=0.6)
        entries = [
            stdio_entry(Script(), tmp_path),
            Entry(name="beta", url=urls[0], timeouts=QUICK),
            Entry(name="gamma", url=urls[1], timeouts=patient),
            Entry(name="delta", command="no-such-command", timeouts=QUICK, required=True),
        ]
        async with running(*entries) as servers:
            assert first_text(await call(servers.server("alpha"))) == "echo"
            await until_status(servers.server("gamma"), "failed")
            reasons = {state.name: state.reason for state in servers.states()}
            assert [state.name for state in servers.missing] == ["delta"]
    assert reasons["alpha"] == ""
    assert reasons["beta"] == "`beta` can't be reached: Connection refused"
    assert reasons["gamma"] == "`gamma` did not answer in time"
    assert "`no-such-command`" in reasons["delta"]
    assert "PATH" in reasons["delta"]


async def test_servers_start_side_by_side_and_wait_for_none(tmp_path: Path) -> None:
    """case: LIF-03"""
    names = [f"s{n}" for n in range(6)]
    slow = stdio_entry(Script(on_start=[{"delay_ms": 60_000}]), tmp_path, "slow")
    quick = [stdio_entry(Script(on_start=[{"delay_ms": 300}]), tmp_path, name) for name in names]
    began = time.monotonic()
    async with running(*quick) as servers:
        assert len(servers.catalog.tools()) == 6
        assert time.monotonic() - began < 6 * 0.3 + 1.5
    async with running(slow, quick[0], wait_s=0) as servers:
        await until_async(lambda: len(servers.catalog.tools()) == 1)


@pytest.mark.parametrize(
    ("names", "naming", "said"),
    [(["al__pha"], Naming(), "`al__pha`"), (["a", "b"], Naming(transparent=True), "exactly one")],
)
async def test_aliases_that_cannot_work_are_refused_at_once(
    names: list[str], naming: Naming, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        async with running(*[Entry(name=name, command="x") for name in names], naming=naming):
            pass
