"""Every list of a server follows its own changes and its own faults."""

from pathlib import Path
from typing import Any

import pytest

from gateway.types.json import JsonObject
from gateway.types.tools import Kind, Listed
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import (
    EVERYTHING,
    Script,
    record_of,
    text,
    texts,
    tool,
    until_async,
)
from tests.helpers.fleets import call, first_text, http_entry, running, stdio_entry


def _script(**more: Any) -> Script:
    given: dict[str, Any] = {
        "capabilities": EVERYTHING,
        "resources": [{"uri": "x://1", "name": "one"}],
        "templates": [{"uriTemplate": "x://{v}", "name": "any"}],
        "prompts": [{"name": "greet"}],
    }
    return Script(**{**given, **more})


async def test_all_lists_that_a_server_offers_are_read(tmp_path: Path) -> None:
    async with running(stdio_entry(_script(page=1), tmp_path)) as servers:
        catalog = servers.catalog
        assert [item.exposed_name for item in catalog.prompts()] == ["alpha__greet"]
        assert catalog.prompt("alpha__greet") is catalog.prompts()[0]
        assert catalog.prompts()[0].kind is Kind.PROMPT
        assert [item.exposed_name for item in catalog.resources()] == ["x://1"]
        assert [item.exposed_name for item in catalog.templates()] == ["x://{v}"]
        assert catalog.prompts()[0].pin.startswith("sha256:")


async def test_what_a_server_does_not_offer_is_not_asked_for(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(capabilities={"prompts": {}}), tmp_path)) as servers:
        (state,) = servers.states()
        assert state.list_error == ""
    record = record_of(tmp_path, "alpha")
    assert record.calls("prompts/list")
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        assert not record.calls(method)


@pytest.mark.parametrize(
    "steps", [[{"error": {"code": -32603, "message": "x"}}], [{"delay_ms": 60_000}]]
)
async def test_a_failing_or_hanging_list_of_resources_hurts_nothing_else(
    tmp_path: Path, steps: list[Any]
) -> None:
    note = {"notify": {"method": "notifications/tools/list_changed"}}
    change = [{"set": {"tools": [tool("new")]}}, note, {"reply": text("ok")}]
    script = _script(on_method={"resources/list": steps}, on_call={"echo": change})
    async with running(stdio_entry(script, tmp_path), wait_s=0) as servers:
        catalog = servers.catalog
        await until_async(lambda: catalog.tools() and catalog.prompts() and catalog.templates())
        assert first_text(await call(servers.server("alpha"))) == "ok"
        await until_async(lambda: [item.name for item in catalog.tools()] == ["new"])
        assert catalog.resources() == ()


async def test_a_server_may_leave_out_the_list_of_templates(tmp_path: Path) -> None:
    missing: Any = {"resources/templates/list": [{"error": {"code": -32601, "message": "no"}}]}
    async with running(stdio_entry(_script(on_method=missing), tmp_path)) as servers:
        (state,) = servers.states()
        assert state.list_error == ""
        assert servers.catalog.templates() == ()
        assert len(servers.catalog.resources()) == 1


async def test_a_failing_list_is_told_with_its_name(tmp_path: Path) -> None:
    broken: dict[str, Any] = {"prompts/list": [{"reply": {"prompts": 7}}]}
    async with running(stdio_entry(_script(on_method=broken), tmp_path)) as servers:
        (state,) = servers.states()
        assert state.list_error == "`alpha` answered prompts/list without a list of prompts"
        assert not state.stale


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_changes_of_every_list_are_heard_and_told_by_kind(era: str) -> None:
    with FakeHttp(_script(eras=[era])) as fake:
        async with running(http_entry(fake)) as servers:
            catalog, told = servers.catalog, list[Kind]()
            catalog.on_change(told.append)
            await until_async(lambda: fake.streams)
            if era == "modern":
                (listen,) = fake.calls("subscriptions/listen")
                assert listen["params"]["notifications"] == {
                    "toolsListChanged": True,
                    "promptsListChanged": True,
                    "resourcesListChanged": True,
                }
            fake.script.prompts = []
            fake.announce("notifications/prompts/list_changed")
            await until_async(lambda: told == [Kind.PROMPT])
            fake.script.resources = [{"uri": "x://2", "name": "two"}]
            fake.script.templates = []
            fake.announce("notifications/resources/list_changed")
            await until_async(lambda: told == [Kind.PROMPT, Kind.RESOURCE, Kind.RESOURCE])
            assert [item.name for item in catalog.resources()] == ["x://2"]
            assert catalog.templates() == ()
            assert len(fake.calls("tools/list")) == 1


async def test_lists_that_a_server_stops_offering_are_empty(tmp_path: Path) -> None:
    script = _script(on_call={"echo": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        assert alpha.offers(Listed.PROMPTS)
        path = tmp_path / "alpha.json"
        path.write_text(path.read_text().replace('"prompts": {"listChanged": true}, ', ""))
        await call(alpha)
        await until_async(lambda: not alpha.offers(Listed.PROMPTS))
        assert alpha.offers(Listed.RESOURCES)


async def test_tools_that_only_clients_see_which_can_be_asked_are_listed_too(
    tmp_path: Path,
) -> None:
    script = Script(eras=["legacy"], able_tools=[tool("echo"), tool("confirm")])
    rules: dict[str, JsonObject] = {"alpha": {"roots": {}}}
    entry = stdio_entry(script, tmp_path)
    async with running(entry, asks=lambda name: rules[name]) as servers:
        assert texts(servers.catalog.tools()) == ["confirm", "echo"]
        await until_async(lambda: servers.states()[0].lanes == 0)
        asked = record_of(tmp_path, "alpha").calls("initialize")
        assert [each["params"]["capabilities"] for each in asked] == [{}, {"roots": {}}]
        rules["alpha"] = {}
        servers.rules_changed()
        await until_async(lambda: texts(servers.catalog.tools()) == ["echo"])


async def test_a_server_that_shows_everybody_the_same_is_not_started_twice(tmp_path: Path) -> None:
    entry = stdio_entry(Script(eras=["legacy"]), tmp_path)
    async with running(entry):
        pass
    assert len(record_of(tmp_path, "alpha").pids()) == 1


async def test_a_list_stays_when_it_can_not_be_asked_for_as_somebody_able(tmp_path: Path) -> None:
    script = Script(eras=["modern"], able_tools=[tool("confirm")])
    async with running(stdio_entry(script, tmp_path), asks=lambda _: {"roots": {}}) as servers:
        assert texts(servers.catalog.tools()) == ["echo"]
