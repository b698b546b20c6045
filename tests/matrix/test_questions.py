"""What a server asks reaches the caller of its call, and the answer the server, in every era."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import FileUrl

from tests.helpers.fake_server import until_async
from tests.matrix.additions import differences, plain, questions
from tests.matrix.fixtures import ANSWERS, CAPABILITIES, FORM, HUGE, QUESTIONS, URL, Json
from tests.matrix.houses import House, is_modern
from tests.matrix.wires import Answer, Heard, Wire, over_http

ERROR: Json = {"code": -1, "message": "the user said no", "data": {"n": HUGE, "real": 1.0}}
ERAS = [(a, b) for a in ("modern-http", "legacy-http") for b in ("modern-http", "legacy-http")]


def saying(result: Json) -> Answer:
    """Return what answers every question with one result."""
    return lambda question: {"result": result}


async def ask(wire: Wire, tool: str, answer: Answer | None, **arguments: Any) -> Heard:
    return await wire.request("tools/call", {"name": tool, "arguments": arguments}, answer=answer)


@pytest.mark.parametrize("tool", QUESTIONS)
async def test_a_question_and_its_answer_arrive_whole(
    house: House, caller: str, server: str, tool: str
) -> None:
    """case: RPC-05"""
    answer = saying(ANSWERS[tool])
    own = await ask(await house.direct(server, asks=True), tool, answer)
    heard = await ask(await house.caller(caller, asks=True), f"{server}__{tool}", answer)
    assert differences(questions(own.asked, server), questions(heard.asked)) == []
    assert differences(own.result["structuredContent"], heard.result["structuredContent"]) == []


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
async def test_prompts_and_resources_may_ask_too(
    house: House, caller: str, server: str, method: str
) -> None:
    """case: RPC-05"""
    prompt = method == "prompts/get"
    uri: Json = {"uri": f"mem://{server}/asked"}
    answer = saying(ANSWERS["ask_form"])
    direct, wire = await house.direct(server, asks=True), await house.caller(caller, asks=True)
    own = await direct.request(method, {"name": "asking"} if prompt else uri, answer=answer)
    params: Json = {"name": f"{server}__asking"} if prompt else uri
    heard = await wire.request(method, params, answer=answer)
    assert differences(questions(own.asked, server), questions(heard.asked)) == []
    assert differences(plain(own.result), plain(heard.result)) == []


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_decline(house: House, caller: str, server: str, action: str) -> None:
    wire = await house.caller(caller, asks=True)
    heard = await ask(wire, f"{server}__ask_form", saying({"action": action}))
    assert heard.result["structuredContent"]["result"] == {"action": action}


async def test_a_server_may_ask_more_than_once(house: House, caller: str, server: str) -> None:
    wire = await house.caller(caller, asks=True)
    heard = await ask(
        wire,
        f"{server}__ask_twice",
        lambda question: {"result": {"action": "accept", "n": len(question["params"]["message"])}},
    )
    led = [f"{server} asks: {asked['params']['message']}" for asked in (FORM, URL)]
    assert [asked["params"]["message"] for asked in heard.asked] == led
    lengths = [len(message) for message in led]
    told = [{"action": "accept", "n": length} for length in lengths]
    assert heard.result["structuredContent"]["told"] == told


async def test_nobody_is_asked_who_has_declared_nothing(
    house: House, caller: str, server: str
) -> None:
    wire = await house.caller(caller)
    heard = await ask(wire, f"{server}__ask_form", saying({"action": "accept"}))
    assert heard.asked == []
    if is_modern(server):  # it broke a rule: the gateway told it that nobody can be asked
        assert heard.result["isError"] is True
    else:
        assert heard.result["structuredContent"]["error"]["code"] == -32601


@pytest.mark.parametrize("tool", ["ask_form", "ask_model", "ask_roots"])
@pytest.mark.parametrize("caller", ["legacy-http", "legacy-stdio"])
async def test_an_error_of_the_client_reaches_the_server_that_asked(
    house: House, caller: str, server: str, tool: str
) -> None:
    """Stateless callers answer by a request, in which there is no room for an error."""
    wire = await house.caller(caller, asks=True)
    heard = await ask(wire, f"{server}__{tool}", lambda question: {"error": ERROR})
    if is_modern(server):
        refused = heard.result["structuredContent"]
        assert (refused["status"], refused["code"]) == ("result_invalid", "input_required")
        assert "the client answered with error -1" in refused["reason"]
        assert "the user said no" not in str(heard.result)  # its words may be a person's own
    else:
        own = await ask(
            await house.direct(server, asks=True), tool, lambda question: {"error": ERROR}
        )
        wanted = own.result["structuredContent"]["error"]
        assert differences(wanted, heard.result["structuredContent"]["error"]) == []


async def test_a_question_without_an_answer_ends_in_time_and_costs_nothing_else(
    house: House,
) -> None:
    """case: RPC-05"""
    tools = ("ask_form", "ask_model", "ask_roots")
    await asyncio.gather(*(unanswered(house, *eras, tool) for eras in ERAS for tool in tools))


async def unanswered(house: House, caller: str, server: str, tool: str) -> None:
    mark = f"{tool} unanswered {caller}"
    modern, url = is_modern(caller), house.gateway.url
    async with over_http(url, modern=modern, capabilities=CAPABILITIES) as wire:
        heard = await ask(wire, f"{server}__{tool}", lambda question: None, mark=mark)
        assert len(heard.asked) == 1
        if modern:
            assert heard.result["resultType"] == "input_required"
        else:
            assert heard.result["structuredContent"].keys() & {"error", "status"}
        if not is_modern(server):
            record = house.record(caller, server)
            assert record.call(mark) is not None
            await until_async(lambda: any("error" in each for each in record.messages(None)), 10)
        again = await ask(wire, f"{server}__echo", None)
        assert again.result["structuredContent"]["params"]["name"] == "echo"


async def test_a_state_of_another_request_is_refused(house: House) -> None:
    wire = await house.caller("modern-http", asks=True)
    heard = await ask(wire, "modern-http__ask_form", lambda question: None, row=1)
    state = heard.result["requestState"]
    assert "state of" not in state
    forged = await wire.request(
        "tools/call",
        {
            "name": "modern-http__ask_form",
            "arguments": {"row": 2},
            "requestState": state,
            "inputResponses": {"one": ANSWERS["ask_form"]},
        },
    )
    assert "error" in forged.message or forged.result["isError"] is True


class Person:
    """Who sits at a client of the official SDK."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        del context
        return ElicitResult(action="accept", content={"row": len(params.message)})

    async def sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context, params
        said = TextContent(type="text", text=self.name)
        return CreateMessageResult(role="assistant", model="m", content=said)

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root(uri=FileUrl(f"file:///{self.name}"))])


@asynccontextmanager
async def official(house: House, kind: str, person: Person) -> AsyncGenerator[Client]:
    async with Client(
        house.gateway.url,
        mode="2026-07-28" if is_modern(kind) else "legacy",
        elicitation_callback=person.elicit,
        sampling_callback=person.sample,
        list_roots_callback=person.roots,
    ) as client:
        yield client


@pytest.mark.parametrize("caller", ["modern-http", "legacy-http"])
async def test_the_official_client_is_asked_in_its_own_way(
    house: House, caller: str, server: str
) -> None:
    """case: RPC-05"""
    async with official(house, caller, Person("sam")) as client:
        told: dict[str, Any] = {}
        for tool in ("ask_form", "ask_model", "ask_roots"):
            result = await client.call_tool(f"{server}__{tool}", {})
            structure: Any = result.structured_content
            told[tool] = structure["result"]
    row = len(f"{server} asks: Which row?")
    assert told["ask_form"] == {"action": "accept", "content": {"row": row}}
    assert told["ask_model"]["content"]["text"] == "sam"
    assert told["ask_roots"]["roots"][0]["uri"] == "file:///sam"
