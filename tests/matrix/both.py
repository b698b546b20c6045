"""A server of both eras on the official SDK, over stdio, with a note that is its process's own.

`python -m tests.matrix.both` offers `mem://both/note`; the tool `write` changes it and tells so,
`ask` asks for a row, and `die` ends the process in the middle of a call.
"""

import os
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    Tool,
    UnsubscribeRequestParams,
)

Context = ServerRequestContext[Any, Any]
NOTE = "mem://both/note"
TOOLS = ("write", "ask", "die")
ROW: dict[str, Any] = {"type": "object", "properties": {"row": {"type": "integer"}}}


class Both:
    """The handlers, and what they share."""

    def __init__(self) -> None:
        self.note = ""
        self.watched = set[str]()  # in the handshake era
        self.bus = InMemorySubscriptionBus()  # in the stateless one

    async def tools(self, context: Context, params: PaginatedRequestParams | None) -> Any:
        """List the tools."""
        return ListToolsResult(
            tools=[Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
        )

    async def resources(self, context: Context, params: PaginatedRequestParams | None) -> Any:
        """List the note."""
        return ListResourcesResult(resources=[Resource(uri=NOTE, name="note")])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> Any:
        """Return the note."""
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=self.note)])

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Tell of a resource from now on."""
        self.watched.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Tell of it no more."""
        self.watched.discard(str(params.uri))
        return EmptyResult()

    async def call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Run a tool."""
        said = "done"
        match params.name:
            case "write":
                self.note = str((params.arguments or {})["text"])
                if NOTE in self.watched:
                    await context.session.send_resource_updated(NOTE)
                await self.bus.publish(ResourceUpdated(uri=NOTE))
            case "ask":
                said = (await context.session.elicit_form("which row?", ROW)).action
            case _:
                os._exit(1)
        return CallToolResult(content=[TextContent(type="text", text=said)])


async def main() -> None:
    """Serve the parent process."""
    both = Both()
    server = Server(
        "both",
        version="1",
        on_list_tools=both.tools,
        on_list_resources=both.resources,
        on_read_resource=both.read,
        on_subscribe_resource=both.subscribe,
        on_unsubscribe_resource=both.unsubscribe,
        on_subscriptions_listen=ListenHandler(both.bus),
        on_call_tool=both.call,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
