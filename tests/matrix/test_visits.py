"""A server that wants a URL visited first (-32042) is held against the rules for its questions."""

import json
from collections.abc import AsyncGenerator

import pytest

from tests.helpers.gateway import Gateway, running
from tests.matrix.fixtures import CAPABILITIES, TASKS, URL, Json
from tests.matrix.houses import CONTRACTS, House, Servers, ready
from tests.matrix.wires import Heard, Wire, over_http

LEGACY = ["legacy-http", "legacy-stdio"]
STATELESS = ["modern-http", "modern-stdio"]
FORBIDDING = """\
rules:
  - {id: everything, decision: allow, match: {methods: ['*']}}
  - id: no-urls
    decision: deny
    match: {methods: [elicitation/create], servers: [legacy-http, legacy-stdio]}
"""


def entry(server: str, mark: str) -> Json:
    """Return what the caller of a server gets to see of the one URL."""
    theirs: Json = {**URL["params"], "elicitationId": f"visit {mark}", "vendor": 1}
    message = f"{server} asks: {URL['params']['message']}"
    return {**theirs, "message": message, "_meta": {"weighbridge/server": server}}


async def visit(wire: Wire, server: str, mark: str, **keywords: Json) -> Heard:
    """Make a call whose server wants a URL visited first; the same one again is a repeat."""
    call: Json = {"name": f"{server}__ask_visit", "arguments": {"mark": mark}}
    key = {"weighbridge/idempotencyKey": f"visit {mark} of {id(wire)}"}
    accept: Json = {"result": {"action": "accept"}}
    return await wire.request("tools/call", call, answer=lambda _: accept, **key, **keywords)


def asked(gateway: Gateway, call_id: str) -> list[str]:
    """Return what became of the questions of a call, as the event log has it."""
    bodies = [event["body"] for event in gateway.events("--call", call_id)]
    return [each["outcome"] for each in bodies if each.get("question") == "elicitation/create"]


@pytest.mark.parametrize("server", LEGACY)
@pytest.mark.parametrize("caller", LEGACY)
async def test_a_handshake_caller_gets_the_error_with_the_servers_name(
    house: House, caller: str, server: str
) -> None:
    wire, mark = await house.caller(caller, asks=True), f"{caller} {server}"
    error = (await visit(wire, server, mark)).error
    outcome = error["data"].pop("weighbridge/outcome")
    assert (error["code"], error["message"]) == (-32042, "visit this first")
    assert error["data"] == {"elicitations": [entry(server, mark)], "vendor": 1}
    assert (outcome["executed"], outcome["status"]) == ("no", "tool_failed")
    if caller == "legacy-http":
        assert asked(house.gateway, outcome["call_id"]) == ["asked"]
    assert (await visit(wire, server, mark)).result["content"][0]["text"] == "visited"


@pytest.mark.parametrize("caller", STATELESS)
async def test_a_stateless_caller_is_asked_in_the_way_of_its_revision(
    house: House, caller: str, server: str
) -> None:
    wire, mark = await house.caller(caller, asks=True), f"{caller} {server}"
    heard = await visit(wire, server, mark)
    assert heard.asked == [{"method": "elicitation/create", "params": entry(server, mark)}]
    params = heard.result["structuredContent"]["params"]
    assert params.keys() <= {"name", "arguments", "_meta"}  # the answers were to the gateway


async def test_who_opens_no_urls_is_shown_none(house: House, caller: str) -> None:
    wire = await house.caller(caller)
    refused = (await visit(wire, "legacy-http", f"unable {caller}")).result
    assert (refused["isError"], refused["structuredContent"]["executed"]) == (True, "no")
    assert refused["structuredContent"]["status"] == "result_invalid"
    assert URL["params"]["url"] not in json.dumps(refused)


async def test_a_form_is_no_url(house: House) -> None:
    only: Json = {"elicitation": {"form": {}}}
    for modern in (True, False):
        async with over_http(house.gateway.url, modern=modern, capabilities=only) as wire:
            refused = (await visit(wire, "legacy-http", f"forms {modern}")).result
        assert refused["structuredContent"]["code"] == "input_required"
        assert "does not open URLs" in refused["structuredContent"]["reason"]


@pytest.fixture(scope="module")
async def forbidding(
    house: House, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Gateway]:
    """A gateway of the same servers, two of which may ask nobody anything."""
    folder = tmp_path_factory.mktemp("forbidding")
    config = Servers(folder=folder, urls=house.urls).config()
    async with running(folder, config, policy=FORBIDDING, contracts=CONTRACTS) as gateway:
        yield gateway


@pytest.mark.parametrize("server", LEGACY)
@pytest.mark.parametrize("modern", [True, False])
async def test_what_policy_forbids_to_ask_is_refused_in_this_form_too(
    forbidding: Gateway, server: str, modern: bool
) -> None:
    url = forbidding.url
    async with over_http(url, modern=modern, capabilities=CAPABILITIES) as caller:
        await ready(caller)
        refused = (await visit(caller, server, f"forbidden {modern}")).result
    said = refused["structuredContent"]
    assert (said["status"], said["rule"], said["executed"]) == ("denied", "no-urls", "no")
    assert URL["params"]["url"] not in json.dumps(refused)
    assert asked(forbidding, said["call_id"]) == ["forbidden"]


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("caller", STATELESS)
async def test_a_task_is_nothing_to_a_client_without_the_extension(
    house: House, caller: str, method: str
) -> None:
    error = (await (await house.caller(caller)).request(method, {"taskId": "x"})).error
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
