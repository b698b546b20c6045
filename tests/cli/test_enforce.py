"""From recording decisions to carrying them out: foreseen, asked about, and taken over."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, kw_only=True)
class World:
    """A gateway that has observed five calls, and what was foreseen of them then."""

    gateway: Gateway
    preview: Any
    preview_text: str
    observed: Any
    observed_text: str


@pytest.fixture(scope="module")
async def world(place: Workspace) -> AsyncGenerator[World]:
    async with place.opened() as opened:
        for name in ("find", "ban", "once", "once", "new"):
            await opened.handle(
                a_call(f"crm__{name}", call_id=ids.new("call"), received_at=SystemClock().now())
            )
        await opened.store.events.kept()

        def told() -> World:
            return World(
                gateway=opened,
                preview=place.json("enforce", "--preview"),
                preview_text=place.run("enforce", "--preview").output,
                observed=place.json("observed"),
                observed_text=place.run("observed", "--since", "1h").output,
            )

        before = place.config.read_bytes()
        world = await to_thread.run_sync(told)
        assert place.config.read_bytes() == before
        yield world


async def test_what_would_be_is_foreseen_and_nothing_changes(world: World) -> None:
    code, told = world.preview
    assert code == 0
    assert (told["mode"], told["changed"]) == ("observe", False)
    preview = told["preview"]
    assert (preview["calls"], preview["undecidable"]) == (5, 0)
    assert [(each["would"], each["tool"], each["rule"]) for each in preview["would"]] == [
        ("deny", "crm.ban", "no-bans"),
        ("deny", "crm.new", "unreviewed"),
        ("repeat", "crm.once", ""),
    ]
    assert preview["vanishing"] == [{"tool": "crm.new", "because": "no contract"}]
    assert "of 5 calls since 7d" in world.preview_text
    assert "crm.new  (no contract)" in world.preview_text


async def test_the_log_says_the_same_as_was_observed(world: World) -> None:
    _, told = world.observed
    assert told["calls"] == 5
    assert told["sums"] == {"deny": 2, "repeat": 1}
    assert "5 calls passed; 2 would have been denied" in world.observed_text
    assert "no-bans" in world.observed_text


async def test_without_anybody_to_ask_nothing_changes(world: World, place: Workspace) -> None:
    del world
    before = place.config.read_bytes()
    done = await to_thread.run_sync(lambda: place.run("enforce"))
    assert done.exit_code == 2
    assert "add `--yes`" in done.stderr
    assert place.config.read_bytes() == before
    done = await to_thread.run_sync(lambda: place.run("enforce", "--undo", "--preview"))
    assert done.exit_code == 2


async def test_a_running_gateway_takes_it_over_and_back(world: World, place: Workspace) -> None:
    gateway = world.gateway
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
