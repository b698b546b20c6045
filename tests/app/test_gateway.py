"""A running gateway, as fronts and operators see it."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway import __version__
from gateway.app.gateway import Gateway
from gateway.app.start import open_gateway
from gateway.app.stopping import Stopping
from gateway.clock import SystemClock
from gateway.types.calls import Method, Nobody
from gateway.types.outcomes import Finished, Status
from gateway.types.refused import TurnedAway, TurnedAwayFor
from gateway.types.tools import Kind, Listed
from tests.helpers.cases import a_call, a_principal
from tests.helpers.fake_server import EVERYTHING, Script, tool
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

POLICY = """\
rules:
  - {id: sam, decision: allow, match: {users: [sam], tools: ["*"]}}
  - {id: notes, decision: allow, match: {users: [sam], resources: ["crm://*"]}}
"""
TOOLS = [tool("find"), tool("note"), tool("new"), tool("wipe"), {"name": "bad", "inputSchema": 7}]
NOTE = {"uri": "crm://notes/1", "name": "note"}


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    script = Script(
        tools=TOOLS,
        resources=[NOTE],
        capabilities={**EVERYTHING, "extensions": {"io.modelcontextprotocol/tasks": {}}},
    )
    place = a_workspace(
        folder,
        {
            "crm": house.stdio(script, folder, "crm"),
            "gone": {"command": "/no/such/program", "required": True},
            "lacking": {"command": "x", "env": {"KEY": "${NOBODY_SET_THIS}"}},
        },
        policy=POLICY,
        contracts=[
            house.contract(tool("find"), "crm"),
            house.contract(tool("note"), "crm", reviewed=False),
            house.contract(tool("wipe", description="as it was"), "crm"),
        ],
    )
    async with place.opened() as opened:
        yield opened


def snapshot_of(gateway: Gateway) -> dict[str, Any]:
    return gateway.snapshot().as_json()


async def test_an_allowed_call_reaches_its_tool(gateway: Gateway) -> None:
    finished = await gateway.handle(a_call("crm__find", {"a": 1}))
    assert finished.status is Status.OK
    said: Any = finished.result["structuredContent"]
    assert (said["name"], said["arguments"]) == ("find", {"a": 1})


async def test_a_call_of_a_host_that_asked_for_no_list_waits_for_servers_that_start(
    tmp_path: Path,
) -> None:
    is_up = tmp_path / "is-up"
    script = Script(tools=[tool("find")], on_start=[{"wait_for_file": str(is_up)}])
    place = a_workspace(
        tmp_path,
        {"crm": house.stdio(script, tmp_path, "crm")},
        policy=POLICY,
        contracts=[house.contract(tool("find"), "crm")],
    )
    async with open_gateway(
        place.loaded(), tmp_path, place.environ, front="test", stopping=Stopping(SystemClock())
    ) as starting:
        early = await starting.handle(a_call("crm__find"))
        assert early.status is Status.UNAVAILABLE  # where no host waits for a first list
        starting.patience_s = 15.0
        is_up.touch()
        finished = await starting.handle(a_call("crm__find"))
        assert (finished.status, starting.patience_s) == (Status.OK, 0.0)


async def test_a_list_shows_each_principal_what_its_rules_allow(gateway: Gateway) -> None:
    def listed(page: Any) -> list[str]:
        return [item["name"] for item in page.items]

    for user, names in (("sam", ["crm__find"]), ("ann", [])):
        principal = a_principal(user=user)
        page = await gateway.list_items(Listed.TOOLS, principal, Nobody(), cursor=None)
        assert listed(page) == names
    notes = await gateway.list_items(Listed.RESOURCES, a_principal(), Nobody(), cursor=None)
    assert listed(notes) == ["note"]


async def test_a_schema_is_shown_to_those_who_may_use_the_tool(gateway: Gateway) -> None:
    assert gateway.tool_schema(a_principal(), "crm__find") == {"type": "object"}
    assert gateway.tool_schema(a_principal(user="ann"), "crm__find") is None


async def test_a_subscription_is_weighed_like_a_call(gateway: Gateway) -> None:
    wanted: dict[str, Any] = {"method": Method.SUBSCRIBE, "params": {"uri": NOTE["uri"]}}
    way_out = await gateway.watch(a_call(NOTE["uri"], **wanted), lambda: None)
    assert not isinstance(way_out, Finished)
    way_out()
    denied = await gateway.watch(
        a_call(NOTE["uri"], principal=a_principal(user="ann"), **wanted), lambda: None
    )
    assert isinstance(denied, Finished)


async def test_it_offers_every_list_whoever_is_up_and_the_extensions_of_those_that_are(
    gateway: Gateway,
) -> None:
    offered = gateway.offers()
    assert {"tools", "resources", "prompts", "completions", "logging"} < offered.keys()
    assert offered["extensions"] == {"io.modelcontextprotocol/tasks": {}}


async def test_a_front_hears_of_one_kind_or_of_all_until_it_leaves(gateway: Gateway) -> None:
    heard: list[Kind] = []
    leave = gateway.on_changed(heard.append)
    gateway.lists_changed(Kind.PROMPT)
    assert heard == [Kind.PROMPT]
    gateway.lists_changed()
    assert heard[1:] == list(Kind)
    leave()
    gateway.lists_changed()
    assert len(heard) == 1 + len(Kind)


async def test_a_front_may_leave_while_it_is_told(gateway: Gateway) -> None:
    ways_out: list[Callable[[], None]] = []
    heard: list[Kind] = []
    ways_out.append(gateway.on_changed(lambda kind: ways_out[0]()))
    ways_out.append(gateway.on_changed(heard.append))
    gateway.lists_changed(Kind.TOOL)
    ways_out[1]()
    assert heard == [Kind.TOOL]


async def test_it_is_not_ready_without_a_required_server(gateway: Gateway) -> None:
    assert gateway.not_ready() == ("the required server `gone` is failed",)


async def test_keys_that_can_not_be_had_are_a_warning_and_no_end(gateway: Gateway) -> None:
    assert gateway.warnings() == ()
    before = gateway.identity_problems
    gateway.identity_problems = lambda: ("https://idp: 503",)
    try:
        assert gateway.warnings() == ("keys of an issuer: https://idp: 503",)
        assert gateway.snapshot().identity == ("https://idp: 503",)
    finally:
        gateway.identity_problems = before


async def test_a_request_that_is_turned_away_gets_into_the_log(gateway: Gateway) -> None:
    gateway.turned_away(TurnedAway(reason=TurnedAwayFor.PARSE_ERROR, transport="http"))
    await gateway.store.events.kept()
    folder = Path(str(gateway.activation.folder)).parent
    (event,) = house.events(folder, action="request_refused")
    assert event["body"]["reason"] == "parse_error"


async def test_the_snapshot_names_the_process_and_the_revision_in_force(gateway: Gateway) -> None:
    await gateway.store.events.kept()
    snapshot = snapshot_of(gateway)
    assert (snapshot["version"], snapshot["front"]) == (__version__, "test")
    assert snapshot["revision"] == gateway.activation.current().id
    assert snapshot["problem"] == ""
    store = snapshot["store"]
    assert (store["ok"], store["backlog"], store["reason"]) == (True, 0, "")
    assert store["committed"] >= store["commits"] > 0
    assert [signal["exporter"] for signal in snapshot["telemetry"]] == ["none", "none"]


async def test_the_snapshot_says_of_every_server_how_it_fares(gateway: Gateway) -> None:
    snapshot = snapshot_of(gateway)
    found = {server["name"]: server for server in snapshot["servers"]}
    assert {name: server["status"] for name, server in found.items()} == {
        "crm": "ready",
        "gone": "failed",
        "lacking": "misconfigured",
    }
    assert found["crm"]["transport"] == "stdio"
    assert found["crm"]["tools"] == {
        "exposed": 1,
        "unreviewed": 1,
        "no_contract": 1,
        "changed": 1,
        "quarantined": 1,
    }
    assert "/no/such/program" in found["gone"]["reason"]
    assert "NOBODY_SET_THIS" in found["lacking"]["reason"]


async def test_the_snapshot_sorts_tools_by_what_a_person_has_to_do(gateway: Gateway) -> None:
    snapshot = snapshot_of(gateway)
    assert snapshot["unpinned"] == ["crm.new"]
    assert snapshot["unreviewed"] == ["crm.note"]
    assert snapshot["changed"] == ["crm.wipe"]
    (bad,) = snapshot["quarantined"]
    assert (bad["tool"], bad["pointer"]) == ("crm.bad", "/inputSchema")
