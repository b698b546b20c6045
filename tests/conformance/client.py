"""The client side: does what a scenario asks of a client, by the SDK, through the gateway or not.

The suite starts it with the URL of its own server as the last argument, and judges what arrives
there. With `WEIGHBRIDGE_BETWEEN=1` a gateway of its own stands in between.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.context import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    TextContent,
)

from tests.conformance.gateway import gateway_between

Json = dict[str, Any]


async def accept(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Accept a form with the defaults of its schema."""
    del context
    content: Json = {}
    if isinstance(params, ElicitRequestFormParams):
        schema: Any = params.requested_schema
        content = {
            name: field["default"] if "default" in field else _some(field)
            for name, field in schema.get("properties", {}).items()
        }
    return ElicitResult(action="accept", content=content)


def _some(field: Mapping[str, Any]) -> Any:
    return {"boolean": True, "integer": 1, "number": 1.0}.get(str(field.get("type")), "text")


async def answer(
    context: ClientRequestContext, params: CreateMessageRequestParams
) -> CreateMessageResult:
    """Answer as a model would."""
    del context, params
    return CreateMessageResult(
        role="assistant", model="none", content=TextContent(type="text", text="Paris")
    )


async def run(  # noqa: C901 - one line a scenario
    scenario: str, client: Client, context: Json
) -> None:
    """Do what the scenario is about."""
    tools = (await client.list_tools()).tools
    names = [tool.name for tool in tools]
    match scenario:
        case "initialize" | "request-metadata":
            for name in names[:1]:
                await client.call_tool(name, {})
        case "tools_call":
            await client.call_tool("add_numbers", {"a": 5, "b": 3})
        case "sse-retry":
            await client.call_tool("test_reconnection", {})
        case "elicitation-sep1034-client-defaults":
            await client.call_tool("test_client_elicitation_defaults", {})
        case "http-standard-headers":
            for name in names:
                await client.call_tool(name, {})
            for resource in (await client.list_resources()).resources:
                await client.read_resource(resource.uri)
            for prompt in (await client.list_prompts()).prompts:
                await client.get_prompt(prompt.name, {})
        case "http-custom-headers":
            for call in context["toolCalls"]:
                await client.call_tool(call["name"], call["arguments"])
        case "http-invalid-tool-headers":
            for tool in tools:
                properties: Any = tool.input_schema.get("properties", {})
                await client.call_tool(tool.name, {k: _some(v) for k, v in properties.items()})
        case "json-schema-2020-12-preservation":
            schema = next(t.input_schema for t in tools if t.name == "json_schema_2020_12_tool")
            await client.call_tool("json_schema_echo", {"schema": schema})
        case _:
            for name in names:
                await client.call_tool(name, {})


@asynccontextmanager
async def target(url: str) -> AsyncGenerator[str]:
    """Return the URL to talk to: the suite's own, or that of a gateway before it."""
    if os.environ.get("WEIGHBRIDGE_BETWEEN") != "1":
        yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        async with gateway_between(url, Path(folder)) as between:
            yield between


async def main() -> None:
    """Run the scenario that the environment names."""
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
    context: Json = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    mode = version if version >= "2026" else "legacy"
    async with (
        target(sys.argv[-1]) as url,
        Client(url, mode=mode, elicitation_callback=accept, sampling_callback=answer) as client,
    ):
        await run(scenario, client, context)


if __name__ == "__main__":
    try:
        anyio.run(main)
    except subprocess.SubprocessError as error:
        sys.exit(str(error))
