"""Every answer through the gateway is the server's own, field by field, but for `additions`."""

import re

import pytest

from tests.matrix.additions import (
    ADDITIONS,
    differences,
    expected,
    item,
    params,
    plain,
    plain_error,
)
from tests.matrix.fixtures import ERRORS, FIXED, HUGE, META, Json
from tests.matrix.houses import ROOT, House, is_modern

ARGUMENTS: Json = {
    "huge": HUGE,
    "one": 1,
    "real": 1.0,
    "none": None,
    "nested": [{"": [[]]}, {"ü": "\u2028"}],
    "_meta": {"progressToken": "an argument like any other"},
}
LISTS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "prompts/list": ("prompts", "name"),
}


async def in_full(house: House, kind: str, method: str, *, direct: bool) -> list[Json]:
    """Return a whole list, page by page."""
    wire = await (house.direct(kind) if direct else house.caller(kind))
    items: list[Json] = []
    asked: Json = {}
    while True:
        result = (await wire.request(method, asked)).result
        items += result[LISTS[method][0]]
        if "nextCursor" not in result:
            return items
        asked = {"cursor": result["nextCursor"]}


@pytest.mark.parametrize("method", LISTS)
async def test_every_listed_item_arrives_whole(
    house: House, caller: str, server: str, method: str
) -> None:
    """case: SCH-04, SCH-06, RPC-08"""
    member = LISTS[method][1]
    own = await in_full(house, server, method, direct=True)
    own = [each for each in own if "extra" not in each[member]]
    wanted = [item(each, server=server, member=member, modern=is_modern(caller)) for each in own]
    names = {each[member] for each in wanted}
    listed = await in_full(house, caller, method, direct=False)
    got = [plain(each) for each in listed if each[member] in names]
    by_name = sorted(wanted, key=lambda each: each[member])
    assert differences(by_name, got) == []
    assert all(
        f"weighbridge/{kind}" in each["_meta"] for each in listed for kind in [_mark(method)]
    )


def _mark(method: str) -> str:
    return {"tools/list": "tool", "prompts/list": "prompt"}.get(method, "resource")


@pytest.mark.parametrize("tool", FIXED)
async def test_every_result_of_a_tool_arrives_whole(
    house: House, caller: str, server: str, tool: str
) -> None:
    """case: OUT-05, OUT-06, ARG-02"""
    call: Json = {"arguments": {}}
    own = await (await house.direct(server)).request("tools/call", {"name": tool, **call})
    through = await house.caller(caller)
    heard = await through.request("tools/call", {"name": f"{server}__{tool}", **call})
    wanted = expected(own.result, modern=is_modern(caller))
    assert differences(wanted, plain(heard.result)) == []
    assert heard.result.get("resultType") == ("complete" if is_modern(caller) else None)
    assert "weighbridge/outcome" in heard.result["_meta"]
    told = heard.result["_meta"].get("io.modelcontextprotocol/serverInfo", {})
    assert told.get("name") == ("weighbridge" if is_modern(caller) else None)


@pytest.mark.parametrize("tool", ERRORS)
async def test_an_error_of_a_server_keeps_its_code_and_its_data(
    house: House, caller: str, server: str, tool: str
) -> None:
    """case: OUT-04"""
    call: Json = {"arguments": {}}
    own = await (await house.direct(server)).request("tools/call", {"name": tool, **call})
    through = await house.caller(caller)
    heard = await through.request("tools/call", {"name": f"{server}__{tool}", **call})
    assert differences(own.error, plain_error(heard.error)) == []


async def test_arguments_and_unknown_members_reach_the_server_whole(
    house: House, caller: str, server: str
) -> None:
    """case: ARG-02, ARG-04"""
    call: Json = {"arguments": ARGUMENTS, "vendorParam": [1, 1.0, HUGE], "_meta": META}
    own = await (await house.direct(server)).request("tools/call", {"name": "echo", **call})
    through = await house.caller(caller)
    heard = await through.request("tools/call", {"name": f"{server}__echo", **call})
    wanted = params(own.result["structuredContent"]["params"])
    assert differences(wanted, params(heard.result["structuredContent"]["params"])) == []


@pytest.mark.parametrize("path", ["text", "blob", "rows/7"])
async def test_a_resource_is_read_whole(house: House, caller: str, server: str, path: str) -> None:
    """case: OUT-06"""
    asked: Json = {"uri": f"mem://{server}/{path}", "vendorParam": 1.0}
    own = await (await house.direct(server)).request("resources/read", asked)
    heard = await (await house.caller(caller)).request("resources/read", asked)
    assert differences(plain(own.result), plain(heard.result)) == []
    fresh = {"ttlMs": 0, "cacheScope": "private"} if is_modern(caller) else {}
    assert {key: heard.result[key] for key in ("ttlMs", "cacheScope") if key in heard.result} == (
        fresh
    )


async def test_a_resource_that_is_not_there_is_the_servers_own_error(
    house: House, caller: str, server: str
) -> None:
    asked: Json = {"uri": f"mem://{server}/missing"}
    own = await (await house.direct(server)).request("resources/read", asked)
    heard = await (await house.caller(caller)).request("resources/read", asked)
    assert differences(own.error, plain_error(heard.error)) == []


@pytest.mark.parametrize("name", ["greet", "rich"])
async def test_a_prompt_arrives_whole(house: House, caller: str, server: str, name: str) -> None:
    """case: OUT-06"""
    given: Json = {"arguments": {"who": "Ann"}} if name == "greet" else {}
    own = await (await house.direct(server)).request("prompts/get", {"name": name, **given})
    through = await house.caller(caller)
    heard = await through.request("prompts/get", {"name": f"{server}__{name}", **given})
    assert differences(plain(own.result), plain(heard.result)) == []


async def test_an_error_of_a_prompt_keeps_its_code_and_its_data(
    house: House, caller: str, server: str
) -> None:
    own = await (await house.direct(server)).request("prompts/get", {"name": "broken"})
    through = await house.caller(caller)
    heard = await through.request("prompts/get", {"name": f"{server}__broken"})
    assert differences(own.error, plain_error(heard.error)) == []


@pytest.mark.parametrize("kind", ["prompt", "resource"])
async def test_a_completion_arrives_whole(
    house: House, caller: str, server: str, kind: str
) -> None:
    own_ref: Json = {"type": "ref/prompt", "name": "greet", "title": "Greet"}
    ref: Json = {**own_ref, "name": f"{server}__greet"}
    if kind == "resource":
        ref = own_ref = {"type": "ref/resource", "uri": f"mem://{server}/rows/{{id}}"}
    asked: Json = {
        "argument": {"name": "who", "value": "A"},
        "context": {"arguments": {"id": "7"}},
    }
    own = await (await house.direct(server)).request(
        "completion/complete", {"ref": own_ref, **asked}
    )
    through = await house.caller(caller)
    heard = await through.request("completion/complete", {"ref": ref, **asked})
    assert differences(plain(own.result), plain(heard.result)) == []


async def test_a_ping_is_answered_in_the_era_that_has_it(house: House, caller: str) -> None:
    heard = await (await house.caller(caller)).request("ping")
    if is_modern(caller):
        assert heard.error["code"] == -32601
    else:
        assert heard.result == {}


async def test_an_unknown_method_is_an_error_and_ends_nothing(house: House, caller: str) -> None:
    """case: RPC-10"""
    through = await house.caller(caller)
    await through.note("notifications/vendor/thing", {"a": 1})
    heard = await through.request("vendor/ask")
    assert heard.error["code"] == -32601
    assert "tools" in (await through.request("tools/list")).result


def test_the_reference_lists_every_addition() -> None:
    page = (ROOT / "docs/reference/proxying.md").read_text().partition("## What an era")[0]
    assert dict(re.findall(r"^\| `(.+?)` \| (.+?) \|$", page, re.MULTILINE)) == ADDITIONS
