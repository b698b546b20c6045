"""tools/list."""

from pathlib import Path
from typing import Any

import pytest

from gateway import jsontext
from gateway.servers import listing
from gateway.servers.entry import Caps
from gateway.types.tools import Listed
from tests.helpers.fake_server import EVERYTHING, Script, tool, until_async
from tests.helpers.fleets import call, first_text, running, stdio_entry


async def test_bad_tools_are_kept_back_alone(tmp_path: Path) -> None:
    """case: SCH-01"""
    q = {"type": "object", "properties": {"q": {"type": "string"}}}
    bad = [
        {"name": "bad1", "inputSchema": {"type": "object", "properties": {"d": {"type": "text"}}}},
        {"name": "bad2", "inputSchema": None},
        {"name": "bad3", "inputSchema": {"type": "object", "required": "q"}},
    ]
    script = Script(tools=[{"name": "good", "inputSchema": q}, *bad, None, {"name": 5}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        (state,) = servers.states()
        assert state.tools == 1
        assert [tool.name for tool in state.quarantined] == ["bad1", "bad2", "bad3"]
        assert all(tool.reason for tool in state.quarantined)
        assert "/properties/d/type" in state.quarantined[0].pointer
        found = servers.catalog.find("alpha__bad1")
        assert found is not None
        assert found.quarantine is not None
        assert first_text(await call(servers.server("alpha"), "good")) == "good"


async def test_all_pages_are_read(tmp_path: Path) -> None:
    script = Script(tools=[tool(f"t{n:02}") for n in range(23)], page=5)
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert len(servers.catalog.tools()) == 23


@pytest.mark.parametrize(
    ("script", "caps", "said"),
    [
        (Script(tools=[tool(f"t{n}") for n in range(1001)]), Caps(), "more than 1000 tools"),
        (Script(tools=[tool(f"t{n}") for n in range(60)], page=1), Caps(), "more than 50 pages"),
        (
            Script(tools=[tool(f"t{n}", description="x" * 1000) for n in range(9)], page=1),
            Caps(list_bytes=5000),
            "more than 5000 bytes",
        ),
        (Script(on_list=[{"reply": {"tools": [], "nextCursor": "0"}}]), Caps(), "repeats a page"),
        (Script(on_list=[{"reply": {"tools": {}}}]), Caps(), "without a list of tools"),
    ],
)
async def test_a_list_without_measure_is_a_failing_list(
    tmp_path: Path, script: Script, caps: Caps, said: str
) -> None:
    async with running(stdio_entry(script, tmp_path, caps=caps)) as servers:
        (state,) = servers.states()
        assert state.status == "ready"
        assert said in state.list_error
        assert servers.catalog.tools() == ()


async def test_a_huge_list_delays_no_other_server(tmp_path: Path) -> None:
    """case: SCH-10"""
    big = [tool(f"t{n}", description="x" * 7000) for n in range(3000)]
    (tmp_path / "big").mkdir()
    entries = [stdio_entry(Script(), tmp_path), stdio_entry(Script(tools=big), tmp_path, "big")]
    async with running(*entries) as servers:
        assert first_text(await call(servers.server("alpha"))) == "echo"
        assert "too large" in servers.states()[1].list_error


def test_an_unchanged_tool_keeps_its_verdict() -> None:
    definition: Any = tool("a")
    (first,) = listing.vet(Listed.TOOLS, [definition], {}, mirrors=False).offers
    (second,) = listing.vet(
        Listed.TOOLS, [dict(definition)], {first.pin: first}, mirrors=False
    ).offers
    assert second is first


def test_one_name_with_two_definitions_is_nobodys_name() -> None:
    once: Any = tool("a")
    other: Any = tool("a", description="x")
    assert (
        listing.vet(Listed.TOOLS, [once, dict(once)], {}, mirrors=False).offers[0].quarantine
        is None
    )
    got = listing.vet(Listed.TOOLS, [once, other], {}, mirrors=False).offers[0]
    assert got.quarantine is not None
    assert "twice" in got.quarantine.reason


def test_of_anything_but_tools_the_first_of_two_forms_counts() -> None:
    first: Any = {"uri": "x://1", "name": "a"}
    entries: list[Any] = [first, {"uri": "x://1", "name": "b"}, {"name": "c"}, 5]
    got = listing.vet(Listed.RESOURCES, entries, {}, mirrors=False)
    assert [offer.definition for offer in got.offers] == [first]
    assert len(got.faults) == 3
    assert listing.vet(Listed.PROMPTS, [{"name": "p" * 513}], {}, mirrors=False).offers == ()


def test_a_definition_that_cannot_be_digested_is_kept_back() -> None:
    broken: Any = {"uri": "x://1", "name": "\ud800"}
    (offer,) = listing.vet(Listed.RESOURCES, [broken], {}, mirrors=False).offers
    assert offer.quarantine is not None


def test_a_server_that_declares_nothing_is_taken_to_have_tools() -> None:
    assert listing.is_offered(Listed.TOOLS, {})
    assert listing.is_offered(Listed.TOOLS, {"logging": {}})
    assert not listing.is_offered(Listed.TOOLS, {"prompts": {}})
    assert not listing.is_offered(Listed.PROMPTS, {"prompts": None})


@pytest.mark.parametrize("where", ["name", "description", "_meta"])
def test_an_entry_that_no_text_can_carry_is_kept_back_alone(where: str) -> None:
    half = "half \ud800" if where != "_meta" else {"\udfff": 1}
    for what, key in ((Listed.TOOLS, "name"), (Listed.RESOURCES, "uri"), (Listed.PROMPTS, "name")):
        good: Any = {**tool("a"), "uri": "a:1"}
        bad: Any = {**tool("b"), "uri": "b:1", (key if where == "name" else where): half}
        found = listing.vet(what, [good, bad], {}, mirrors=False)
        assert [offer.quarantine is None for offer in found.offers] == [True, False]
        quarantine = found.offers[1].quarantine
        assert quarantine is not None
        assert "half of a surrogate pair" in quarantine.reason
        assert jsontext.dump([found.offers[1].name, found.offers[1].definition])


async def test_half_a_surrogate_pair_costs_one_entry_and_is_named_in_the_state(
    tmp_path: Path,
) -> None:
    script = Script(
        capabilities=EVERYTHING,
        tools=[tool("good"), tool("bad", description="\ud800")],
        resources=[{"uri": "a:1", "name": "a"}, {"uri": "b:1", "name": "\ud83d"}],
        prompts=[{"name": "p"}, {"name": "q", "title": "\udc00"}],
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        server = servers.server("alpha")
        assert server is not None
        await until_async(lambda: server.offers(Listed.RESOURCES) and server.offers(Listed.PROMPTS))
        (state,) = servers.states()
        assert (state.tools, state.list_error) == (1, "")
        assert sorted(each.name for each in state.quarantined) == ["b:1", "bad", "q"]
