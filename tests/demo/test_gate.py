"""The gateway's process, and the one after it."""

from contextlib import AsyncExitStack
from pathlib import Path

import httpx2

from gateway.demo.gate import Gate
from gateway.demo.workspace import Workspace


async def _is_up(gate: Gate) -> bool:
    async with httpx2.AsyncClient() as http:
        return (await http.get(f"{gate.admin}/healthz")).status_code == 200


async def test_the_next_one_answers_at_the_same_addresses_with_the_same_store(
    tmp_path: Path,
) -> None:
    gate = Gate(workspace=Workspace.create(tmp_path), desk_port=1, time_server=None)
    async with AsyncExitStack() as until:
        await gate.start(until)
        first = gate.url, gate.ports
        assert await _is_up(gate)
        await gate.restart(until)
        assert (gate.url, gate.ports) == first
        assert await _is_up(gate)
    assert (tmp_path / "gateway.log").read_text(encoding="utf-8").count("serving agents at") == 2
