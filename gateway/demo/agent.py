"""An agent without a model: the official MCP client, and how it reads what the gateway says."""

import json
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, cast

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import RequestParamsMeta

from gateway import ids, jsontext
from gateway.client import meta as of_run
from gateway.demo.scene import Line, Step, Surprise
from gateway.listen.rpc import INSUFFICIENT_SCOPE
from gateway.results.envelope import OUTCOME
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Status

_REVISION: Final = "2026-07-28"
_TIMEOUT_S: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What came of one line of the script, as whoever spoke it sees it."""

    status: str
    reason: str
    code: str = ""
    rule: str = ""
    call_id: str = ""
    op_id: str = ""  # the operation that it was about
    request: str = ""  # the request for approval that it was about
    binding: str = ""  # the first digits of that request's binding, which people alone are shown
    run: str = ""  # the run that it was about
    replayed: bool = False
    surprise: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One connection to the gateway with one tenant's API key."""

    client: Client
    http: httpx2.AsyncClient
    url: str
    trace: str  # 32 hex digits; every call of the run belongs to this trace

    async def tools(self) -> frozenset[str]:
        """Return the names of the tools that this agent may see."""
        listed = await self.client.list_tools(cache_mode="bypass")
        return frozenset(tool.name for tool in listed.tools)

    async def call(self, step: Step, run: str = "") -> Said:
        """Make the call of one step; its host names the run that it is of, if any."""
        if step.raw:
            return _read(await self._post(step), step)
        named = of_run(run) if run else {}
        meta = cast("RequestParamsMeta", {"traceparent": self._traceparent(), **named})
        try:
            result = await self.client.call_tool(
                step.tool, step.arguments, read_timeout_seconds=_TIMEOUT_S, meta=meta
            )
        except MCPError as error:  # HTTP 403 with a challenge: the host may get another token
            status = Status.FORBIDDEN if error.code == INSUFFICIENT_SCOPE else "protocol error"
            return Said(status=status, reason=error.message)
        # The client's own types end here; the rest reads the JSON that was on the wire.
        return _read(cast("JsonObject", result.model_dump(by_alias=True, mode="json")), step)

    async def _post(self, step: Step) -> JsonObject:
        """Send what the client library refuses to send, as a sloppy client would."""
        meta: JsonObject = {
            "io.modelcontextprotocol/protocolVersion": _REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "traceparent": self._traceparent(),
        }
        params: JsonObject = {"name": step.tool, "arguments": step.arguments, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": _REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": step.tool,
        }
        answer = await self.http.post(self.url, content=body, headers=headers, timeout=_TIMEOUT_S)
        message = jsontext.parse_result(answer.content)
        result = message.get("result") if isinstance(message, dict) else None
        return result if isinstance(result, dict) else {}

    def _traceparent(self) -> str:
        return f"00-{self.trace}-{ids.span_id()}-01"


@asynccontextmanager
async def connected(url: str, key: str, trace: str) -> AsyncGenerator[Agent]:
    """Connect to the gateway for one tenant."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, read_timeout_seconds=_TIMEOUT_S) as client:
            yield Agent(client=client, http=http, url=url, trace=trace)


def difference(line: Line, said: Said) -> str:
    """Say how a line ended otherwise than the script expects, or return an empty string."""
    if said.surprise:
        return said.surprise
    if said.status != line.status:
        return f"expected {line.status}"
    if not isinstance(line, Step):
        return ""
    if line.code and said.code != line.code:
        return f"expected the code {line.code}, got {said.code or 'none'}"
    if line.rule and said.rule != line.rule:
        return f"expected the rule {line.rule}, got {said.rule or 'none'}"
    if line.replayed and not said.replayed:
        return "expected an answer that was given before"
    return ""


def shown_arguments(step: Step, room: int) -> str:
    """Write a step's arguments as a program would, cut to `room` characters."""
    parts = (f"{name}={_shown(value)}" for name, value in step.arguments.items())
    text = f"({', '.join(parts)})"
    return text if len(text) <= room else f"{text[: room - 3]}..)"


def _shown(value: Json) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN"
    return json.dumps(value, ensure_ascii=False, default=str)


def _read(result: JsonObject, step: Step) -> Said:
    meta = result.get("_meta")
    outcome = meta.get(OUTCOME) if isinstance(meta, dict) else None
    if not isinstance(outcome, dict):
        return Said(status="no outcome", reason="the answer does not come from the gateway")
    status = str(outcome.get("status", ""))
    reason, surprise = _reason(outcome), ""
    structured = result.get("structuredContent")
    told = structured if isinstance(structured, dict) else {}
    if status == Status.OK:
        try:
            reason = step.observe(told)
        except Surprise as error:
            surprise = str(error)
    return Said(
        status=status,
        reason=reason,
        code=str(outcome.get("code", "")),
        rule=str(outcome.get("rule", "")),
        call_id=str(outcome.get("call_id", "")),
        op_id=str(outcome.get("op_id", "")),
        request=str(outcome.get("approval_id", "")),
        run=str(told.get("run_id", "")),
        replayed=outcome.get("replayed") is True,
        surprise=surprise,
    )


def _reason(outcome: JsonObject) -> str:
    reason = str(outcome.get("reason", ""))
    wait = outcome.get("retry_after_s")
    return f"{reason}; try again in {wait} s" if wait is not None else reason
