"""Traces and metrics of a real gateway: whole when a collector listens, free when none does."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.types.guarantees import CallTemplate, Readback
from gateway.types.tools import Effect
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of, text, tool
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.helpers.otlp_receiver import OtlpReceiver, Span, otlp_receiver
from tests.journeys import house

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = f"00-{TRACE}-b7ad6b7169203331-01"
OTHER = "00-1af7651916cd43dd8448eb211c80319d-c7ad6b7169203332-01"
TOOLS = [tool("find"), tool("fails"), tool("slow"), tool("held"), tool("never")]
POLICY = """
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - {id: never, decision: deny, match: {tools: [alpha.never]}, when: args.n > 0}
  - id: held
    decision: require_approval
    approval: {approvers: {roles: [lead]}}
    match: {tools: [alpha.held]}
"""
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def script() -> Script:
    tools = [*TOOLS[:-1], tool("never", inputSchema=NUMBER)]
    return Script(
        tools=tools,
        on_call={
            "fails": [{"reply": {**text("no"), "isError": True}}],
            "slow": [{"delay_ms": 60_000}],
        },
    )


def contracts() -> str:
    special: dict[str, Any] = {"slow": {"timeout_s": 0.2}}
    return house.contracts(
        *(house.contract(one, **special.get(one["name"], {})) for one in script().tools),
        house.contract(tool("find"), "beta"),
    )


@dataclass(frozen=True)
class Place:
    """A traced gateway with a stdio and an HTTP server."""

    gateway: Gateway
    receiver: OtlpReceiver
    folder: Path
    beta: FakeHttp

    async def span(self, span_id: str) -> Span:
        """Wait for a span."""

        def there() -> bool:
            return any(one.span_id == span_id for one in self.receiver.spans)

        await asyncio.to_thread(self.receiver.wait_for, there)
        return next(one for one in self.receiver.spans if one.span_id == span_id)


@asynccontextmanager
async def traced(folder: Path, receiver: OtlpReceiver) -> AsyncGenerator[Place]:
    with FakeHttp(Script(tools=[tool("find")])) as beta:
        servers = {"alpha": house.stdio(script(), folder), "beta": house.http(beta)}
        async with running(
            folder,
            house.config(servers, approvals={"hold": {"default": "0s"}}),
            policy=POLICY,
            contracts=contracts(),
            environ={
                "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
                "OTEL_SERVICE_NAME": "gw",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=x",
                "OTEL_BSP_SCHEDULE_DELAY": "50",
                "OTEL_METRIC_EXPORT_INTERVAL": "60000",
            },
        ) as gateway:
            await gateway.listed("alpha__find", "beta__find")
            yield Place(gateway, receiver, folder, beta)


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    with otlp_receiver() as receiver:
        async with traced(tmp_path_factory.mktemp("telemetry"), receiver) as opened:
            yield opened


@pytest.mark.parametrize("server", ["alpha", "beta"])
@pytest.mark.parametrize("where", ["header", "meta", "both", "garbage"])
async def test_one_trace_goes_from_the_caller_through_the_gateway_to_the_server(
    place: Place, where: str, server: str
) -> None:
    """case: OBS-06"""
    headers = {"header": {"traceparent": CALLER}, "both": {"traceparent": OTHER}}.get(where, {})
    sent = {"meta": CALLER, "both": CALLER, "garbage": "garbage"}.get(where)
    meta = {"com.example/k": 1, **({"traceparent": sent} if sent else {})}
    client = house.as_modern(place.gateway, **headers)
    result = await house.call(client, f"{server}__find", _meta=meta)
    assert outcome(result)["status"] == "ok"
    received = record_of(place.folder, "alpha").calls() if server == "alpha" else place.beta.calls()
    got = received[-1]["params"]["_meta"]
    assert got["com.example/k"] == 1
    _, trace, parent, _ = got["traceparent"].split("-")
    assert (trace == TRACE) is (where != "garbage")
    if server == "beta":
        assert received[-1]["headers"]["traceparent"] == got["traceparent"]
    client_span = await place.span(parent)
    assert (client_span.kind, client_span.trace_id) == ("CLIENT", trace)
    server_span = await place.span(client_span.parent_id)
    assert server_span.kind == "SERVER"
    assert server_span.parent_id == ("" if where == "garbage" else "b7ad6b7169203331")
    body = await house.event(place.folder, kind="tool_call", trace_id=trace)
    assert body["body"]["status"] == "ok"


async def test_the_trace_of_a_stdio_host_is_continued(tmp_path: Path) -> None:
    """case: OBS-06"""
    find = tool("find")
    alpha = house.stdio(Script(tools=[find]), tmp_path)
    async with house.hosted(
        tmp_path,
        house.config({"alpha": alpha}),
        policy=ALLOW,
        contracts=house.contracts(house.contract(find)),
    ) as host:
        await house.listed(host, "alpha__find")
        await house.call(host, "alpha__find", _meta={"traceparent": CALLER})
    (call,) = record_of(tmp_path, "alpha").calls()
    assert call["params"]["_meta"]["traceparent"].split("-")[1] == TRACE


async def test_what_happened_arrives_at_the_collector_and_is_flushed_at_the_stop(
    tmp_path: Path,
) -> None:
    """case: OBS-07, OBS-05"""
    ends = {
        "find": "ok",
        "fails": "tool_failed",
        "slow": "timeout",
        "held": "approval_pending",
        "never": "denied",
    }
    with otlp_receiver() as receiver:
        async with traced(tmp_path, receiver) as place:
            for name, status in ends.items():
                arguments = {"n": 4711} if name == "never" else {"q": "free words of a person"}
                said = outcome(await place.gateway.call(f"alpha__{name}", arguments))
                assert said["status"] == status
            for number in range(20):
                await place.gateway.call(f"alpha__made_up_{number}")
            assert await place.gateway.stop() == 0
        calls = [one for one in receiver.spans if one.kind == "SERVER"]
        assert len(calls) == len(ends) + 20
        assert {one.resource["service.name"] for one in calls} == {"gw"}
        assert {one.resource["deployment.environment"] for one in calls} == {"x"}
        for name in ends:
            attributes = json.dumps([one.attributes for one in calls if name in one.name])
            assert "tools/call" in attributes
            assert "alpha" in attributes
        assert {json.dumps(one.attributes) for one in calls if "ok" in str(one.attributes)}
        everything = b"".join(one.body for one in receiver.requests)
        assert b"free words" not in everything
        assert b"4711" not in everything
        labels = json.dumps([point.labels for point in receiver.points])
        assert "made_up" not in labels
        assert receiver.points
        for status in ends.values():
            assert status in labels


async def test_a_read_that_checks_a_write_is_linked_to_it(tmp_path: Path) -> None:
    there = Script(
        tools=[tool("put"), tool("find")], on_call={"find": [{"reply": text('{"id": 7}')}]}
    )
    read = CallTemplate(tool="alpha.find", args={})
    written = house.contract(
        tool("put"), effect=Effect.WRITE, readback=Readback(call=read, expect="result.id == 7")
    )
    with otlp_receiver() as receiver:
        async with running(
            tmp_path,
            house.config({"alpha": house.stdio(there, tmp_path)}),
            policy=ALLOW,
            contracts=house.contracts(written, house.contract(tool("find"))),
            environ={"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "50"},
        ) as gateway:
            await gateway.listed("alpha__put")
            said = outcome(await gateway.call("alpha__put", {}))
            assert (said["status"], said["verification"]) == ("ok", "verified")
            assert await gateway.stop() == 0
        calls = [one for one in receiver.spans if one.kind == "SERVER"]
        [write] = [one for one in calls if one.name == "tools/call put"]
        [check] = [one for one in calls if one.name == "tools/call find"]
        assert check.attributes["gateway.cause"] == "verification"
        assert check.links == [(write.trace_id, write.span_id)]
        assert check.trace_id != write.trace_id
        assert write.links == []


@pytest.mark.parametrize("kind", ["closed port", "says nothing", "answers 503"])
async def test_a_dead_collector_costs_no_call_anything(tmp_path: Path, kind: str) -> None:
    """case: OBS-02"""
    find = tool("find")
    alpha = house.stdio(Script(tools=[find]), tmp_path)
    with otlp_receiver() as receiver:
        receiver.hang = kind == "says nothing"
        receiver.answer = 503
        url = "http://127.0.0.1:1" if kind == "closed port" else receiver.url
        began = time.monotonic()
        async with running(
            tmp_path,
            house.config({"alpha": alpha}),
            contracts=house.contracts(house.contract(find)),
            environ={
                "OTEL_EXPORTER_OTLP_ENDPOINT": url,
                "OTEL_EXPORTER_OTLP_TIMEOUT": "60",  # whatever waited for it would show
                "OTEL_BSP_SCHEDULE_DELAY": "50",
                "OTEL_METRIC_EXPORT_INTERVAL": "100",
            },
        ) as gateway:
            await gateway.listed("alpha__find")
            assert time.monotonic() - began < 20  # most of it is the start of the interpreter
            slowest = 0.0
            for _ in range(100):
                began = time.monotonic()
                assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
                slowest = max(slowest, time.monotonic() - began)
            assert slowest < 1  # a call that waited for the collector would take its timeout
            began = time.monotonic()
            assert await gateway.stop() == 0
            assert time.monotonic() - began < 8
            receiver.released.set()
    assert len((tmp_path / "log.txt").read_text().splitlines()) < 30
