"""A run that was recorded answers hosts again: the real command, the official SDK's client."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from gateway.client import meta
from gateway.types.audit import Audit, Level
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_server import Script, record_of, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

DATA = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "apiKey": {"type": "string"}},
    "required": ["id"],
}
FIND = tool("find", outputSchema=DATA, description="finds a customer")
NOTE, WIPE, FAIL, PLAIN = tool("note"), tool("wipe"), tool("fail"), tool("plain")
RULES = """\
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - id: never
    decision: deny
    reason: nothing is wiped
    match: {tools: [alpha.wipe]}
"""
FOUND: list[Json] = [{**text(each), "structuredContent": {"id": each}} for each in ("c-1", "c-2")]
SECRET = "qT7vXw2LzKp9RbNcYdHsqT7vXw2LzKp9"
GIVEN: Json = {"id": "c-3", "apiKey": SECRET}


def contracts() -> str:
    """Return contracts of which one keeps no results."""
    return house.contracts(
        house.contract(FIND),
        house.contract(NOTE, effect=Effect.WRITE, risk=Risk.LOW),
        house.contract(WIPE, effect=Effect.WRITE, risk=Risk.LOW),
        house.contract(FAIL),
        house.contract(PLAIN, audit=Audit(level=Level.REQUEST)),
    )


_IS_READING = """body LIKE '%"action":"log_read"%'"""


@dataclass(frozen=True)
class Recorded:
    """What a host did in one run, and where that lies."""

    folder: Path
    run: str
    other: str  # another run, with a call of its own

    @property
    def config(self) -> list[str]:
        return ["--config", str(self.folder / "config.yaml")]

    def log(self) -> list[Any]:
        """Return all that the store holds of the past, but for who read it."""
        others = [
            f"SELECT * FROM {each}" for each in ("runs", "operations", "approvals", "revisions")
        ]
        return self._found(f"SELECT * FROM events WHERE NOT {_IS_READING}", *others)

    def reads(self) -> list[Any]:
        """Return who read the log, and what for."""
        [found] = self._found(f"SELECT body FROM events WHERE {_IS_READING} ORDER BY seq")
        return [json.loads(body)["body"] for (body,) in found]

    def _found(self, *queries: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.folder}/store.db?mode=ro", uri=True)) as store:
            return [store.execute(query).fetchall() for query in queries]


async def record(gateway: Gateway, folder: Path) -> Recorded:
    await gateway.listed("alpha__find", "alpha__note", "run_start")
    runs: list[str] = []
    for purpose in ("one", "two"):
        talk = {"vscode.conversationId": purpose}
        started = await gateway.call("run_start", {"objective": purpose}, _meta=talk)
        runs.append(str(started["structuredContent"]["run_id"]))
    named = meta(runs[0])
    for name, arguments in (
        ("alpha__find", {"q": "a"}),
        ("alpha__find", {"q": "a"}),
        ("alpha__find", {"q": "b", "token": SECRET}),
        ("alpha__note", {"text": "hello"}),
        ("alpha__wipe", {"all": True}),
        ("alpha__fail", {}),
        ("alpha__plain", {}),
    ):
        made = await gateway.call(name, arguments, _meta=named)
        await house.end(folder, outcome(made)["call_id"])
    await gateway.call("alpha__find", {"q": "of another run"}, _meta=meta(runs[1]))
    return Recorded(folder, *runs)


@pytest.fixture(scope="module")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("playback")
    script = Script(
        tools=[FIND, NOTE, WIPE, FAIL, PLAIN],
        on_nth_call=[[{"reply": each}] for each in FOUND],
        on_call={
            "find": [{"reply": {**text(json.dumps(GIVEN)), "structuredContent": GIVEN}}],
            "note": [{"reply": text("noted")}],
            "fail": [{"reply": {**text("no such thing"), "isError": True}}],
        },
    )
    config = house.config(
        {"alpha": house.stdio(script, folder)}, events={"level": "full"}, runs={"enabled": True}
    )
    async with running(folder, config, policy=RULES, contracts=contracts()) as gateway:
        made = await record(gateway, folder)
    return made


def words(result: CallToolResult) -> str:
    """Return the first text of a result."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


@asynccontextmanager
async def playing(
    recorded: Recorded, *words: str
) -> AsyncGenerator[tuple[str, forked.Forked, Path]]:
    """Serve the run over HTTP; yields the URL, the process, and where it writes."""
    ready, said = recorded.folder / "playing.json", recorded.folder / "playing.txt"
    ready.unlink(missing_ok=True)
    said.unlink(missing_ok=True)
    process = forked.begin(
        ["serve", *recorded.config, "--playback", recorded.run, "--ready-file", str(ready), *words],
        said,
        {"PATH": "/usr/bin:/bin", "HOME": str(recorded.folder)},
    )
    try:
        await until_async(lambda: ready.exists() or process.returncode is not None, 60)
        assert ready.exists(), said.read_text()
        yield json.loads(ready.read_text())["url"], process, said
    finally:
        process.terminate()
        async with asyncio.timeout(30):
            await process.wait()


async def test_a_host_gets_the_recorded_answers_in_their_order(recorded: Recorded) -> None:
    reads = len(recorded.reads())
    before, pids = recorded.log(), record_of(recorded.folder, "alpha").pids()
    report = recorded.folder / "report.json"
    async with playing(recorded, "--report", str(report)) as (url, process, said):
        async with Client(url) as client:
            begun = await client.call_tool("run_start", {"objective": "one"})
            assert begun.structured_content is not None
            assert begun.structured_content["run_id"] == recorded.run
            names = [each.name for each in (await client.list_tools()).tools]
            assert names == [
                "alpha__fail",
                "alpha__find",
                "alpha__note",
                "alpha__plain",
                "run_start",
            ]
            ids = [
                (await client.call_tool("alpha__find", {"q": "a"})).structured_content
                for _ in range(2)
            ]
            assert ids == [{"id": "c-1"}, {"id": "c-2"}]
            noted = await client.call_tool("alpha__note", {"text": "hello"})
            assert (noted.is_error, words(noted)) == (False, "noted")
            assert noted.meta is not None
            assert noted.meta["weighbridge/playback"]["run"] == recorded.run
            failed = await client.call_tool("alpha__fail", {})
            assert failed.is_error
            assert "no such thing" in str(failed.content)
        process.terminate()
        assert await process.wait() == 0
        told = said.read_text()
    assert f"playback of {recorded.run}: 5 of 8 recorded calls played, 0 missed" in told
    summary = json.loads(report.read_text())
    assert [each["name"] for each in summary["unasked"]] == [
        "alpha__find",
        "alpha__wipe",
        "alpha__plain",
    ]
    assert recorded.log() == before
    [read] = recorded.reads()[reads:]
    assert (read["how"], read["asked"]) == ("playback", {"run": recorded.run})
    assert record_of(recorded.folder, "alpha").pids() == pids


async def test_what_was_refused_is_refused_again_as_it_was(recorded: Recorded) -> None:
    async with playing(recorded) as (url, _, _), Client(url, mode="legacy") as client:
        wiped = await client.call_tool("alpha__wipe", {"all": True})
        assert wiped.is_error
        assert wiped.meta is not None
        # No rule could let this caller wipe, so then as now there is no such tool.
        assert wiped.meta["weighbridge/outcome"]["status"] == "unknown_tool"
        assert "nothing is wiped" not in str(wiped)


async def test_a_call_that_is_not_in_the_record_names_what_is(recorded: Recorded) -> None:
    async with playing(recorded, "--json") as (url, process, said):
        async with Client(url) as client:
            told = [
                await client.call_tool(name, arguments)
                for name, arguments in (
                    ("alpha__find", {"q": "c"}),
                    ("alpha__plain", {}),
                    ("alpha__find", {"q": "of another run"}),
                    ("alpha__bring", {}),
                )
            ]
        process.terminate()
        assert await process.wait() == 1
        summary = json.loads(said.read_text().splitlines()[-1])
    outcomes = [each.meta["weighbridge/outcome"] for each in told if each.meta]
    assert [(each["status"], each["code"]) for each in outcomes] == [
        ("not_recorded", "not_recorded"),
        ("not_recorded", "result_not_kept"),
        ("not_recorded", "not_recorded"),
        ("not_recorded", "not_recorded"),
    ]
    assert outcomes[0]["details"][0]["differs"] == ["/q"]
    assert "the audit level of `alpha.plain` was `request`" in outcomes[1]["reason"]
    assert "it has calls of `alpha__" in outcomes[3]["reason"]
    assert [each["code"] for each in summary["missed"]] == [each["code"] for each in outcomes]


async def test_what_was_redacted_stays_so_and_clients_take_it(recorded: Recorded) -> None:
    async with playing(recorded) as (url, _, said), Client(url) as client:
        await client.list_tools()  # so that the client holds results against what it is shown
        found = await client.call_tool("alpha__find", {"q": "b", "token": SECRET})
        assert not found.is_error
        assert found.structured_content == {"id": "c-3", "apiKey": {"$redacted": "secret"}}
        assert SECRET not in str(found)
        assert SECRET not in said.read_text()


async def test_a_host_that_starts_its_servers_gets_the_same_over_stdio(recorded: Recorded) -> None:
    reads = len(recorded.reads())
    before, report = recorded.log(), recorded.folder / "stdio.json"
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "gateway", "stdio", *recorded.config, "--playback", recorded.run),
            *("--report", str(report)),
        ],
        env={"PATH": "/usr/bin:/bin", "HOME": str(recorded.folder)},
    )
    async with Client(server) as client:
        assert "alpha__find" in [each.name for each in (await client.list_tools()).tools]
        noted = await client.call_tool("alpha__note", {"text": "hello"})
        assert words(noted) == "noted"
        missed = await client.call_tool("alpha__note", {"text": "hello"})
        assert "and that was played" in words(missed)
    await until_async(report.exists, house.WITHIN_S)
    summary = json.loads(report.read_text())
    assert [len(summary[each]) for each in ("played", "missed")] == [1, 1]
    assert recorded.log() == before
    [read] = recorded.reads()[reads:]
    assert (read["how"], read["asked"]) == ("playback", {"run": recorded.run})


async def test_a_run_is_played_to_its_own_tenant_alone(recorded: Recorded) -> None:
    config = recorded.folder / "config.yaml"
    whole = config.read_text()
    secret, entry = house.key("globex", "globex")
    config.write_text(whole + f"identity: {json.dumps({'api_keys': [entry]})}\n")
    try:
        async with playing(recorded) as (url, process, _):
            headers = {"Authorization": f"Bearer {secret}"}
            stranger = Gateway(url=url, process=process, folder=recorded.folder, headers=headers)
            assert await stranger.names() == []
            assert (
                outcome(await stranger.call("alpha__find", {"q": "a"}))["status"] == "unknown_tool"
            )
    finally:
        config.write_text(whole)
