"""Resources, prompts and completions through the real command, under the same rules as tools."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.helpers.fake_server import EVERYTHING, Script, record_of, text, tool, until_async
from tests.helpers.gateway import MODERN, Gateway, running
from tests.journeys import house
from tests.journeys.house import Json

OWN, SHARED, SECRET = "mem://alpha/own", "mem://shared/rows", "mem://alpha/secret"
OF_BETA = "weighbridge://beta/mem%3A%2F%2Fshared%2Frows"
OF_ALPHA = "weighbridge://alpha/mem%3A%2F%2Fshared%2Frows"
PROMPTS = ["alpha__greet", "beta__greet"]
LISTED = [OWN, OF_ALPHA, OF_BETA]
ROWS = '{"id": 7, "mail": "ann@example.org"}'
POLICY = """\
rules:
  - id: notes
    decision: allow
    match: {resources: ["mem://alpha/own", "mem://alpha/{id}", "mem://alpha/7"]}
  - id: rows
    decision: allow
    match: {resources: ["mem://shared/*"]}
    output: {keep: [/id]}
  - id: touch
    decision: allow
    match: {tools: ["alpha.touch"]}
  - id: greet
    decision: allow
    match: {prompts: ["*.greet"]}
"""


def a_server(name: str, *resources: str) -> Script:
    """Return a server whose resources hold rows, and whose prompt greets."""
    block: Json = {"type": "text", "text": f"hello from {name}"}
    updated: Json = {"method": "notifications/resources/updated", "params": {"uri": OWN}}
    return Script(
        eras=["legacy"],  # there, updates come without a stream of their own
        tools=[tool("touch")],
        on_call={"touch": [{"notify": updated}, {"reply": text("touched")}]},
        capabilities=EVERYTHING | {"completions": {}},
        resources=[{"uri": uri, "name": "n", "vendor": [1]} for uri in resources],
        templates=[{"uriTemplate": f"mem://{name}/{{id}}", "name": "t"}],
        prompts=[{"name": "greet", "arguments": [{"name": "who"}]}],
        on_method={
            "resources/read": [{"reply": {"contents": [{"uri": resources[-1], "text": ROWS}]}}],
            "prompts/get": [{"reply": {"messages": [{"role": "user", "content": block}]}}],
            "completion/complete": [{"reply": {"completion": {"values": ["Ann"]}}}],
        },
    )


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder = tmp_path_factory.mktemp("reads")
    servers = {
        "alpha": house.stdio(a_server("alpha", OWN, SECRET, SHARED), folder, "alpha"),
        "beta": house.stdio(a_server("beta", SHARED), folder, "beta"),
    }
    async with running(folder, house.unreviewed(servers), policy=POLICY) as gateway:
        async with asyncio.timeout(house.WITHIN_S):
            while await listed(gateway, "resources/list", "resources", "uri") != LISTED:
                await asyncio.sleep(0.02)
        yield gateway


def asked(gateway: Gateway, server: str, method: str) -> list[Json]:
    """Return what a server was asked, without what belongs to the hop."""
    calls = record_of(gateway.folder, server).calls(method)
    return [
        {key: value for key, value in call["params"].items() if key != "_meta"} for call in calls
    ]


async def read(gateway: Gateway, uri: str) -> dict[str, Any]:
    _, message = await gateway.send("resources/read", {"uri": uri}, Mcp_Name=uri)
    return message


async def listed(gateway: Gateway, method: str, member: str, name: str) -> list[str]:
    _, message = await gateway.send(method)
    return [item[name] for item in message["result"][member]]


async def test_lists_hold_what_rules_could_allow_and_uris_that_work(gateway: Gateway) -> None:
    """case: AUT-01, NAM-05"""
    assert await listed(gateway, "resources/list", "resources", "uri") == LISTED
    templates = await listed(
        gateway, "resources/templates/list", "resourceTemplates", "uriTemplate"
    )
    assert templates == ["mem://alpha/{id}"]
    assert await listed(gateway, "prompts/list", "prompts", "name") == PROMPTS
    assert await gateway.names() == ["alpha__touch"]


async def test_a_resource_is_read_from_its_own_server(gateway: Gateway) -> None:
    result = (await read(gateway, OWN))["result"]
    assert result["contents"] == [{"uri": SHARED, "text": ROWS}]
    assert result["_meta"]["weighbridge/untrusted"] == {"server": "alpha"}
    assert asked(gateway, "alpha", "resources/read")[-1] == {"uri": OWN}


async def test_a_qualified_uri_chooses_the_server_and_comes_back(gateway: Gateway) -> None:
    """case: NAM-05"""
    of_alpha = asked(gateway, "alpha", "resources/read")
    result = (await read(gateway, OF_BETA))["result"]
    assert result["contents"] == [{"uri": OF_BETA, "text": '{"id":7}'}]
    assert result["_meta"]["weighbridge/outcome"]["redactions"] == 1
    assert asked(gateway, "beta", "resources/read")[-1] == {"uri": SHARED}
    assert asked(gateway, "alpha", "resources/read") == of_alpha


async def test_a_uri_of_two_servers_is_never_guessed(gateway: Gateway) -> None:
    """case: NAM-05"""
    error = (await read(gateway, SHARED))["error"]
    assert error["code"] == -32602
    assert error["data"]["weighbridge/outcome"]["code"] == "ambiguous_uri"
    assert OF_ALPHA in error["message"]
    assert OF_BETA in error["message"]


async def test_what_no_rule_could_allow_is_answered_like_what_is_not_there(
    gateway: Gateway,
) -> None:
    """case: AUT-01"""
    before = asked(gateway, "alpha", "resources/read")
    hidden, missing = await read(gateway, SECRET), await read(gateway, "mem://gamma/none")
    assert hidden["error"]["message"].replace(SECRET, "X") == missing["error"]["message"].replace(
        "mem://gamma/none", "X"
    )
    assert asked(gateway, "alpha", "resources/read") == before


async def test_a_link_in_a_result_can_be_read(gateway: Gateway) -> None:
    """case: OUT-06"""
    for uri in ("mem://alpha/7", "weighbridge://alpha/mem%3A%2F%2Falpha%2F7"):
        await read(gateway, uri)
        assert asked(gateway, "alpha", "resources/read")[-1] == {"uri": "mem://alpha/7"}


async def test_a_prompt_is_got_with_texts_only(gateway: Gateway) -> None:
    _, message = await gateway.send(
        "prompts/get", {"name": "alpha__greet", "arguments": {"who": "Ann"}}
    )
    assert message["result"]["messages"][0]["role"] == "user"
    _, message = await gateway.send(
        "prompts/get", {"name": "alpha__greet", "arguments": {"who": 7}}
    )
    assert message["error"]["code"] == -32602
    of_alpha = asked(gateway, "alpha", "prompts/get")
    assert of_alpha[-1] == {"name": "greet", "arguments": {"who": "Ann"}}


async def test_prompts_of_one_name_keep_their_owner(gateway: Gateway) -> None:
    """case: NAM-05"""
    for server in ("alpha", "beta"):
        params: Json = {"name": f"{server}__greet"}
        _, message = await gateway.send("prompts/get", params)
        assert message["result"]["messages"][0]["content"]["text"] == f"hello from {server}"
        assert asked(gateway, server, "prompts/get")[-1] == {"name": "greet"}


async def test_an_argument_is_completed_by_the_server_of_its_prompt(gateway: Gateway) -> None:
    params: Json = {
        "ref": {"type": "ref/prompt", "name": "alpha__greet"},
        "argument": {"name": "who", "value": "A"},
    }
    _, message = await gateway.send("completion/complete", params)
    assert message["result"]["completion"] == {"values": ["Ann"]}
    _, message = await gateway.send(
        "completion/complete", params | {"ref": {"type": "ref/prompt", "name": "gamma__greet"}}
    )
    assert message["error"]["code"] == -32602


async def test_every_read_is_in_the_log_with_its_rule_and_its_documents(gateway: Gateway) -> None:
    """case: OBS-01"""
    result = (await read(gateway, OF_BETA))["result"]
    call = result["_meta"]["weighbridge/outcome"]["call_id"]
    retrieved = await house.event(gateway.folder, kind="retrieval", call=call)
    (document,) = retrieved["body"]["documents"]
    assert document["id"] == OF_BETA
    assert document["digest"].startswith("hmac-sha256:")
    (decided,) = house.events(gateway.folder, kind="authorization", call=call)
    assert (decided["body"]["rule"], decided["body"]["method"]) == ("rows", "resources/read")
    assert "ann@example.org" not in str(house.events(gateway.folder))


async def test_updates_reach_those_who_may_watch_and_nobody_watches_what_is_hidden(
    gateway: Gateway,
) -> None:
    """case: AUT-01"""
    async with listening(gateway, OWN, SECRET) as frames:
        acknowledged = await anext(frames)
        honoured = acknowledged["params"]["notifications"]
        assert honoured == {"resourceSubscriptions": [OWN]}
        await gateway.call("alpha__touch")
        updated = await anext(frames)
        assert updated["method"] == "notifications/resources/updated"
        assert updated["params"]["uri"] == OWN
    assert asked(gateway, "alpha", "resources/subscribe") == [{"uri": OWN}]
    await until_async(lambda: asked(gateway, "alpha", "resources/unsubscribe"), house.WITHIN_S)
    denied = await house.event(
        gateway.folder, kind="tool_call", stage="failed", method="resources/subscribe"
    )
    assert denied["body"]["tool"] == SECRET


@asynccontextmanager
async def listening(gateway: Gateway, *uris: str) -> AsyncGenerator[AsyncGenerator[Json]]:
    """Open a stream of updates and yield its messages."""
    meta: Json = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: Json = {"notifications": {"resourceSubscriptions": list(uris)}, "_meta": meta}
    body: Json = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "subscriptions/listen",
    }

    async def frames(answer: aiohttp.ClientResponse) -> AsyncGenerator[Json]:
        async with asyncio.timeout(house.WITHIN_S):
            async for line in answer.content:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])

    async with (
        aiohttp.ClientSession() as session,
        session.post(gateway.url, json=body, headers=headers) as answer,
    ):
        yield frames(answer)
