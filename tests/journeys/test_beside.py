"""Beside a filtered result: what a server says in errors, in progress and in log messages."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest

from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import Gateway, running
from tests.journeys import house
from tests.journeys.house import Json

POLICY = """
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - {id: logs, decision: allow, match: {methods: [notifications/message], servers: [alpha]}}
  - id: rows
    decision: obligation
    match: {tools: [alpha.orders, alpha.oops]}
    output: {rows: [{path: /orders, where: row.customer == 'c-1'}]}
"""
ROWS: Json = {"orders": [{"customer": "c-1"}, {"customer": "c-2"}]}
ERROR: Json = {"code": -5, "message": "row c-2", "data": ROWS}
TOLD: list[Any] = [
    {"progress": {"progress": 1, "message": "row c-2"}},
    {"notify": {"method": "notifications/message", "params": {"level": "error", "data": "c-2"}}},
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder = tmp_path_factory.mktemp("beside")
    tools = [tool(name) for name in ("orders", "oops", "open")]
    reply: Json = {"reply": {"content": [], "structuredContent": ROWS}}
    steps: dict[str, list[Any]] = {
        "orders": [*TOLD, reply],
        "open": [*TOLD, reply],
        "oops": [{"error": ERROR}],
    }
    alpha = house.stdio(Script(tools=tools, on_call=steps), folder)
    reviewed = house.contracts(*map(house.contract, tools))
    config = house.config({"alpha": alpha})
    async with running(folder, config, policy=POLICY, contracts=reviewed) as running_gateway:
        await running_gateway.listed("alpha__orders")
        yield running_gateway


async def test_an_error_tells_of_no_row(gateway: Gateway) -> None:
    _, said = await gateway.send("tools/call", {"name": "alpha__oops", "arguments": {}})
    assert said["error"]["code"] == -5
    assert "c-2" not in json.dumps(said)


@pytest.mark.parametrize(("name", "tells"), [("orders", False), ("open", True)])
async def test_progress_has_numbers_and_no_words(gateway: Gateway, name: str, tells: bool) -> None:
    params = {"name": f"alpha__{name}", "arguments": {}, "_meta": {"progressToken": "p"}}
    body = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}
    async with (
        house.legacy(gateway) as agent,
        aiohttp.ClientSession() as session,
        session.post(gateway.url, json=body, headers=agent.headers) as answer,
    ):
        said = await answer.text()
    assert "notifications/progress" in said
    assert ("row c-2" in said) is tells
    assert ("notifications/message" in said) is tells
