"""Real SDK clients in both eras, over HTTP and over stdio."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, TextContent, TextResourceContents

from tests.listen.house import LIMIT_S, House, serving

Mode = Literal["legacy", "2026-07-28", "auto"]
Connect = Callable[[Mode], AbstractAsyncContextManager[Client]]

PROGRAM = Path(__file__).with_name("stdio_program.py")


@asynccontextmanager
async def over_http(mode: Mode, house: House | None = None) -> AsyncGenerator[Client]:
    async with (
        serving(house or House()) as place,
        httpx2.AsyncClient(headers={"Authorization": "Bearer ada"}) as http,
        Client(streamable_http_client(place.url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(mode: Mode) -> AsyncGenerator[Client]:
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "tests.listen.stdio_program"], cwd=PROGRAM.parents[2]
    )
    async with Client(stdio_client(program), mode=mode) as client:
        yield client


@pytest.fixture(params=["http", "stdio"])
def connect(request: pytest.FixtureRequest) -> Connect:
    return over_http if request.param == "http" else over_stdio


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> Mode:
    return request.param


async def test_a_call_and_a_list_go_through(connect: Connect, mode: Mode) -> None:
    async with connect(mode) as client:
        result = await client.call_tool("echo", {"n": 10**30, "text": "é"})
        page = await client.list_tools()
        rest = await client.list_tools(cursor=page.next_cursor)
    assert result.structured_content == {"n": 10**30, "text": "é"}
    assert not result.is_error
    assert [tool.name for tool in page.tools + rest.tools] == [
        "echo",
        "open",
        "region",
        "slow",
        "steps",
    ]


async def test_progress_arrives_in_order(connect: Connect, mode: Mode) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with connect(mode) as client:
        await client.call_tool("steps", progress_callback=note)
    assert seen == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]


async def test_every_kind_of_failure_has_its_form(connect: Connect, mode: Mode) -> None:
    """case: OUT-04"""
    async with connect(mode) as client:
        refused = await client.call_tool("nothing")
        with pytest.raises(MCPError) as fault:
            await client.call_tool("broken")
        with pytest.raises(MCPError) as cursor:
            await client.list_tools(cursor="made-up")
    assert refused.is_error
    assert isinstance(refused.content[0], TextContent)
    assert refused.content[0].text == "there is no such tool"
    assert (fault.value.error.code, fault.value.error.message) == (-32603, "Internal error")
    assert cursor.value.error.code == -32602


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_gateway_introduces_itself(connect: Connect, mode: Mode) -> None:
    async with connect(mode) as client:
        assert client.server_info is not None
        assert client.server_info.name == "weighbridge"
        tools = client.server_capabilities.tools
        assert tools is not None
        assert tools.list_changed
        assert client.server_capabilities.prompts is not None
        assert client.server_capabilities.prompts.list_changed
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.subscribe
        assert "isError" in (client.instructions or "")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_cancelled_call_is_cancelled_inside(mode: Mode) -> None:
    house = House()
    async with over_http(mode, house) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "slow")
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()


async def test_a_cancelled_call_over_stdio_leaves_the_connection_usable(mode: Mode) -> None:
    async with over_stdio(mode) as client:
        with anyio.move_on_after(0.2):
            await client.call_tool("slow")
        result = await client.call_tool("was_slow_cancelled")
    assert result.structured_content == {"cancelled": True}


async def test_a_stateless_client_hears_that_tools_changed() -> None:
    house = House()
    async with over_http("2026-07-28", house) as client:
        before = len(house.listeners)
        async with client.listen(tools_list_changed=True) as events:
            with anyio.fail_after(LIMIT_S):
                assert len(house.listeners) == before + 1
                house.change()
                assert type(await anext(aiter(events))).__name__ == "ToolsListChanged"


async def test_a_stateless_client_over_stdio_hears_that_tools_changed() -> None:
    async with (
        over_stdio("2026-07-28") as client,
        client.listen(tools_list_changed=True) as events,
    ):
        with anyio.fail_after(LIMIT_S):
            await client.call_tool("change")
            assert type(await anext(aiter(events))).__name__ == "ToolsListChanged"


async def test_a_handshake_client_hears_that_tools_changed_over_stdio() -> None:
    heard = anyio.Event()

    async def on_message(message: object) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            heard.set()

    program = StdioServerParameters(
        command=sys.executable, args=["-m", "tests.listen.stdio_program"], cwd=PROGRAM.parents[2]
    )
    async with Client(stdio_client(program), mode="legacy", message_handler=on_message) as client:
        await client.call_tool("change")
        with anyio.fail_after(LIMIT_S):
            await heard.wait()


async def test_ping_works_in_the_handshake_era_only() -> None:
    async with (
        serving(House()) as place,
        httpx2.AsyncClient(headers={"Authorization": "Bearer ada"}) as http,
        streamable_http_client(place.url, http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        await session.send_ping()


async def test_everything_else_goes_through_too(connect: Connect, mode: Mode) -> None:
    async with connect(mode) as client:
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        read = await client.read_resource("note://one")
        prompt = await client.get_prompt("prompt1", {"who": "ada"})
        ref = PromptReference(type="ref/prompt", name="prompt1")
        values = (await client.complete(ref, {"name": "who", "value": "a"})).completion.values
        with pytest.raises(MCPError) as gone:
            await client.read_resource("note://gone")
    assert [resource.uri for resource in resources] == ["note://one", "note://two"]
    assert [template.uri_template for template in templates] == ["note://{name}"]
    assert [prompt.name for prompt in prompts] == ["prompt0", "prompt1", "prompt2"]
    assert isinstance(read.contents[0], TextResourceContents)
    assert read.contents[0].text == "the first"
    assert isinstance(prompt.messages[0].content, TextContent)
    assert prompt.messages[0].content.text == "hello ada"
    assert values == ["prompt1-a", "prompt1-b"]
    assert gone.value.error.data == {"name": "note://gone"}


async def test_a_stateless_client_hears_of_a_resource_over_http() -> None:
    house = House()
    async with (
        over_http("2026-07-28", house) as client,
        client.listen(resource_subscriptions=["note://one", "note://gone"]) as events,
    ):
        with anyio.fail_after(LIMIT_S):
            house.update("note://one")
            heard = await anext(aiter(events))
            assert (type(heard).__name__, getattr(heard, "uri", "")) == (
                "ResourceUpdated",
                "note://one",
            )
