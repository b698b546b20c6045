"""The server behind the gateway: every fixture of the conformance suite, in both eras.

Answers are plain JSON from a middleware, so that no model of the SDK adds or drops a member:
`python -m tests.conformance.backend PORT` over HTTP, without a port over stdio.
"""

import asyncio
import json
import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import ServerCapabilities

from tests.conformance.declared import (
    CACHED,
    CAPABILITIES,
    CAPABILITY_OF,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    MODERN,
    NOT_FOUND_LEGACY,
    PROMPTS,
    ROUNDS,
    SCHEMAS,
    STATEFUL,
    TEMPLATE,
    an_object,
    resources,
)
from tests.conformance.fixtures import (
    DEFAULTS,
    ENUMS,
    FIXED,
    NAME,
    RESOURCES,
    ROOTS,
    Json,
    form,
    message,
    sampling,
    text,
)
from tests.conformance.streams import Events

Context = ServerRequestContext[Any, Any]


class _Declared(Server[Any]):
    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Declare everything, whichever handlers there are."""
        return ServerCapabilities.model_validate(CAPABILITIES)


class Backend:
    """Answers every method with plain JSON."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.server: Server[Any] = _Declared(
            "conformance-backend",
            version="1",
            get_tool_input_schema=SCHEMAS.get,
            on_subscriptions_listen=ListenHandler(self.bus),
        )
        self.server.middleware = [
            RequestStateBoundary(
                RequestStateSecurity(keys=[b"s" * 32]), default_audience="backend"
            ),
            self.answer,
        ]
        self._extra_tools = 0
        self._extra_prompts = 0
        self._subscribed: dict[str, list[Context]] = {}

    async def answer(  # noqa: C901 - one line a method
        self, ctx: Context, call_next: CallNext
    ) -> HandlerResult:
        """Answer one request, or leave it to the SDK."""
        params: Json = dict(ctx.params or {})
        if ctx.protocol_version == MODERN and ctx.method in _OF_THE_HANDSHAKE_ERA:
            return await call_next(ctx)
        match ctx.method:
            case "tools/list":
                return self._done(ctx, {"tools": self._tools(), **self._cached(ctx)})
            case "tools/call":
                return self._done(ctx, await self._call(ctx, params))
            case "resources/list":
                return self._done(ctx, {"resources": resources(), **self._cached(ctx)})
            case "resources/templates/list":
                return self._done(ctx, {"resourceTemplates": [TEMPLATE], **self._cached(ctx)})
            case "resources/read":
                return self._done(ctx, {**_read(ctx, str(params["uri"])), **self._cached(ctx)})
            case "resources/subscribe":
                self._subscribed.setdefault(str(params["uri"]), []).append(ctx)
                return {}
            case "resources/unsubscribe":
                self._subscribed.pop(str(params["uri"]), None)
                return {}
            case "prompts/list":
                return self._done(ctx, {"prompts": self._prompts(), **self._cached(ctx)})
            case "prompts/get":
                return self._done(ctx, self._prompt(ctx, params))
            case "completion/complete":
                values = [v for v in ("paris", "park", "party") if v.startswith(_argument(params))]
                completion = {"values": values, "total": len(values), "hasMore": False}
                return self._done(ctx, {"completion": completion})
            case "logging/setLevel":
                return {}
            case _:
                return await call_next(ctx)

    def _done(self, ctx: Context, result: Json) -> Json:
        if ctx.protocol_version != MODERN:
            return result
        info = {"io.modelcontextprotocol/serverInfo": {"name": "backend", "version": "1"}}
        return {"resultType": "complete", "_meta": info, **result}

    def _cached(self, ctx: Context) -> Json:
        return CACHED if ctx.protocol_version == MODERN else {}

    def _tools(self) -> list[Json]:
        extra = {f"test_extra_{number}": an_object() for number in range(self._extra_tools)}
        return [
            {"name": name, "description": f"Fixture {name}", "inputSchema": schema}
            for name, schema in sorted({**SCHEMAS, **extra}.items())
        ]

    def _prompts(self) -> list[Json]:
        extra = {f"extra_{number}": {"description": "d"} for number in range(self._extra_prompts)}
        return [{"name": name, **more} for name, more in sorted({**PROMPTS, **extra}.items())]

    async def _call(self, ctx: Context, params: Json) -> Json:  # noqa: C901 - one line a fixture
        name, arguments = str(params["name"]), dict(params.get("arguments") or {})
        if name in FIXED:
            return FIXED[name]
        if name in ROUNDS:
            return _round(ctx, name, params) or text(_told(name, params))
        match name:
            case "test_tool_with_logging" | "test_logging_tool":
                return await _logging(ctx)
            case "test_tool_with_progress":
                return await _progress(ctx)
            case "test_sampling":
                asked = sampling(str(arguments["prompt"]), 100)
                said = await _ask(ctx, asked)
                return text(f"LLM response: {said['content']['text']}")
            case "test_elicitation":
                shape = {
                    "username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"},
                }
                asked = form(str(arguments["message"]), shape, ["username", "email"])
                return text(f"User response: {_said(await _ask(ctx, asked))}")
            case "test_elicitation_sep1034_defaults":
                return text(f"Elicitation completed: {_said(await _ask(ctx, DEFAULTS))}")
            case "test_elicitation_sep1330_enums":
                return text(f"Elicitation completed: {_said(await _ask(ctx, ENUMS))}")
            case "test_reconnection":
                if ctx.close_sse_stream is not None:  # there is none over stdio
                    await ctx.close_sse_stream()
                await asyncio.sleep(0.1)
                return text("Reconnection test completed successfully")
            case "test_missing_capability":
                return _needs_sampling(ctx)
            case "test_input_required_result_capabilities":
                return _as_far_as_declared(ctx, params)
            case "test_trigger_tool_change":
                self._extra_tools += 1
                await self._tell(ctx, ToolsListChanged(), "tools")
                return text("changed")
            case "test_trigger_prompt_change":
                self._extra_prompts += 1
                await self._tell(ctx, PromptsListChanged(), "prompts")
                return text("changed")
            case "test_update_resource":
                return await self._update("test://watched-resource")
            case "json_schema_2020_12_tool" | "test_custom_header":
                return text(json.dumps(arguments, sort_keys=True))
            case _ if name.startswith("test_extra_"):
                return text("extra")
            case _:
                raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name}")

    async def _tell(
        self,
        ctx: Context,
        change: ToolsListChanged | PromptsListChanged | ResourcesListChanged,
        kind: str,
    ) -> None:
        await self.bus.publish(change)
        if ctx.protocol_version != MODERN:
            connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage] - no other way
            await connection.notify(f"notifications/{kind}/list_changed", None)

    async def _update(self, uri: str) -> Json:
        await self.bus.publish(ResourceUpdated(uri=uri))
        for ctx in self._subscribed.get(uri, ()):
            await ctx.session.send_resource_updated(uri)
        return text("updated")

    def _prompt(self, ctx: Context, params: Json) -> Json:
        name, arguments = str(params["name"]), dict(params.get("arguments") or {})
        match name:
            case "test_simple_prompt":
                said = "This is a simple prompt for testing."
                return {"messages": [message({"type": "text", "text": said})]}
            case "test_prompt_with_arguments":
                said = f"Prompt with arguments: arg1='{arguments['arg1']}', "
                said += f"arg2='{arguments['arg2']}'"
                return {"messages": [message({"type": "text", "text": said})]}
            case "test_prompt_with_embedded_resource":
                resource = {
                    "uri": arguments["resourceUri"],
                    "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                }
                please = "Please process the embedded resource above."
                return {
                    "messages": [
                        message({"type": "resource", "resource": resource}),
                        message({"type": "text", "text": please}),
                    ]
                }
            case "test_prompt_with_image":
                image = FIXED["test_image_content"]["content"][0]
                please = {"type": "text", "text": "Please analyze the image above."}
                return {"messages": [message(image), message(please)]}
            case "test_input_required_result_prompt":
                asked = _round(ctx, name, params)
                said = f"With {_told(name, params)}" if asked is None else ""
                return asked or {"messages": [message({"type": "text", "text": said})]}
            case _:
                raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {name}")


_OF_THE_HANDSHAKE_ERA = frozenset(
    {"logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)


def _read(ctx: Context, uri: str) -> Json:
    contents = RESOURCES.get(uri)
    if contents is not None:
        return {"contents": [{"uri": uri, **contents}]}
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.removeprefix("test://template/").removesuffix("/data")
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        return {
            "contents": [
                {
                    "uri": uri,
                    "mimeType": "application/json",
                    "text": json.dumps(data, separators=(",", ":")),
                }
            ]
        }
    code = INVALID_PARAMS if ctx.protocol_version == MODERN else NOT_FOUND_LEGACY
    raise MCPError(code=code, message="Resource not found", data={"uri": uri})


def _declared(ctx: Context) -> Json:
    meta: Json = dict((ctx.params or {}).get("_meta") or {})
    return dict(meta.get("io.modelcontextprotocol/clientCapabilities") or {})


def _round(ctx: Context, name: str, params: Json) -> Json | None:
    """Return what the tool still wants to know, or None when it has been told everything."""
    del ctx
    given: dict[str, Any] | None = params.get("inputResponses")
    state: Any = params.get("requestState")
    rounds = ROUNDS[name]
    place = int(str(state).rpartition(":")[2]) if state is not None else 0
    wanted = rounds[place]
    answered = isinstance(given, dict) and all(isinstance(given.get(key), dict) for key in wanted)
    if not answered:
        return _asking(name, wanted, place)
    if place + 1 < len(rounds):
        return _asking(name, rounds[place + 1], place + 1)
    return None


def _asking(name: str, wanted: Json, place: int) -> Json:
    asked: Json = {"resultType": "input_required", "inputRequests": wanted}
    return {**asked, "requestState": f"{name}:{place}"} if name in STATEFUL else asked


def _told(name: str, params: Json) -> str:
    given: Any = params.get("inputResponses") or {}
    if name == "test_input_required_result_elicitation":
        content: Any = given["user_name"].get("content") or {}
        return f"Hello, {content.get('name')}!"
    return f"state-ok {json.dumps(given, sort_keys=True)}"


def _as_far_as_declared(ctx: Context, params: Json) -> Json:
    if isinstance(params.get("inputResponses"), dict):
        return text("answered")
    possible = {"name": NAME, "haiku": sampling("A haiku, please", 50), "places": ROOTS}
    declared = _declared(ctx)
    wanted = {
        key: asked
        for key, asked in possible.items()
        if CAPABILITY_OF[str(asked["method"])] in declared
    }
    return {"resultType": "input_required", "inputRequests": wanted} if wanted else text("alone")


def _needs_sampling(ctx: Context) -> Json:
    if "sampling" in _declared(ctx):
        return text("has it")
    raise MCPError(
        code=MISSING_CAPABILITY,
        message="Missing required client capability",
        data={"requiredCapabilities": {"sampling": {}}},
    )


async def _ask(ctx: Context, asked: Json) -> Json:
    """Ask the client live, on the stream of its own request."""
    outbound = ctx.session._request_outbound  # pyright: ignore[reportPrivateUsage] - raw JSON
    return dict(await outbound.send_raw_request(str(asked["method"]), asked["params"]))


def _said(answer: Json) -> str:
    return f"action={answer.get('action')}, content={json.dumps(answer.get('content'))}"


async def _logging(ctx: Context) -> Json:
    for number, said in enumerate(
        ("Tool execution started", "Tool processing data", "Tool execution completed")
    ):
        if number:
            await asyncio.sleep(0.05)
        await ctx.session.send_log_message("info", said, related_request_id=ctx.request_id)  # pyright: ignore[reportDeprecated] - the era has it
    return text("Tool with logging executed successfully")


async def _progress(ctx: Context) -> Json:
    for number, done in enumerate((0, 50, 100)):
        if number:
            await asyncio.sleep(0.05)
        await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
    return text("Tool with progress executed successfully")


def _argument(params: Json) -> str:
    argument: Any = params.get("argument") or {}
    return str(argument.get("value", ""))


async def _over_stdio() -> None:
    backend = Backend()
    async with stdio_server() as (reading, writing):
        options = backend.server.create_initialization_options()
        await backend.server.run(reading, writing, options)


def main() -> None:
    """Serve over HTTP on the given port, or over stdio."""
    if len(sys.argv) < 2:
        anyio.run(_over_stdio)
        return
    app = Backend().server.streamable_http_app(event_store=Events(), retry_interval=100)
    uvicorn.run(app, host="localhost", port=int(sys.argv[1]), http="h11", log_level="warning")


if __name__ == "__main__":
    main()
