"""A real OpenTelemetry back end: one trace from the agent to the tool, read back from MLflow."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import format_span_id, format_trace_id

from tests.docs.test_how_to import BACKENDS
from tests.e2e import browser, tools
from tests.helpers.gateway import Gateway, outcome, running, spawned

PICTURE: Final = Path(__file__).parents[2] / "docs/pictures/trace-in-mlflow.png"
MARKER: Final = "quokka"  # in every argument; must be nowhere in the back end
HEADERS: Final = {"x-mlflow-experiment-id": "0"}
POLICY: Final = """\
rules:
  - id: files.read
    decision: allow
    match: {tools: [files.read_text_file]}
  - id: files.no-keys
    decision: deny
    code: secret_file
    reason: private keys are not read
    match: {tools: [files.read_text_file]}
    when: args.path.endsWith(".key")
"""


@dataclass(frozen=True, kw_only=True)
class Mlflow:
    """A running MLflow server with an empty store."""

    url: str
    folder: Path

    async def spans(self, trace_id: str, count: int) -> list[dict[str, Any]]:
        """Return the spans of a trace once so many have come in."""
        spans: list[dict[str, Any]] = []
        async with asyncio.timeout(30), aiohttp.ClientSession() as session:
            while len(spans) < count:
                await asyncio.sleep(0.2)
                async with session.get(
                    f"{self.url}/api/3.0/mlflow/traces/get", params={"trace_id": f"tr-{trace_id}"}
                ) as answer:
                    if answer.ok:
                        spans = (await answer.json())["trace"]["spans"]
        return spans

    def page(self, trace_id: str) -> str:
        """Return the address of a trace's page."""
        return f"{self.url}/#/experiments/0/traces?selectedEvaluationId=tr-{trace_id}"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def mlflow(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Mlflow]:
    folder = tmp_path_factory.mktemp("mlflow")
    port = tools.free_port()
    async with tools.background(
        tools.CACHE / "mlflow/bin/mlflow",
        *("server", "--backend-store-uri", "sqlite:///mlflow.db"),
        *("--default-artifact-root", "./artifacts"),
        *("--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        cwd=folder,
        environ={
            "PATH": f"{tools.CACHE / 'mlflow/bin'}:{os.environ['PATH']}",
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
        },
    ) as process:
        url = f"http://127.0.0.1:{port}"
        await tools.answers(f"{url}/health", process)
        yield Mlflow(url=url, folder=folder)


@pytest.fixture
async def gateway(tmp_path: Path, mlflow: Mlflow) -> AsyncGenerator[Gateway]:
    files = tmp_path / "files"
    files.mkdir()
    (files / f"{MARKER}.txt").write_text("a marsupial\n")
    config = (
        tools.servers(files=tools.server_filesystem(files)) + "contracts: {unreviewed: observe}\n"
    )
    (block,) = [each for each in BACKENDS if "mlflow" in each.text]  # of the how-to
    exports = re.findall(r"^export (\w+)=(\S+)$", block.text, re.MULTILINE)
    assert len(exports) == 2
    environ = {
        **{name: value.replace("http://127.0.0.1:5000", mlflow.url) for name, value in exports},
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    async with running(tmp_path, config, policy=POLICY, environ=environ, begin=spawned) as gateway:
        await gateway.listed("files__read_text_file")
        yield gateway


async def agent_turn(gateway: Gateway, mlflow: Mlflow) -> str:
    """Make an allowed, a failing and a denied call within a span of the agent; its trace id."""
    provider = TracerProvider(resource=Resource({"service.name": "agent"}))
    exporter = OTLPSpanExporter(endpoint=f"{mlflow.url}/v1/traces", headers=HEADERS)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    files = gateway.folder / "files"
    with provider.get_tracer("agent").start_as_current_span("agent turn") as span:
        context = span.get_span_context()
        trace_id, span_id = format_trace_id(context.trace_id), format_span_id(context.span_id)
        meta = {"_meta": {"traceparent": f"00-{trace_id}-{span_id}-01"}}
        read = {"path": str(files / f"{MARKER}.txt")}
        allowed = await gateway.call("files__read_text_file", read, **meta)
        missing = {"path": str(files / f"no-{MARKER}.txt")}
        failed = await gateway.call("files__read_text_file", missing, **meta)
        key = {"path": str(files / f"{MARKER}.key")}
        denied = await gateway.call("files__read_text_file", key, **meta)
    provider.shutdown()
    statuses = [outcome(result)["status"] for result in (allowed, failed, denied)]
    assert statuses == ["ok", "tool_failed", "denied"]
    return trace_id


def attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span's attributes by name."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def named(spans: list[dict[str, Any]], parent: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the children of a span by name."""
    return {each["name"]: each for each in spans if each.get("parent_span_id") == parent["span_id"]}


async def test_a_trace_leads_from_the_agent_through_the_verdict_to_the_tool(
    gateway: Gateway, mlflow: Mlflow, tmp_path: Path
) -> None:
    trace_id = await agent_turn(gateway, mlflow)
    spans = await mlflow.spans(trace_id, 9)
    [root] = [each for each in spans if "parent_span_id" not in each]
    assert root["name"] == "agent turn"
    calls = [each for each in spans if each.get("parent_span_id") == root["span_id"]]
    allowed, failed, denied = sorted(calls, key=lambda each: each["start_time_unix_nano"])
    for call in (allowed, failed, denied):
        assert call["name"] == "tools/call read_text_file"
        said = attributes(call)
        assert said["mcp.method.name"] == "tools/call"
        assert said["gen_ai.tool.name"] == "read_text_file"
        assert said["gateway.tool.exposed_name"] == "files__read_text_file"
    assert len(spans) == 9  # the agent's, three calls, three verdicts, two that were sent

    inside = named(spans, allowed)
    assert set(inside) == {"authorize read_text_file", "tools/call read_text_file"}
    verdict = attributes(inside["authorize read_text_file"])
    assert verdict["gateway.decision"] == "allow"
    assert verdict["gateway.policy.rule.id"] == "files.read"

    inside = named(spans, failed)
    assert set(inside) == {"authorize read_text_file", "tools/call read_text_file"}
    assert attributes(failed)["error.type"] == "tool_error"
    assert attributes(inside["tools/call read_text_file"])["error.type"] == "tool_error"

    inside = named(spans, denied)
    assert set(inside) == {"authorize read_text_file"}
    verdict = attributes(inside["authorize read_text_file"])
    assert verdict["gateway.decision"] == "deny"
    assert verdict["gateway.decision.code"] == "secret_file"
    assert verdict["gateway.policy.rule.id"] == "files.no-keys"
    assert attributes(denied)["gateway.status"] == "denied"
    assert "error.type" not in attributes(denied)

    await show(mlflow.page(trace_id), tmp_path)
    kept = b"".join(each.read_bytes() for each in mlflow.folder.glob("mlflow.db*"))
    assert trace_id.encode() in kept
    assert MARKER.encode() not in kept


async def show(url: str, folder: Path) -> None:
    """Look at the page of a trace, and keep the picture when asked to."""
    async with browser.opened(url, folder / "profile") as page:
        await page.shows(["agent turn", "authorize read_text_file", "tools/call read_text_file"])
        await page.click("authorize read_text_file")  # the last: that of the refused call
        await page.shows(["gateway.policy.rule.id", "files.no-keys", "secret_file"])
        picture = await page.picture(1190, 760)  # beside it is MLflow's own assistant
    assert len(picture) < 400_000
    if os.environ.get("WEIGHBRIDGE_PICTURES"):
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes(picture)
