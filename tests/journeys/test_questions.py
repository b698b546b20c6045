"""The log answers questions while a gateway writes it: the real command, on both engines."""

import asyncio
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.ids import ulid
from gateway.types.tools import Effect, Risk
from tests.events import test_cloudevents
from tests.helpers import forked, ocsf
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.postgres import OwnPostgres, own_postgres
from tests.journeys import house

FIND, PUT, WIPE = tool("find"), tool("put"), tool("wipe")
# What a spreadsheet would run, a terminal obey, and a reader of CSV or of lines take for more.
EVIL = '=cmd|"/c calc"!A1,\n\r\t\x1b[2J\u202eevil'
POLICY = """rules:
  - {id: finding, decision: allow, match: {tools: [alpha.find]}}
  - {id: wiping, decision: deny, reason: "never, \\"ever\\"", match: {tools: [alpha.wipe]}}
  - id: putting
    decision: require_approval
    match: {tools: [alpha.put]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
"""
NAME = '=cmd|"/c calc"!A1, evil'  # as much of it as a header takes
KEY, ENTRY = house.key("agent", "acme", "sam", client="desk-agent")


@dataclass
class World:
    """A gateway that people asked things of, and the request that one of them approved."""

    gateway: Gateway
    request: str = ""

    async def told(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own."""
        config = str(self.gateway.folder / "config.yaml")
        return await asyncio.to_thread(forked.ran, [*words, "--config", config])

    async def lines(self, *words: str) -> list[Any]:
        """Run a command for programs; returns what each line says."""
        done = await self.told(*words, "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    async def table(self, *words: str) -> list[dict[str, str]]:
        """Run a command for a spreadsheet; returns its rows."""
        done = await self.told(*words, "--csv")
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout, newline=""), strict=True))


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
async def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[World]:
    folder: Path = tmp_path_factory.mktemp("questions")
    url = f"sqlite:///{folder}/store.db"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres").create(f"t{ulid().lower()}")
    contracts = [
        house.contract(FIND),
        house.contract(PUT, effect=Effect.WRITE, risk=Risk.HIGH),
        house.contract(WIPE, effect=Effect.DESTRUCTIVE, risk=Risk.CRITICAL),
    ]
    done = [{"reply": text("done")}]
    script = Script(tools=[FIND, PUT, WIPE], on_call={"find": done, "put": done, "wipe": done})
    async with AsyncExitStack() as stack:
        alpha = stack.enter_context(FakeHttp(script))
        config = house.config(
            {"alpha": house.http(alpha)},
            identity={
                "local": {"user": "lea", "tenant": "acme", "roles": ["lead"]},
                "api_keys": [ENTRY],
            },
            approvals={"hold": {"default": "0s"}},
        )
        gateway = await stack.enter_async_context(
            running(
                folder,
                config,
                policy=POLICY,
                contracts=house.contracts(*contracts),
                headers={"Authorization": f"Bearer {KEY}"},
                store=f'"{url}"',
            )
        )
        await gateway.listed("alpha__find")
        found = World(gateway)
        await work(found)
        yield found


async def work(world: World) -> None:
    """Have a call found, one denied, one of a name that nobody has, and one approved."""
    gateway = world.gateway
    await gateway.call("alpha__find", {"q": EVIL})
    await gateway.call("alpha__wipe")
    await gateway.call(NAME)
    world.request = outcome(await gateway.call("alpha__put"))["approval_id"]
    words = ("approvals", "approve", world.request, "--reason", EVIL, "--yes", "--json")
    (listed,) = (await world.lines("approvals", "list"))[0]
    done = await world.told(*words, "--binding", listed["binding"])
    assert json.loads(done.stdout)["cast"] == "approved", done.stderr
    assert outcome(await gateway.call("alpha__put"))["status"] == "ok"

    async def is_kept() -> bool:
        found = await world.lines("events", "query", "--tool", "alpha.put", "--kind", "tool_call")
        return [each["stage"] for each in found] == ["failed", "started", "finished"]

    await until_async(is_kept, house.WITHIN_S)


async def test_events_are_found_by_several_values_of_several_filters(world: World) -> None:
    words = ("--tool", "alpha.find", "--tool", "alpha.wipe", "--kind", "authorization")
    found = await world.lines("events", "query", *words)
    assert {each["body"]["rule"] for each in found} == {"finding", "wiping"}
    denied = await world.lines(
        *("events", "query", "--decision", "deny", "--rule", "wiping", "--actor", "sam"),
        *("--tenant", "acme", "--since", "1h"),
    )
    assert [each["body"]["tool"] for each in denied] == ["alpha.wipe"]
    assert await world.lines("events", "query", "--tenant", "globex") == []
    asked = await world.lines("events", "query", "--approval", world.request)
    stages = [each["stage"] for each in asked]
    assert stages == ["requested", "decided", "used"]


async def test_what_callers_write_leads_neither_spreadsheet_nor_terminal_astray(
    world: World,
) -> None:
    rows = await world.table("events", "query", "--all", "--tenant", "acme")
    tools = [row["tool"] for row in rows if row["status"] == "unknown_tool"]
    assert tools
    assert all(cell[:2] in ("", "'=") for cell in tools)
    shown = await world.told("events", "query", "--all", "--tenant", "acme")
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout
    assert len(shown.stdout.splitlines()) == len(rows) + 1 + 1  # itself, and the headers
    answer = await world.table("events", "ask", "decided", "--tenant", "acme")
    assert not any(cell[:1] in "=+-@\t\r" for row in answer for cell in row.values() if cell)
    assert any("\\u{1b}[2J\\u{202e}evil" in row["reason"] for row in answer)


@pytest.mark.parametrize("command", ["query", "export"])
async def test_other_systems_get_what_they_expect(world: World, command: str) -> None:
    every = ("--all",) if command == "query" else ()
    done = await world.told("events", command, *every, "--format", "ocsf")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["class_uid"] for each in events} >= {6003, 3004, 6002}
    for each in events:
        ocsf.check(each)
    numbers = [each["metadata"]["sequence"] for each in events]
    assert numbers == list(range(1, len(events) + 1))
    done = await world.told("events", command, *every, "--format", "cloudevents")
    envelopes = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [fault for each in envelopes for fault in test_cloudevents.faults(each)]
    assert [each["data"]["seq"] for each in envelopes] == list(range(1, len(envelopes) + 1))


async def test_auditors_get_answers(world: World) -> None:
    decided = await world.lines("events", "ask", "decided", "--tenant", "acme", "--since", "1d")
    told = [(row["outcome"], row["tool"], row["approvers"]) for row in decided]
    assert ("denied", "alpha.wipe", []) in told
    assert ("approved", "alpha.put", ["lea"]) in told
    (review,) = await world.lines("events", "ask", "reviews")
    assert (review["requester"], review["separate"], review["request"]) == (
        *("sam", True, world.request),
    )
    shown = await world.table("events", "ask", "shown", "--request", world.request)
    assert (shown[-1]["group"], shown[-1]["marks"]) == ("proof", "the same in the log")
    could = await world.lines("events", "ask", "who-could", "--tool", "alpha.put")
    assert [row["what"] for row in could][:2] == ["contract", "require_approval"]
    day = review["time"][:10]
    could = await world.lines("events", "ask", "who-could", "--tool", "alpha.put", "--on", day)
    assert ("called", "sam") in [(row["what"], row["users"]) for row in could]
    (change,) = await world.lines("events", "ask", "rule-changes", "--rule", "putting")
    assert change["change"] == "there at first"
    changes = await world.lines("events", "ask", "policy-changes")
    assert changes[0]["what"] == "in force"


async def test_each_act_of_reading_is_in_the_log_once(world: World) -> None:
    before = len(await world.lines("events", "ask", "readers"))
    await world.told("events", "query", "--all")
    await world.told("events", "query", "--all", "--csv", "--tenant", "acme")
    await world.told("events", "export", "--format", "csv", "--tenant", "acme")
    await world.told("replay", "--since", "1d")
    await world.told("policy", "history")
    after = await world.lines("events", "ask", "readers")
    new = [(row["how"], row["tenant"]) for row in after[before:]]
    assert new == [
        *(("query", ""), ("query", "acme"), ("export", "acme"), ("replay", "")),
        *(("policy history", ""), ("ask readers", "")),
    ]


async def test_calls_go_on_while_the_log_is_read_and_followed(world: World) -> None:
    config = str(world.gateway.folder / "config.yaml")
    words = ["events", "tail", "--json", "--tool", "alpha.find", "--lines", "0", "-c", config]
    tail = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *words), stdout=asyncio.subprocess.PIPE
    )
    try:
        await until_async(lambda: _follows(world), house.WITHIN_S)
        reads = [asyncio.create_task(world.told("events", "query", "--all")) for _ in range(3)]
        async with asyncio.timeout(house.WITHIN_S):
            for _ in range(20):
                assert outcome(await world.gateway.call("alpha__find"))["status"] == "ok"
            assert tail.stdout is not None
            heard = [json.loads(await tail.stdout.readline()) for _ in range(20)]
        assert {each["body"]["tool"] for each in heard} == {"alpha.find"}
        assert all(done.returncode == 0 for done in await asyncio.gather(*reads))
    finally:
        tail.kill()
        await tail.wait()


async def _follows(world: World) -> bool:
    return any(row["how"] == "tail" for row in await world.lines("events", "ask", "readers"))


async def test_a_pipe_that_nobody_reads_any_more_ends_a_command_quietly(world: World) -> None:
    config = str(world.gateway.folder / "config.yaml")
    command = [sys.executable, "-m", "gateway", "events", "query", "--all", "--json", "-c", config]
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=writing, stderr=asyncio.subprocess.PIPE
    )
    os.close(writing)
    _, said = await process.communicate()
    assert (process.returncode, said) == (141, b"")
