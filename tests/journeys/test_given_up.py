"""Runs that are stopped or given up: nothing that their models do leads out of them."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway.client import AsyncClient, meta
from gateway.types.runs import Phase
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.test_hosts import (
    ANA,
    ANA_ENTRY,
    FIND,
    FOUND,
    HOST,
    HOST_ENTRY,
    PUT,
    contracts,
    write_templates,
)


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder = tmp_path_factory.mktemp("given_up")
    write_templates(folder)
    with FakeHttp(Script(tools=[PUT, FIND], on_call={"find": [{"reply": FOUND}]})) as fake:
        async with running(
            folder,
            house.config({"alpha": house.http(fake)}, identity={"api_keys": [ANA_ENTRY]}),
            contracts=contracts(),
            admin={"api_keys": [HOST_ENTRY]},
            headers={"Authorization": f"Bearer {ANA}"},
        ) as gateway:
            await gateway.listed("alpha__put_item", "alpha__find", "run_start")
            yield gateway


class Talk:
    """A conversation of an agent."""

    def __init__(self, gateway: Gateway, name: str) -> None:
        self._agent = house.as_modern(gateway, Authorization=f"Bearer {ANA}")
        self._meta = {"vscode.conversationId": name}

    async def call(self, name: str, meta: Json | None = None, /, **arguments: Any) -> Json:
        """Call a tool and return the whole answer."""
        said = {**self._meta, **(meta or {})}
        return await house.call(self._agent, name, arguments, _meta=said)

    async def ended(self, name: str, **arguments: Any) -> str:
        """Call a tool and return how that ended."""
        return str(outcome(await self.call(name, **arguments))["status"])


async def test_nothing_that_a_model_does_leads_out_of_a_pause(gateway: Gateway) -> None:
    talk = Talk(gateway, "paused")
    begun = (await talk.call("run_start", objective="x"))["structuredContent"]
    async with AsyncClient(gateway.admin, HOST) as client:
        await client.pause(begun["run_id"], "wrong customer")
        assert await talk.ended("run_finish", outcome="failed") == "phase_blocked"
        assert await talk.ended("run_handoff", reason="I give up") == "ok"
        assert await talk.ended("run_start", objective="y") == "phase_blocked"
        assert await talk.ended("alpha__find") == "phase_blocked"
        assert await talk.ended("alpha__put_item", v=1) == "phase_blocked"
        resumed = await client.resume(begun["run_id"])
    assert (resumed.phase, resumed.is_paused) == ("retrieving", False)
    made = outcome(await talk.call("alpha__put_item", v=1))
    assert (made["status"], made["run_id"]) == ("ok", begun["run_id"])


async def test_a_sub_agent_stops_with_the_run_around_its_own(gateway: Gateway) -> None:
    talk = Talk(gateway, "sub-agent")

    async def ended(value: int) -> str:
        named = meta(child.run_id)
        return str(outcome(await talk.call("alpha__put_item", named, v=value))["status"])

    async with AsyncClient(gateway.admin, HOST) as client:
        parent = await client.start(user="ana", objective="all of it")
        child = await client.start(user="ana", objective="a part", parent=parent.run_id)
        await client.set_phase(child.run_id, Phase.ACTING)
        assert await ended(3) == "ok"
        await client.pause(parent.run_id, "stop everything")
        assert await ended(4) == "phase_blocked"
        await client.resume(parent.run_id)
        assert await ended(4) == "ok"
        await client.fail(parent.run_id)
        assert await ended(5) == "phase_blocked"


async def test_no_model_gets_rid_of_guards_by_failing(gateway: Gateway) -> None:
    talk = Talk(gateway, "guarded")
    await talk.call("run_start", objective="x", template="refund")
    assert await talk.ended("alpha__put_item", v=2) == "phase_blocked"
    assert await talk.ended("run_finish", outcome="failed") == "ok"
    assert await talk.ended("run_start", objective="y") == "phase_blocked"
    assert await talk.ended("alpha__find") == "ok"
    assert await talk.ended("alpha__put_item", v=2) == "phase_blocked"
