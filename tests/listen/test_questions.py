"""Questions to clients of the handshake era, live and on the stream of their own request."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)
from pydantic import FileUrl

from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, House, serving
from tests.listen.program import PROGRAM
from tests.listen.raw import child

LARGE = 10**30


class Person:
    """Who sits at a client and answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logs: list[LoggingMessageNotificationParams] = []
        self.refuses = False
        self.waits = False
        self.waiting = anyio.Event()
        self.released = anyio.Event()

    async def elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        del context
        self.asked.append(params.message)
        if self.waits:
            self.waiting.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.released.set()
        if self.refuses:
            return ErrorData(code=-32042, message="not now", data={"n": LARGE})
        return ElicitResult(action="accept", content={"ok": True, "n": LARGE})

    async def sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context, params
        self.asked.append("model")
        text = TextContent(type="text", text="hello")
        return CreateMessageResult(role="assistant", model="m", content=text)

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        del context
        self.asked.append("roots")
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///home"))])

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        self.logs.append(params)


Connect = Callable[[Person], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_http(person: Person) -> AsyncGenerator[Client]:
    async with (
        serving(House()) as place,
        httpx2.AsyncClient(headers={"Authorization": "Bearer ada"}) as http,
        Client(
            streamable_http_client(place.url, http_client=http),
            mode="legacy",
            elicitation_callback=person.elicit,
            sampling_callback=person.sample,
            list_roots_callback=person.roots,
            logging_callback=person.log,
        ) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(person: Person) -> AsyncGenerator[Client]:
    async with Client(
        stdio_client(PROGRAM),
        mode="legacy",
        elicitation_callback=person.elicit,
        sampling_callback=person.sample,
        list_roots_callback=person.roots,
        logging_callback=person.log,
    ) as client:
        yield client


@pytest.fixture(params=[over_http, over_stdio])
def connect(request: pytest.FixtureRequest) -> Connect:
    return request.param


async def _asked(client: Client, method: str, **more: Json) -> JsonObject:
    with anyio.fail_after(LIMIT_S):
        result = await client.call_tool("ask", {"method": method, **more})
    return child(result.structured_content)


async def test_each_kind_of_question_is_answered_by_who_made_the_call(connect: Connect) -> None:
    """case: RPC-05"""
    person = Person()
    async with connect(person) as client:
        form = await _asked(client, "elicitation/create")
        turn = await _asked(client, "sampling/createMessage")
        roots = await _asked(client, "roots/list")
    assert form["answer"] == {"action": "accept", "content": {"ok": True, "n": LARGE}}
    assert child(turn, "answer", "content")["text"] == "hello"
    assert child(roots, "answer")["roots"] == [{"uri": "file:///home"}]
    assert person.asked == ["sure?", "model", "roots"]


async def test_an_error_of_the_client_passes_with_code_and_data(connect: Connect) -> None:
    person = Person()
    person.refuses = True
    async with connect(person) as client:
        came = await _asked(client, "elicitation/create")
    assert came["refused"] == {"code": -32042, "message": "not now", "data": {"n": LARGE}}


async def test_what_a_client_did_not_declare_is_not_asked() -> None:
    """case: RPC-05"""
    async with (
        serving(House()) as place,
        httpx2.AsyncClient(headers={"Authorization": "Bearer ada"}) as http,
        Client(streamable_http_client(place.url, http_client=http), mode="legacy") as client,
    ):
        for method in ("elicitation/create", "sampling/createMessage", "roots/list", "own/ask"):
            came = await _asked(client, method)
            assert child(came, "refused")["code"] == -32601


async def test_an_answer_that_takes_too_long_is_given_up_and_the_client_told(
    connect: Connect,
) -> None:
    person = Person()
    person.waits = True
    async with connect(person) as client:
        came = await _asked(client, "elicitation/create", within_s=0.2)
        assert child(came, "refused")["code"] == -32001
        with anyio.fail_after(LIMIT_S):
            await person.released.wait()
        person.waits = False
        assert "answer" in await _asked(client, "elicitation/create")


async def test_a_cancelled_request_takes_its_question_back(connect: Connect) -> None:
    person = Person()
    person.waits = True
    async with connect(person) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_asked, client, "elicitation/create")
            with anyio.fail_after(LIMIT_S):
                await person.waiting.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(LIMIT_S):
            await person.released.wait()
        person.waits = False
        assert "answer" in await _asked(client, "elicitation/create")


async def test_a_client_gets_log_messages_from_its_level_on(connect: Connect) -> None:
    person = Person()
    async with connect(person) as client:
        await client.call_tool("log")
        everything = [log.level for log in person.logs]
        person.logs.clear()
        with pytest.warns(MCPDeprecationWarning):
            await client.set_logging_level("error")  # pyright: ignore[reportDeprecated] - served still
        await client.call_tool("log")
        who = (await client.call_tool("who")).structured_content
    assert everything == ["debug", "info", "error"]  # the SDK drops the level that nobody knows
    assert [log.level for log in person.logs] == ["error"]
    assert child(who)["logLevel"] == "error"
    assert child(who, "capabilities").keys() >= {"elicitation", "sampling", "roots"}
    assert child(who)["session"]


async def test_the_gate_hears_that_a_clients_roots_changed() -> None:
    house, person = House(), Person()
    async with (
        serving(house) as place,
        httpx2.AsyncClient(headers={"Authorization": "Bearer ada"}) as http,
        Client(
            streamable_http_client(place.url, http_client=http),
            mode="legacy",
            list_roots_callback=person.roots,
        ) as client,
    ):
        await client.call_tool("echo", {})
        with pytest.warns(MCPDeprecationWarning):
            await client.send_roots_list_changed()  # pyright: ignore[reportDeprecated] - of its era
        with anyio.fail_after(LIMIT_S):
            while not house.roots:
                await anyio.sleep(0.01)
    assert house.roots == [("ada", house.calls[0].caller.session)]
