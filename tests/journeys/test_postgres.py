"""The whole of `weighbridge serve` on PostgreSQL: kept, reloaded, killed, doubled, cut off."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest
from psycopg import rows

from gateway.ids import ulid
from gateway.types.tools import Effect, Risk
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.helpers.postgres import PASSWORD, OwnPostgres, own_postgres
from tests.journeys import house

pytestmark = pytest.mark.postgres

TOOLS = [tool("find"), tool("put"), tool("slow_put")]
FIVE = (
    "rules:\n  - id: five\n    decision: allow\n    match: {tools: ['*']}\n"
    "    limits: [{id: five-a-day, per: [tenant], max: 5, window: 24h}]\n"
)
DENY = "rules:\n  - {id: none, decision: deny, match: {tools: ['*']}}\n"
REFUSED = ("audit_unavailable", "no", True)


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture
def url(postgres: OwnPostgres) -> str:
    """An empty database."""
    return postgres.create(f"t{ulid().lower()}")


@pytest.fixture
def alpha(tmp_path: Path) -> Generator[FakeHttp]:
    """One tool server for all replicas; it counts what reaches it."""
    held = [{"wait_for_file": str(tmp_path / "go")}, {"reply": text("done")}]
    with FakeHttp(Script(tools=TOOLS, on_call={"slow_put": held})) as fake:
        yield fake


def started(
    folder: Path, alpha: FakeHttp, url: str, *, policy: str = ALLOW, reads: str = ""
) -> AbstractAsyncContextManager[Gateway]:
    """Start the real command; without `reads` the store is written as a text, as most do."""
    write: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.MEDIUM}
    changes: dict[str, Any] = {"find": {}, "put": write, "slow_put": write}
    return running(
        folder,
        house.config({"alpha": house.http(alpha)}),
        policy=policy,
        contracts=house.contracts(*(house.contract(one, **changes[one["name"]]) for one in TOOLS)),
        store=f'{{url: "{url}", reads_when_unavailable: {reads}}}' if reads else f'"{url}"',
    )


@asynccontextmanager
async def listed(gateway: AbstractAsyncContextManager[Gateway]) -> AsyncGenerator[Gateway]:
    async with gateway as open_one:
        await open_one.listed("alpha__find", "alpha__put")
        yield open_one


def sent(alpha: FakeHttp, name: str) -> int:
    return len([one for one in alpha.calls() if one["params"]["name"] == name])


async def status_of(gateway: Gateway, name: str) -> tuple[str, str, bool]:
    said = outcome(await gateway.call(name))
    return said["status"], said.get("executed", "yes"), said.get("retryable", False)


def rows_of(url: str, statement: str, *values: str) -> list[dict[str, Any]]:
    with psycopg.Connection[dict[str, Any]].connect(url, row_factory=rows.dict_row) as connection:
        return connection.execute(statement.encode(), values).fetchall()


async def ended(url: str, *calls: str) -> None:
    """Wait until these calls, and no others, have one final event each."""
    ends = "SELECT call_id FROM events WHERE kind = 'tool_call' AND stage IN ('finished', 'failed')"

    def kept() -> bool:
        return sorted(row["call_id"] for row in rows_of(url, ends)) == sorted(calls)

    await until_async(kept, house.WITHIN_S)


def story(url: str, call: str) -> list[dict[str, Any]]:
    """Return the events of one call as they lie in the database."""
    found = rows_of(url, "SELECT body FROM events WHERE call_id = %s ORDER BY seq", call)
    return [json.loads(row["body"]) for row in found]


async def ready(gateway: Gateway) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{gateway.admin}/readyz") as answer,
    ):
        return answer.status


async def until_status(gateway: Gateway, name: str, wanted: str) -> None:
    async def holds() -> bool:
        return (await status_of(gateway, name))[0] == wanted

    await until_async(holds, house.WITHIN_S)


async def test_a_read_and_a_write_are_kept_and_told_by_the_events_command(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    async with listed(started(tmp_path, alpha, url)) as gateway:
        said = [outcome(await gateway.call(f"alpha__{name}")) for name in ("find", "put")]
        assert [one["status"] for one in said] == ["ok", "ok"]
        await ended(url, *(one["call_id"] for one in said))
        stages = {
            "alpha.find": ["decided", "finished", "recorded"],
            "alpha.put": ["decided", "started", "finished", "recorded"],
        }
        told = await asyncio.to_thread(gateway.events)
        for one, (name, expected) in zip(said, stages.items(), strict=True):
            events = [event for event in told if event.get("call") == one["call_id"]]
            assert [event["stage"] for event in events] == expected
            assert {event["body"]["tool"] for event in events} == {name}
        (states,) = await asyncio.to_thread(gateway.command, "status")
        assert states[0]["store"]["ok"]
        assert PASSWORD not in json.dumps(states)
    assert PASSWORD not in (tmp_path / "log.txt").read_text()
    assert PASSWORD not in json.dumps(rows_of(url, "SELECT body FROM events"))
    assert not (tmp_path / "store.db").exists()


async def test_a_reload_keeps_the_new_revision_whole_in_the_database(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    async with listed(started(tmp_path, alpha, url)) as gateway:
        assert (await status_of(gateway, "alpha__put"))[0] == "ok"
        (tmp_path / "policies/policy.yaml").write_text(DENY)
        await until_status(gateway, "alpha__put", "unknown_tool")

        found = "SELECT 1 FROM events WHERE kind = 'admin' AND body LIKE %s"
        await until_async(lambda: rows_of(url, found, "%policy_activated%"), house.WITHIN_S)
        kept = rows_of(url, "SELECT texts FROM revisions ORDER BY at")
        assert ["decision: deny" in one["texts"] for one in kept] == [False, True]
        gateway.process.send_signal(signal.SIGHUP)
        assert await gateway.names() == []


async def test_a_killed_gateway_leaves_its_intent_sends_nothing_twice_and_starts_again(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    """case: OBS-03"""
    async with listed(started(tmp_path, alpha, url)) as gateway:
        under_way = asyncio.ensure_future(gateway.call("alpha__slow_put"))
        await until_async(lambda: sent(alpha, "slow_put"))
        await gateway.stop(signal.SIGKILL)
        await asyncio.wait({under_way})
        assert isinstance(under_way.exception(), aiohttp.ClientError)
    (tmp_path / "go").touch()
    async with listed(started(tmp_path, alpha, url)) as gateway:
        assert (await status_of(gateway, "alpha__put"))[0] == "ok"
        kept = "SELECT stage FROM events WHERE kind = 'tool_call' AND tool = 'alpha.slow_put'"
        assert [one["stage"] for one in rows_of(url, kept)] == ["started"]
        assert sent(alpha, "slow_put") == 1


@asynccontextmanager
async def replicas(
    folder: Path, alpha: FakeHttp, url: str, policy: str = ALLOW
) -> AsyncGenerator[tuple[Gateway, Gateway]]:
    """Start two gateways at the same time on one database that nobody has used yet."""
    async with AsyncExitStack() as stack:
        made = [
            listed(started(folder / name, alpha, url, policy=policy)) for name in ("one", "two")
        ]
        first, second = await asyncio.gather(*map(stack.enter_async_context, made))
        yield first, second


async def test_two_replicas_share_one_log_one_revision_and_one_limit(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    async with replicas(tmp_path, alpha, url, FIVE) as both:
        results = await asyncio.gather(
            *(both[number % 2].call("alpha__put", {"n": number}) for number in range(16))
        )
        said = [outcome(result) for result in results]
        assert sorted(one["status"] for one in said) == ["limit_exceeded"] * 11 + ["ok"] * 5
        assert sent(alpha, "put") == 5
        await ended(url, *(one["call_id"] for one in said))
        (states,) = await asyncio.to_thread(both[0].command, "status")
        assert len(states) == 2
        assert len({one["revision"] for one in states}) == 1
    assert len(rows_of(url, "SELECT id FROM revisions")) == 1


async def test_one_replica_takes_over_when_the_other_is_killed(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    async with replicas(tmp_path, alpha, url) as (first, second):
        call = outcome(await first.call("alpha__put"))["call_id"]
        await first.stop(signal.SIGKILL)
        assert (await status_of(second, "alpha__put"))[0] == "ok"
        stages = [event["stage"] for event in story(url, call)]
        assert stages[:2] == ["decided", "started"]  # the end may be lost, the intent never


@pytest.mark.parametrize(("reads", "found"), [("", "ok"), ("refuse", "audit_unavailable")])
async def test_without_its_database_nothing_is_written_and_it_recovers_without_a_restart(
    tmp_path: Path, alpha: FakeHttp, postgres: OwnPostgres, url: str, reads: str, found: str
) -> None:
    """case: OBS-03"""
    async with listed(started(tmp_path, alpha, url, reads=reads)) as gateway:
        under_way = asyncio.ensure_future(gateway.call("alpha__slow_put"))
        await until_async(lambda: sent(alpha, "slow_put"))
        postgres.stop()
        try:
            refused = await asyncio.gather(*(status_of(gateway, "alpha__put") for _ in range(3)))
            assert refused == [REFUSED] * 3
            assert sent(alpha, "put") == 0
            read = outcome(await gateway.call("alpha__find"))
            assert read["status"] == found
            assert sent(alpha, "find") == (1 if found == "ok" else 0)
            assert await ready(gateway) == 503
            (tmp_path / "go").touch()  # what was sent before gets its answer, and a warning
            late = outcome(await under_way)
            assert late["status"] == "ok"
            assert any("not kept" in note for note in late["notes"])
        finally:
            postgres.start()
        await until_status(gateway, "alpha__put", "ok")
        assert await ready(gateway) == 200
        kept = "SELECT 1 FROM events WHERE call_id = %s AND stage IN ('finished', 'failed')"
        await until_async(lambda: rows_of(url, kept, late["call_id"]), house.WITHIN_S)
        for call, status in ((late["call_id"], "ok"), (read["call_id"], found)):
            ends = [one for one in story(url, call) if one["kind"] == "tool_call"]
            assert ends[-1]["body"]["status"] == status
        log = (tmp_path / "log.txt").read_text()
    assert "Traceback" not in log
    assert PASSWORD not in log
    assert log.count("events can't be stored") <= 2


async def test_while_its_database_hangs_writes_are_refused_and_it_is_not_ready(
    tmp_path: Path, alpha: FakeHttp, postgres: OwnPostgres, url: str
) -> None:
    """case: OBS-03"""
    async with listed(started(tmp_path, alpha, url)) as gateway:
        with postgres.frozen():
            assert await status_of(gateway, "alpha__put") == REFUSED
            began = asyncio.get_running_loop().time()
            assert await status_of(gateway, "alpha__put") == REFUSED
            assert asyncio.get_running_loop().time() - began < 2  # nobody waits for it again
            assert (await status_of(gateway, "alpha__find"))[0] == "ok"
            assert sent(alpha, "put") == 0
            assert await ready(gateway) == 503
        await until_status(gateway, "alpha__put", "ok")
        assert await ready(gateway) == 200
    assert "Traceback" not in (tmp_path / "log.txt").read_text()
