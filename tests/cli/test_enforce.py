"""From recording decisions to carrying them out: foreseen, asked about, and taken over."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from anyio import to_thread

from gateway import ids
from gateway.app.gateway import Gateway
from gateway.clock import SystemClock
from gateway.types.tools import Effect
from tests.helpers.cases import a_call
from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

POLICY = """\
rules:
  - {id: all, decision: allow, match: {tools: ["crm.*"]}}
  - {id: no-bans, decision: deny, match: {tools: [crm.ban]}}
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test."""
    return "asyncio"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("enforce")
    script = Script(tools=[tool("find"), tool("ban"), tool("new"), tool("once")])
    return a_workspace(
        folder,
        {"crm": house.stdio(script, folder, "crm")},
        policy=POLICY,
        contracts=[
            house.contract(tool("find"), "crm"),
            house.contract(tool("ban"), "crm", effect=Effect.WRITE),
            house.contract(tool("once"), "crm", effect=Effect.WRITE),
        ],
        mode="observe",
    )


@pytest.fixture(scope="module")
async def gateway(place: Workspace) -> AsyncGenerator[Gateway]:
    async with place.opened() as opened:
        for name in ("find", "ban", "once", "once", "new"):
            await opened.handle(
                a_call(f"crm__{name}", call_id=ids.new("call"), received_at=SystemClock().now())
            )
        await opened.store.events.kept()
        await opened.store.instances.save("gw_test", opened.snapshot().as_json())
        yield opened


async def test_what_would_be_is_foreseen_and_nothing_changes(
    gateway: Gateway, place: Workspace
) -> None:
    before = place.config.read_bytes()
    code, told = await to_thread.run_sync(lambda: place.json("enforce", "--preview"))
    assert code == 0
    assert told["changed"] is False
    preview = told["preview"]
    assert (preview["calls"], preview["undecidable"]) == (5, 0)
    assert [(each["would"], each["tool"], each["rule"]) for each in preview["would"]] == [
        ("deny", "crm.ban", "no-bans"),
        ("deny", "crm.new", "unreviewed"),
        ("repeat", "crm.once", ""),
    ]
    assert preview["vanishing"] == [{"tool": "crm.new", "because": "no contract"}]
    assert place.config.read_bytes() == before
    done = await to_thread.run_sync(lambda: place.run("enforce", "--preview"))
    assert "of 5 calls since 7d" in done.output
    assert "crm.new  (no contract)" in done.output


async def test_the_log_says_the_same_as_was_observed(gateway: Gateway, place: Workspace) -> None:
    del gateway
    _, told = await to_thread.run_sync(lambda: place.json("observed"))
    assert told["calls"] == 5
    assert told["sums"] == {"deny": 2, "repeat": 1}
    done = await to_thread.run_sync(lambda: place.run("observed", "--since", "1h"))
    assert "5 calls passed; 2 would have been denied" in done.output
    assert "no-bans" in done.output
    done = await to_thread.run_sync(lambda: place.run("observed", "--tenant", "nobody"))
    assert "no call was observed" in done.output


async def test_without_anybody_to_ask_nothing_changes(gateway: Gateway, place: Workspace) -> None:
    del gateway
    before = place.config.read_bytes()
    done = await to_thread.run_sync(lambda: place.run("enforce"))
    assert done.exit_code == 2
    assert "add `--yes`" in done.stderr
    assert place.config.read_bytes() == before
    done = await to_thread.run_sync(lambda: place.run("enforce", "--undo", "--preview"))
    assert done.exit_code == 2


async def test_a_running_gateway_takes_it_over_and_back(gateway: Gateway, place: Workspace) -> None:
    _, told = await to_thread.run_sync(lambda: place.json("enforce", "--yes"))
    assert told["changed"] is True
    assert told["taken_over"] >= 1
    refused = await gateway.handle(a_call("crm__ban", call_id=ids.new("call")))
    assert refused.status == "unknown_tool"
    done = await to_thread.run_sync(lambda: place.run("enforce", "--yes"))
    assert "says `mode: enforce` already" in done.output
    done = await to_thread.run_sync(lambda: place.run("enforce", "--undo", "--yes"))
    assert "took it over" in done.output
    passed = await gateway.handle(a_call("crm__ban", call_id=ids.new("call")))
    assert passed.status == "ok"
    await gateway.store.events.kept()
    turns = house.events(place.folder, action="mode_changed")
    assert [(each["body"]["from"], each["body"]["mode"]) for each in turns] == [
        ("observe", "enforce"),
        ("enforce", "observe"),
    ]
    assert house.events(place.folder, action="calls_observed")[0]["body"]["calls"] == 5


def test_where_nothing_was_called_there_is_nothing_to_foresee(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, mode="observe")
    done = place.run("enforce", "--yes")
    assert done.exit_code == 0, done.output
    assert "nothing can be foreseen" in done.output
    assert "no gateway of this store runs" in done.output
    assert place.loaded().settings.mode == "enforce"
