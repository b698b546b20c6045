"""A call that people decide about: told by webhook, decided in a terminal, carried out once."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.types.approvals import ApprovalNotes
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.otlp_receiver import OtlpReceiver, Span, otlp_receiver
from tests.helpers.webhooks import Got, Receiver, receiving
from tests.journeys import house

SECRET = "whsec_" + "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="
PUT = tool("put", inputSchema={"type": "object", "properties": {"amount": {"type": "number"}}})
POLICY = """rules:
  - id: large
    decision: require_approval
    match: {tools: ["alpha.*"]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
"""
KEY, ENTRY = house.key("agent", "acme", "sam", client="desk-agent")


@dataclass
class World:
    """A gateway, the server behind it, who is told, and where its telemetry goes."""

    gateway: Gateway
    alpha: FakeHttp
    receiver: Receiver
    telemetry: OtlpReceiver

    async def told(self, stage: str, of: str) -> Got:
        """Wait until the receiver was told of a stage of a request."""

        def found() -> list[Got]:
            wanted = (f"weighbridge.approval.{stage}", of)
            return [
                got
                for got in self.receiver.got
                if (got.json["type"], got.json["subject"]) == wanted
            ]

        await until_async(found, house.WITHIN_S)
        return found()[0]

    def spans(self, of: str) -> list[Span]:
        """The spans that name a request."""
        return [
            span
            for span in self.telemetry.spans
            if span.attributes.get("gateway.approval.id") == of
        ]

    async def decide(self, *words: str) -> tuple[int, Any]:
        """Run a command in a process of its own."""
        config = str(self.gateway.folder / "config.yaml")
        command = ["approvals", *words, "--config", config, "--json"]
        done = await asyncio.to_thread(forked.ran, command)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def receiver() -> Generator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
async def world(
    tmp_path_factory: pytest.TempPathFactory, receiver: Receiver
) -> AsyncGenerator[World]:
    folder: Path = tmp_path_factory.mktemp("terminal")
    notes = ApprovalNotes(summary="Put $args.amount", show={"Amount": "/amount"})
    write = house.contract(PUT, effect=Effect.WRITE, risk=Risk.HIGH, approval=notes)
    async with AsyncExitStack() as stack:
        alpha = stack.enter_context(FakeHttp(Script(tools=[PUT], on_call={"put": [DONE]})))
        telemetry = stack.enter_context(otlp_receiver())
        config = house.config(
            {"alpha": house.http(alpha)},
            identity={
                "local": {"user": "lea", "tenant": "acme", "roles": ["lead"]},
                "api_keys": [ENTRY],
            },
            approvals={
                "hold": {"default": "0s", "clients": {"patient": "30s"}},
                "webhooks": [{"name": "audit", "url": receiver.url, "secret": SECRET}],
            },
        )
        gateway = await stack.enter_async_context(
            running(
                folder,
                config,
                policy=POLICY,
                contracts=house.contracts(write),
                headers={"Authorization": f"Bearer {KEY}"},
                environ={
                    "OTEL_EXPORTER_OTLP_ENDPOINT": telemetry.url,
                    "OTEL_METRIC_EXPORT_INTERVAL": "200",
                    "OTEL_BSP_SCHEDULE_DELAY": "100",
                },
            )
        )
        await gateway.listed("alpha__put")
        yield World(gateway, alpha, receiver, telemetry)


DONE = {"reply": text("done")}


async def test_a_call_is_told_of_decided_elsewhere_and_then_carried_out_once(world: World) -> None:
    gateway, before = world.gateway, len(world.alpha.calls())
    held = outcome(await gateway.call("alpha__put", {"amount": 400}))
    assert held["status"] == "approval_pending"
    apr = held["approval_id"]
    got = await world.told("requested", apr)
    assert got.is_signed(SECRET)
    assert got.json["data"]["summary"] == "Put 400"
    assert got.json["data"]["shown"] == [{"label": "Amount", "value": "400"}]
    assert got.json["data"]["url"] == f"{gateway.admin}/approvals/{apr}"
    sure = ("--binding", got.json["data"]["binding"], "--yes")
    code, found = await world.decide("approve", apr, *sure)
    assert (code, found["cast"]) == (0, "approved")
    assert (await world.told("decided", apr)).json["data"]["state"] in {"approved", "consumed"}
    assert len(world.alpha.calls()) == before
    done = await gateway.call("alpha__put", {"amount": 400})
    assert outcome(done)["status"] == "ok"
    assert len(world.alpha.calls()) == before + 1
    await until_async(lambda: len(world.spans(apr)) == 3, house.WITHIN_S)
    asked, sent, ended = sorted(
        world.spans(apr), key=lambda span: (span.kind == "INTERNAL", span.end)
    )
    assert (asked.name, sent.name, ended.name) == (
        "tools/call put",
        "tools/call put",
        "approval put",
    )
    assert ended.attributes["gateway.approval.outcome"] == "approved"
    assert asked.links == []
    assert sent.links == ended.links == [(asked.trace_id, asked.span_id)]
    assert len({span.trace_id for span in (asked, sent, ended)}) == 3


async def test_a_call_that_is_held_goes_on_as_soon_as_the_terminal_has_decided(
    world: World,
) -> None:
    before = len(world.alpha.calls())
    under_way = asyncio.ensure_future(
        world.gateway.call("alpha__put", {"amount": 500}, _meta=client("patient"))
    )
    await until_async(lambda: pending(world, "Put 500"), house.WITHIN_S)
    (event,) = pending(world, "Put 500")
    code, found = await world.decide(
        "approve", event["approval_id"], "--binding", event["binding"], "--yes"
    )
    assert (code, found["cast"]) == (0, "approved")
    assert outcome(await under_way)["status"] == "ok"
    assert len(world.alpha.calls()) == before + 1


async def test_a_call_that_is_denied_learns_why_and_is_not_sent(world: World) -> None:
    before = len(world.alpha.calls())
    apr = outcome(await world.gateway.call("alpha__put", {"amount": 600}))["approval_id"]
    binding = (await world.told("requested", apr)).json["data"]["binding"]
    code, _ = await world.decide("deny", apr, "--reason", "too much", "--binding", binding, "--yes")
    assert code == 0
    assert (await world.told("decided", apr)).json["data"]["reason"] == "too much"
    told = outcome(await world.gateway.call("alpha__put", {"amount": 600}))
    assert told["status"] == "approval_denied"
    assert "too much" in json.dumps(told)
    assert len(world.alpha.calls()) == before


async def test_what_waits_and_waited_is_counted(world: World) -> None:
    apr = outcome(await world.gateway.call("alpha__put", {"amount": 700}))["approval_id"]
    await until_async(lambda: house.status(world.gateway.folder)["approvals"]["pending"] == 1, 10)

    def gauge() -> list[Any]:
        points = world.telemetry.named("gateway.approval.pending")
        return [point for point in points[-1:] if point.value == 1]

    await until_async(gauge, 10)
    code, _ = await world.decide("cancel", apr, "--reason", "a slip")
    assert code == 0
    named = {"gen_ai__tool__name": "put", "gateway__approval__outcome": "cancelled"}
    await until_async(lambda: world.telemetry.named("gateway.approval.wait", **named), 10)
    assert (await world.told("cancelled", apr)).json["data"]["reason"] == "a slip"


def client(name: str) -> dict[str, Any]:
    return {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}


def pending(world: World, summary: str) -> list[dict[str, Any]]:
    return [
        got.json["data"]
        for got in world.receiver.got
        if got.json["type"] == "weighbridge.approval.requested"
        and got.json["data"]["summary"] == summary
    ]
