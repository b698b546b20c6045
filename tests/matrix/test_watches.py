"""Before a server of both eras over stdio, a caller that may be asked hears of its own writes."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.gateway import Gateway, running
from tests.matrix.both import NOTE, TOOLS
from tests.matrix.fixtures import Json
from tests.matrix.houses import ROOT
from tests.matrix.wires import Http, over_http

UPDATED = "notifications/resources/updated"
ALLOW = "rules:\n  - {id: all, decision: allow, match: {methods: ['*'], servers: [both]}}\n"
# What may be asked depends on the tool: writes go over another lane than the subscription.
NARROW = """rules:
  - {id: all, decision: allow, match: {methods: [tools/call, resources/read, resources/subscribe]}}
  - {id: ask, decision: allow, match: {methods: [elicitation/create], tools: ['both.*']}}
"""
CAN: Json = {"elicitation": {}}


@asynccontextmanager
async def served(folder: Path, policy: str, **more: Any) -> AsyncGenerator[Gateway]:
    entry = {
        "command": sys.executable,
        "args": ["-m", "tests.matrix.both"],
        "env": {"PYTHONPATH": str(ROOT)},
        "restart": {"first": "50ms", "longest": "200ms"},
        **more,
    }
    config = f"servers: {json.dumps({'both': entry})}\ncontracts: {{unreviewed: observe}}\n"
    async with running(folder, config, policy=policy) as gateway:
        await gateway.listed(*(f"both__{name}" for name in TOOLS))
        yield gateway


async def write(wire: Http, said: str) -> None:
    call: Json = {"name": "both__write", "arguments": {"text": said}}
    assert not (await wire.request("tools/call", call)).result.get("isError")


async def note(wire: Http) -> str:
    return (await wire.request("resources/read", {"uri": NOTE})).result["contents"][0]["text"]


async def hears(wire: Http, said: str) -> None:
    """Write, hear of it, and read what was written."""
    while not wire.news.empty():
        wire.news.get_nowait()
    await write(wire, said)
    assert (await wire.told(UPDATED))["params"]["uri"] == NOTE


@pytest.mark.parametrize("policy", [ALLOW, NARROW], ids=["one lane", "two ways"])
async def test_a_caller_hears_of_its_own_writes(tmp_path: Path, policy: str) -> None:
    async with (
        served(tmp_path, policy) as gateway,
        over_http(gateway.url, modern=False, capabilities=CAN) as wire,
        wire.listening(NOTE),
    ):
        await hears(wire, "one")
        await hears(wire, "two")


async def test_what_is_read_is_what_was_written_and_others_hear_nothing_of_it(
    tmp_path: Path,
) -> None:
    async with (
        served(tmp_path, ALLOW) as gateway,
        over_http(gateway.url, modern=False, capabilities=CAN) as ada,
        over_http(gateway.url, modern=False, capabilities=CAN) as bob,
        ada.listening(NOTE),
        bob.listening(NOTE),
    ):
        await hears(ada, "of ada")
        assert (await note(ada), await note(bob)) == ("of ada", "")
        assert bob.news.empty()


async def test_a_watched_lane_is_not_idle_and_a_lost_one_is_opened_again(tmp_path: Path) -> None:
    async with (
        served(tmp_path, ALLOW, lane_idle="1s", max_lanes=1) as gateway,
        over_http(gateway.url, modern=False, capabilities=CAN) as wire,
    ):
        async with wire.listening(NOTE):
            await hears(wire, "kept")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2.0):
                    await wire.told(UPDATED)
            assert await note(wire) == "kept"
            await wire.request("tools/call", {"name": "both__die", "arguments": {}})
            await wire.told(UPDATED)  # whatever it was, it may be something else now
            assert await note(wire) == ""
            await hears(wire, "again")
        async with over_http(gateway.url, modern=False, capabilities=CAN) as other:
            assert await note(other) == ""  # there is room for one lane, and nobody keeps it
