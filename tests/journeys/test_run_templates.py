"""Work by a template, from its first read to its end: guards that bind, and limits of a run."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.types.guarantees import Idempotency
from gateway.types.tools import DocumentPaths, Effect, Ensure, Retrieval, Risk, Yield
from tests.helpers.fake_server import Record, Script, record_of, text, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

AMOUNT = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["customer", "amount"],
}
NAMED = {"type": "object", "additionalProperties": {"type": "string"}}
FIND = tool("find", inputSchema=NAMED)
PAY, NOTE = tool("pay", inputSchema=AMOUNT), tool("note", inputSchema=NAMED)
POLICY = """
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - id: other-customer
    decision: deny
    code: another_customer
    reason: this run is about another customer
    match: {tools: [alpha.pay], templates: [refund]}
    when: has(run.fields.customer) && args.customer != run.fields.customer
"""
TEMPLATE = """
runs:
  refund:
    fields: {customer: {required: true, from: [crm.customer]}}
    phases:
      acting: {enter_when: [evidence >= 1], tools: [alpha.pay]}
      finalizing: {enter_when: [succeeded(alpha.pay)], tools: [alpha.note]}
    completed_when: [verified(alpha.pay)]
    limits: {calls: 6, writes: 3, money: {argument: /amount, max: 100, tools: [alpha.pay]}}
"""
FOUND: Json = {"content": [], "structuredContent": {"customers": [{"id": "c-1"}, {"id": "c-2"}]}}


def reviewed() -> str:
    write: dict[str, Any] = {"effect": Effect.WRITE}
    return house.contracts(
        house.contract(
            FIND,
            yields=(Yield(type="crm.customer", path="/customers/*/id"),),
            retrieval=Retrieval(documents=DocumentPaths(path="/customers/*", source="/id")),
        ),
        house.contract(
            PAY,
            risk=Risk.HIGH,
            ensure=(Ensure(when="result.paid == args.amount", message="another amount was paid"),),
            idempotency=Idempotency(),
            **write,
        ),
        house.contract(NOTE, risk=Risk.LOW, **write),
    )


@dataclass(frozen=True)
class Place:
    """A gateway with a template, and whoever works by it."""

    gateway: Gateway
    alpha: Record

    async def call(self, name: str, sent: Json, talk: str) -> Json:
        answer = await self.gateway.call(name, sent, _meta={"vscode.conversationId": talk})
        return outcome(answer)

    async def begun(self, talk: str) -> None:
        new = {"objective": "give it back", "template": "refund"}
        await self.gateway.call("run_start", new, _meta={"vscode.conversationId": talk})

    async def ready(self, talk: str) -> None:
        """Begin a run in which everything is known that paying asks for."""
        await self.begun(talk)
        await self.call("alpha__find", {"q": "mar"}, talk)
        await self.call("run_set_field", {"name": "customer", "value": "c-1"}, talk)


def paid(amount: float) -> Json:
    return {"reply": {"content": [], "structuredContent": {"paid": amount}}}


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder: Path = tmp_path_factory.mktemp("templates")
    (folder / "policies/runs").mkdir(parents=True)
    (folder / "policies/runs/refund.yaml").write_text(TEMPLATE)
    steps: dict[str, list[Any]] = {
        "find": [{"reply": FOUND}],
        "pay": [paid(60)],
        "note": [{"reply": text("noted")}],
    }
    alpha = house.stdio(Script(tools=[FIND, PAY, NOTE], on_call=steps), folder)
    async with running(
        folder, house.config({"alpha": alpha}), policy=POLICY, contracts=reviewed()
    ) as gateway:
        await gateway.listed("alpha__find")
        yield Place(gateway, record_of(folder, "alpha"))


async def test_nothing_is_paid_before_everything_is_there(place: Place) -> None:
    await place.begun("guards")
    pay: Json = {"customer": "c-1", "amount": 60}
    early = await place.call("alpha__pay", pay, "guards")
    assert (early["status"], early["executed"]) == ("phase_blocked", "no")
    assert (await place.call("alpha__find", {"q": "mar"}, "guards"))["status"] == "ok"
    unknown = await place.call("alpha__pay", pay, "guards")
    assert unknown["status"] == "phase_blocked"
    assert "fields.customer" in unknown["reason"]
    invented = await place.call("run_set_field", {"name": "customer", "value": "c-9"}, "guards")
    assert invented["status"] == "provenance_failed"
    await place.call("run_set_field", {"name": "customer", "value": "c-1"}, "guards")
    other = await place.call("alpha__pay", {"customer": "c-2", "amount": 60}, "guards")
    assert (other["status"], other["code"]) == ("denied", "another_customer")
    assert (await place.call("alpha__pay", pay, "guards"))["status"] == "ok"


async def test_the_end_of_the_work_has_its_own_tools_and_guards(place: Place) -> None:
    await place.ready("end")
    note: Json = {"text": "paid back"}
    early = await place.call("alpha__note", note, "end")
    assert early["status"] == "phase_blocked"
    unfinished = await place.call("run_finish", {"outcome": "completed"}, "end")
    assert unfinished["status"] == "phase_blocked"
    assert "verified(alpha.pay)" in unfinished["reason"]
    done = await place.call("alpha__pay", {"customer": "c-1", "amount": 60}, "end")
    assert done["status"] == "ok"
    assert (await place.call("alpha__note", note, "end"))["status"] == "ok"
    late = await place.call("alpha__pay", {"customer": "c-1", "amount": 1}, "end")
    assert late["status"] == "phase_blocked"
    assert "finalizing" in late["reason"]
    finished = await place.call("run_finish", {"outcome": "completed"}, "end")
    assert finished["status"] == "ok"


async def test_a_run_moves_no_more_money_than_its_template_says(place: Place) -> None:
    await place.ready("money")
    first = await place.call("alpha__pay", {"customer": "c-1", "amount": 60}, "money")
    assert first["status"] == "ok"
    more = await place.call("alpha__pay", {"customer": "c-1", "amount": 41}, "money")
    assert (more["status"], more["code"]) == ("limit_exceeded", "run_money")
    assert (more["executed"], more.get("retry_after_s")) == ("no", None)


async def test_a_run_makes_no_more_calls_than_its_template_says(place: Place) -> None:
    await place.begun("calls")
    said = [await place.call("alpha__find", {"q": str(number)}, "calls") for number in range(7)]
    assert [each["status"] for each in said] == ["ok"] * 6 + ["limit_exceeded"]
    assert said[-1]["code"] == "run_calls"
    elsewhere = await place.call("alpha__find", {"q": "mar"}, "elsewhere")
    assert elsewhere["status"] == "ok"
