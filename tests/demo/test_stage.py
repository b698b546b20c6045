"""Starting everything that the demo needs."""

from pathlib import Path

import pytest

from gateway.demo import stage
from gateway.demo.processes import DemoFault
from gateway.demo.script import ACME, GLOBEX, steps


async def test_each_agent_is_listed_what_its_role_and_credential_allow(tmp_path: Path) -> None:
    async with stage.raised(tmp_path, None) as raised:
        await raised.ready(steps(with_time=False))
        assert await raised.agents[ACME].tools() == {
            "crm__add_note",
            "crm__delete_customer",
            "crm__get_customer",
            "crm__search_customers",
            "desk__list_tickets",
            "desk__refund",
        }
        assert await raised.agents[GLOBEX].tools() == {
            "crm__get_customer",
            "crm__search_customers",
        }
        await raised.rewrite()
        assert "desk__list_tickets" not in await raised.agents[ACME].tools()


async def test_a_gateway_that_does_not_start_is_a_fault_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "weighbridge", lambda: ["false"])
    with pytest.raises(DemoFault, match="gateway is not ready"):
        async with stage.raised(tmp_path, None):
            pass
