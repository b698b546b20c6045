"""Starting everything that the demo needs."""

from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from gateway.demo import gate, stage
from gateway.demo.processes import DemoFault
from gateway.demo.scene import ACME, GLOBEX, Cue
from gateway.demo.script import script
from gateway.demo.workspace import Workspace

OWN = {
    "gateway_wait",
    "run_finish",
    "run_handoff",
    "run_set_field",
    "run_set_phase",
    "run_start",
    "run_status",
}


async def test_each_agent_is_listed_what_its_role_and_credential_allow(tmp_path: Path) -> None:
    async with stage.raised(tmp_path, None) as raised:
        await raised.ready(script(with_time=False))
        assert await raised.agents[ACME].tools() == {
            "crm__add_note",
            "crm__delete_customer",
            "crm__get_customer",
            "crm__search_customers",
            "desk__find_refunds",
            "desk__find_tickets",
            "desk__list_tickets",
            "desk__open_ticket",
            "desk__refund",
            *OWN,
        }
        assert await raised.agents[GLOBEX].tools() == {
            "crm__get_customer",
            "crm__search_customers",
            *OWN,
        }
        await raised.cue(Cue.REWRITE)
        assert "desk__list_tickets" not in await raised.agents[ACME].tools()


async def test_a_desk_that_lives_is_not_started_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "READY_S", 0.2)
    desk = stage.Desk(workspace=Workspace.create(tmp_path))
    async with AsyncExitStack() as until:
        await desk.start(until)
        port = desk.port
        with pytest.raises(DemoFault, match="the desk has not ended"):
            await desk.start(until)
        async with httpx2.AsyncClient() as http:
            (await http.post(f"{desk.url}{Cue.DIE_IN_THE_REFUND}")).raise_for_status()
    await desk.start(until)
    assert desk.port == port
    await until.aclose()


async def test_a_gateway_that_does_not_start_is_a_fault_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "weighbridge", lambda: ["false"])
    with pytest.raises(DemoFault, match="gateway is not ready"):
        async with stage.raised(tmp_path, None):
            pass
