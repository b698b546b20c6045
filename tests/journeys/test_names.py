"""Names and definitions of tools, from the servers through the gateway to the agent host."""

import re
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Record, Script, record_of, text, tool
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

LONG_SERVER = "regional-warehouse-and-billing-no1"
LONG_TOOL = "recalculate_stock_levels_for_each_storage_sites"
ODD = ["clock.read-time", "area/item/rename", "box:shelf/count", "say hello"]
RICH: Json = {
    "type": "object",
    "title": "T",
    "description": "D",
    "properties": {
        "a": {"type": "string", "enum": ["x", "y"], "examples": ["x"]},
        "b": {"const": 3},
    },
    "required": ["a"],
    "additionalProperties": False,
    "dependentRequired": {"b": ["a"]},
    "patternProperties": {"^x-": {"type": "string"}},
    "minProperties": 1,
    "x-own": {"k": 1},
}
WHOLE = {
    "name": "whole",
    "title": "T",
    "description": "d",
    "icons": [{"src": "https://example.org/i.png"}],
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object"},
    "annotations": {
        "title": "A",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
    "execution": {"taskSupport": "forbidden"},
    "_meta": {"com.example/k": 1},
    "x-future": {"a": [1]},
}
PARCEL: Json = {
    "type": "object",
    "properties": {"parcel": {"$ref": "#/$defs/Parcel", "description": "what to send"}},
    "required": ["parcel"],
    "$defs": {
        "Parcel": {
            "type": "object",
            "properties": {"code": {"$ref": "#/$defs/Code"}},
            "required": ["code"],
        },
        "Code": {"type": "string", "minLength": 3},
    },
}
BAD = [
    tool("bad1", inputSchema={"type": "object", "properties": {"depth": {"type": "text"}}}),
    tool("bad2", inputSchema=None),
    tool("bad3", inputSchema={"type": "object", "required": "q"}),
]


def scripts() -> dict[str, Script]:
    """Return what the servers publish."""
    sound = ["send_note", "inner__find", *ODD]
    special = [
        tool("rich", inputSchema=RICH),
        WHOLE,
        tool("get_parcel", inputSchema=PARCEL),
        tool(
            "get_typeless", inputSchema={"properties": {"x": {"type": "string"}}, "required": ["x"]}
        ),
    ]
    return {
        "alpha": Script(
            tools=[*(tool(name) for name in sound), *special, *BAD],
            on_call={"send_note": [{"reply": text("alpha")}]},
        ),
        "beta": Script(tools=[tool("send_note")], on_call={"send_note": [{"reply": text("beta")}]}),
        LONG_SERVER: Script(tools=[tool(LONG_TOOL), tool("short")]),
    }


class Place:
    """A gateway with three fakes behind it, over one transport."""

    def __init__(self, gateway: Gateway, folder: Path, fakes: dict[str, FakeHttp]) -> None:
        self.gateway = gateway
        self.folder = folder
        self._fakes = fakes

    def received(self, server: str) -> list[Json]:
        """Return the tools/call messages that a fake got."""
        if self._fakes:
            return self._fakes[server].calls()
        record: Record = record_of(self.folder, server)
        return record.calls()

    async def tools(self) -> list[Json]:
        """Return the list as an agent sees it."""
        _, message = await self.gateway.send("tools/list")
        return message["result"]["tools"]


@asynccontextmanager
async def open_place(folder: Path, transport: str) -> AsyncGenerator[Place]:
    with ExitStack() as stack:
        fakes: dict[str, FakeHttp] = {}
        entries: dict[str, Json] = {}
        for name, script in scripts().items():
            if transport == "http":
                fakes[name] = stack.enter_context(FakeHttp(script))
                entries[name] = house.http(fakes[name])
            else:
                entries[name] = house.stdio(script, folder, name)
        async with running(folder, house.unreviewed(entries)) as gateway:
            await gateway.listed("alpha__send_note", "beta__send_note", f"{LONG_SERVER}__short")
            yield Place(gateway, folder, fakes)


@pytest.fixture(scope="module", params=["stdio", "http"])
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("names")
    async with open_place(folder, request.param) as opened:
        yield opened


async def test_the_same_tool_name_on_two_servers_reaches_each_of_them(place: Place) -> None:
    """case: NAM-01"""
    for server in ("alpha", "beta"):
        result = await place.gateway.call(f"{server}__send_note")
        assert house.texts(result) == server
        assert place.received(server)[-1]["params"]["name"] == "send_note"
    event = await house.event(place.folder, action="name_collision")
    assert event["body"]["tools"] == ["alpha.send_note", "beta.send_note"]


async def test_a_name_that_would_be_too_long_is_shortened_and_still_reaches_its_tool(
    place: Place,
) -> None:
    """case: NAM-02"""
    names = [one["name"] for one in await place.tools()]
    (shortened,) = [one for one in names if one.startswith(f"{LONG_SERVER}__rec")]
    assert len(shortened) == 64
    assert re.fullmatch(r".+_[0-9a-f]{8}", shortened)
    await place.gateway.call(shortened)
    assert place.received(LONG_SERVER)[-1]["params"]["name"] == LONG_TOOL
    await place.gateway.call(f"{LONG_SERVER}__short")


async def test_a_separator_inside_a_name_is_never_split(place: Place) -> None:
    """case: NAM-03"""
    await place.gateway.call("alpha__inner__find")
    assert place.received("alpha")[-1]["params"]["name"] == "inner__find"


async def test_names_with_other_signs_are_mapped_for_agents_and_original_for_servers(
    place: Place,
) -> None:
    """case: NAM-04"""
    listed = await place.tools()
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one["name"]) for one in listed)
    before = len(place.received("alpha"))
    mapped = [
        one["name"] for one in listed if one["name"].startswith(("alpha__clock", "alpha__ar"))
    ]
    mapped += [
        one["name"] for one in listed if one["name"].startswith(("alpha__box", "alpha__say"))
    ]
    for name in mapped:
        await place.gateway.call(name)
    got = [one["params"]["name"] for one in place.received("alpha")[before:]]
    assert sorted(got) == sorted(ODD)


@pytest.mark.parametrize("place", ["stdio"], indirect=True)
async def test_names_are_the_same_after_a_restart(place: Place, tmp_path: Path) -> None:
    """case: NAM-04"""
    before = [one["name"] for one in await place.tools()]
    async with open_place(tmp_path, "stdio") as again:
        assert [one["name"] for one in await again.tools()] == before


async def test_an_alias_that_makes_names_ambiguous_is_refused_when_the_gateway_starts(
    tmp_path: Path,
) -> None:
    """case: NAM-03"""
    with pytest.raises(AssertionError, match="al__pha"):
        async with running(tmp_path, house.config({"al__pha": {"command": "fake"}}), policy=ALLOW):
            pass


async def test_a_bad_definition_is_kept_back_alone_and_named(place: Place) -> None:
    """case: SCH-01"""
    names = [one["name"] for one in await place.tools()]
    assert "alpha__send_note" in names
    assert not {"alpha__bad1", "alpha__bad2", "alpha__bad3"} & set(names)
    for name, pointer in (
        ("bad1", "/inputSchema/properties/depth/type"),
        ("bad2", "/inputSchema"),
        ("bad3", "/inputSchema/required"),
    ):
        said = outcome(await place.gateway.call(f"alpha__{name}"))
        assert said["status"] == "tool_quarantined"
        event = await house.event(place.folder, action="tool_quarantined", tool=f"alpha.{name}")
        assert pointer in event["body"]["reason"]
    told = house.status(place.folder)["quarantined"]
    assert {"alpha.bad1", "alpha.bad2", "alpha.bad3"} <= {one["tool"] for one in told}
    assert not [one for one in place.received("alpha") if "bad" in one["params"]["name"]]


async def test_a_root_without_a_type_is_published_and_enforced_alike(place: Place) -> None:
    """case: SCH-02"""
    names = [one["name"] for one in await place.tools()]
    said = outcome(await place.gateway.call("alpha__get_typeless", {}))
    if "alpha__get_typeless" in names:
        assert said["status"] == "invalid_arguments"
    else:
        assert said["status"] == "tool_quarantined"


async def test_references_are_published_as_they_are_and_followed(place: Place) -> None:
    """case: SCH-03"""
    published = house.named(await place.tools(), "alpha__get_parcel")
    assert published["inputSchema"] == PARCEL
    short = outcome(await place.gateway.call("alpha__get_parcel", {"parcel": {"code": "ab"}}))
    assert short["status"] == "invalid_arguments"
    assert [one["pointer"] for one in short["details"]] == ["/parcel/code"]
    good = await place.gateway.call("alpha__get_parcel", {"parcel": {"code": "abc"}})
    assert outcome(good)["status"] == "ok"


async def test_a_definition_arrives_whole_and_our_own_additions_are_marked(place: Place) -> None:
    """case: SCH-04"""
    published = house.named(await place.tools(), "alpha__whole")
    ours = published["_meta"].pop("weighbridge/tool")
    for pointer in ours.get("overrides", []):
        key = pointer.rpartition("/")[2]
        published["annotations"][key] = WHOLE["annotations"][key]  # type: ignore[index]
    assert published == {**WHOLE, "name": "alpha__whole"}


async def test_a_schema_is_published_as_it_came(place: Place) -> None:
    """case: SCH-06"""
    published = house.named(await place.tools(), "alpha__rich")
    assert published["inputSchema"] == RICH
    async with house.legacy(place.gateway) as client:
        message = await client.request("tools/list")
    assert house.named(message["result"]["tools"], "alpha__rich")["inputSchema"] == RICH


async def test_one_name_means_one_tool_on_every_front(place: Place) -> None:
    """case: NAM-01"""
    modern: list[Any] = sorted(one["name"] for one in await place.tools())
    async with house.legacy(place.gateway) as client:
        assert sorted(await house.names_of(client)) == modern
        assert house.texts(await house.call(client, "beta__send_note")) == "beta"
