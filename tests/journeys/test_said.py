"""What a model merely says of its run drives no filter, and no argument that policy writes."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.types.tools import (
    Effect,
    OnFail,
    ProvenanceRule,
    Risk,
    Source,
    SourceKind,
    SourceTrust,
    Yield,
)
from tests.helpers.fake_server import Record, Script, record_of, text, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.test_retrieving import STRINGS

POLICY = """
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - id: of-the-run
    decision: obligation
    match: {tools: [alpha.pay]}
    constrain: {set: {customer: run.fields.customer_id}}
  - id: as-said
    decision: obligation
    match: {tools: [alpha.book]}
    when: has(run.said.customer_id)
    constrain: {set: {customer: run.said.customer_id}}
  - id: rows
    decision: obligation
    match: {tools: [alpha.orders]}
    output: {rows: [{path: /orders, where: row.customer == run.fields.customer_id}]}
"""
TEMPLATE = "runs: {desk: {fields: {customer_id: {}}}}\n"
TOOLS = [tool(name, inputSchema=STRINGS) for name in ("orders", "pay", "book", "mail", "find")]
ROWS: Json = {"orders": [{"id": 1, "customer": "c-1"}, {"id": 2, "customer": "c-2"}]}


@dataclass(frozen=True)
class Place:
    """A gateway, and what its server was sent."""

    gateway: Gateway
    alpha: Record

    async def call(self, name: str, sent: Json, conversation: str) -> Json:
        return await self.gateway.call(name, sent, _meta={"vscode.conversationId": conversation})


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("said")
    (folder / "policies/runs").mkdir(parents=True)
    (folder / "policies/runs/desk.yaml").write_text(TEMPLATE)
    field = Source(kind=SourceKind.COLLECTED, operands=("customer_id",))
    rule = ProvenanceRule(pointer="/customer", sources=(field,), on_fail=OnFail.DENY)
    write: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.LOW, "provenance": (rule,)}
    orders, pay, book, mail, find = TOOLS
    yields = Yield(type="crm.id", path="/id")
    reviewed = house.contracts(
        house.contract(orders),
        house.contract(pay, **write),
        house.contract(book, **write),
        house.contract(mail, yields=(replace(yields, trust=SourceTrust.EXTERNAL),)),
        house.contract(find, yields=(yields,)),
    )
    steps: dict[str, list[Any]] = {
        "orders": [{"reply": {"content": [], "structuredContent": ROWS}}],
        "pay": [{"reply": text("paid")}],
        "book": [{"reply": text("booked")}],
        "mail": [{"reply": {"content": [], "structuredContent": {"id": "c-2"}}}],
        "find": [{"reply": {"content": [], "structuredContent": {"id": "c-1"}}}],
    }
    alpha = house.stdio(Script(tools=TOOLS, on_call=steps), folder)
    config = house.config({"alpha": alpha})
    async with running(folder, config, policy=POLICY, contracts=reviewed) as gateway:
        await gateway.listed("alpha__orders")
        yield Place(gateway, record_of(folder, "alpha"))


async def test_the_word_of_a_model_opens_no_row_and_pays_nobody(place: Place) -> None:
    begun = await place.call("run_start", {"objective": "x", "template": "desk"}, "word")
    assert outcome(begun)["status"] == "ok"
    said = await place.call("run_set_field", {"name": "customer_id", "value": "c-2"}, "word")
    assert outcome(said)["status"] == "ok"
    rows = await place.call("alpha__orders", {}, "word")
    assert "c-2" not in str(rows)
    for tool_name, sent in (("pay", {"customer": "c-2"}), ("pay", {}), ("book", {})):
        answer = outcome(await place.call(f"alpha__{tool_name}", sent, "word"))
        assert answer["status"] in ("denied", "provenance_failed")
    assert not {"pay", "book"} & {each["params"]["name"] for each in place.alpha.calls()}


async def test_what_others_can_write_opens_no_row_either(place: Place) -> None:
    async def rows_of(value: str) -> str:
        named = {"name": "customer_id", "value": value, "source": "crm.id"}
        assert outcome(await place.call("run_set_field", named, "others"))["status"] == "ok"
        return str((await place.call("alpha__orders", {}, "others"))["structuredContent"]["orders"])

    await place.call("run_start", {"objective": "x", "template": "desk"}, "others")
    for name in ("mail", "find"):
        assert outcome(await place.call(f"alpha__{name}", {}, "others"))["status"] == "ok"
    assert await rows_of("c-2") == "[]"
    assert "c-1" in await rows_of("c-1")
