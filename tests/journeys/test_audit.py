"""When the event log can't be written: nothing unrecorded happens, nothing recorded is lost."""

import asyncio
import resource
import signal
import sqlite3
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from gateway.types.tools import Effect, Risk
from tests.helpers.fake_server import Record, Script, alive, record_of, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house

TOOLS = [tool("find"), tool("put"), tool("wipe"), tool("slow_put")]
HOLD = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
store.execute("COMMIT")
"""


def contracts() -> str:
    write: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.MEDIUM}
    wipe: dict[str, Any] = {"effect": Effect.DESTRUCTIVE, "risk": Risk.HIGH}
    changes = {"find": {}, "put": write, "slow_put": write, "wipe": wipe}
    return house.contracts(*(house.contract(one, **changes[one["name"]]) for one in TOOLS))


@asynccontextmanager
async def gateway_at(folder: Path, reads: str = "refuse") -> AsyncGenerator[Gateway]:
    """Start a gateway whose store has a folder of its own."""
    steps: dict[str, list[dict[str, Any]]] = {
        "slow_put": [{"wait_for_file": str(folder / "go")}, {"reply": text("done")}]
    }
    alpha = house.stdio(Script(tools=TOOLS, on_call=steps), folder)
    (folder / "store").mkdir(exist_ok=True)
    url = f"sqlite:///{folder}/store/store.db"
    async with running(
        folder,
        house.config({"alpha": alpha}),
        contracts=contracts(),
        store=f"{{url: {url}, reads_when_unavailable: {reads}}}",
    ) as gateway:
        await gateway.listed("alpha__find")
        yield gateway


def sent(folder: Path, name: str) -> int:
    """Count the calls of a tool in the fake, not in the gateway."""
    calls: list[dict[str, Any]] = record_of(folder, "alpha").calls()
    return len([one for one in calls if one["params"]["name"] == name])


async def status_of(gateway: Gateway, name: str) -> tuple[str, str, bool]:
    said = outcome(await gateway.call(name))
    return said["status"], said.get("executed", "yes"), said.get("retryable", False)


async def ready(gateway: Gateway) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{gateway.admin}/readyz") as answer,
    ):
        return answer.status


REFUSED = ("audit_unavailable", "no", True)


async def test_without_its_store_nothing_is_sent_and_it_recovers_without_a_restart(
    tmp_path: Path,
) -> None:
    """case: OBS-03"""
    async with gateway_at(tmp_path) as gateway:
        under_way = asyncio.ensure_future(gateway.call("alpha__slow_put"))
        await until_async(lambda: sent(tmp_path, "slow_put"))
        (tmp_path / "store").rename(tmp_path / "away")
        refused = await asyncio.gather(
            *(status_of(gateway, f"alpha__{name}") for name in ("put", "wipe", "put"))
        )
        assert refused == [REFUSED] * 3
        assert await status_of(gateway, "alpha__find") == REFUSED
        assert sent(tmp_path, "put") + sent(tmp_path, "wipe") + sent(tmp_path, "find") == 0
        assert await ready(gateway) == 503

        (tmp_path / "go").touch()  # what was sent before gets its answer, and a warning
        said = outcome(await under_way)
        assert said["status"] == "ok"
        assert any("not kept" in note for note in said["notes"])

        (tmp_path / "away").rename(tmp_path / "store")

        async def works() -> bool:
            return (await status_of(gateway, "alpha__put"))[0] == "ok"

        await until_async(works, house.WITHIN_S)
        assert await ready(gateway) == 200
        assert (await house.end(tmp_path / "store", said["call_id"]))["status"] == "ok"
        ends = house.events(tmp_path / "store", kind="tool_call", status="audit_unavailable")
        assert len(ends) >= 4
    found = house.events(tmp_path / "store", kind="tool_call")
    assert len({one["id"] for one in found}) == len(found)
    ended = [one["call"] for one in found if one["stage"] != "started"]
    assert sorted(ended) == sorted({one["call"] for one in found})


@contextmanager
def full_disk(pid: int) -> Generator[None]:
    """Let a process write no file any further, as on a full disk."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def test_on_a_full_disk_writes_are_refused_and_reads_go_on_where_they_may(
    tmp_path: Path,
) -> None:
    """case: OBS-03"""
    async with gateway_at(tmp_path, reads="allow") as gateway:
        with full_disk(gateway.process.pid):
            assert await status_of(gateway, "alpha__put") == REFUSED
            assert await status_of(gateway, "alpha__wipe") == REFUSED
            said = outcome(await gateway.call("alpha__find"))
            assert said["status"] == "ok"
            assert any("not kept" in note for note in said["notes"])
        assert sent(tmp_path, "put") + sent(tmp_path, "wipe") == 0

        async def works() -> bool:
            return (await status_of(gateway, "alpha__put"))[0] == "ok"

        await until_async(works, house.WITHIN_S)
        assert (await house.end(tmp_path / "store", said["call_id"]))["status"] == "ok"


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[None]:
    """Hold the write lock of a store in another process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLD,
        str(path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    async with asyncio.timeout(house.WITHIN_S):
        assert await process.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        process.stdin.close()
        await process.wait()


async def test_while_another_process_locks_the_store_for_three_seconds_calls_are_only_late(
    tmp_path: Path,
) -> None:
    """case: OBS-04"""
    async with gateway_at(tmp_path) as gateway:
        async with locked(tmp_path / "store/store.db"):
            write = asyncio.ensure_future(gateway.call("alpha__put"))
            assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
            async with asyncio.timeout(1):  # nothing blocks the loop
                await gateway.names()
            done, _ = await asyncio.wait({write}, timeout=3)
            assert not done
            assert sent(tmp_path, "put") == 0
        assert outcome(await write)["status"] == "ok"
        assert sent(tmp_path, "put") == 1


async def test_while_the_store_is_locked_for_long_a_write_is_refused_as_safe_to_repeat(
    tmp_path: Path,
) -> None:
    """case: OBS-04"""
    async with gateway_at(tmp_path) as gateway:
        async with locked(tmp_path / "store/store.db"):
            result = await gateway.call("alpha__put")
            said = outcome(result)
            assert (said["status"], said["executed"], said["retryable"]) == REFUSED
            assert "locked" in said["reason"]
            assert await status_of(gateway, "alpha__find") == REFUSED
            assert sent(tmp_path, "put") == 0

        async def works() -> bool:
            return (await status_of(gateway, "alpha__put"))[0] == "ok"

        await until_async(works, house.WITHIN_S)
        body = await house.end(tmp_path / "store", said["call_id"])
        assert body["status"] == "audit_unavailable"


async def test_readers_that_come_and_go_cost_no_event(tmp_path: Path) -> None:
    """case: OBS-04"""
    async with gateway_at(tmp_path) as gateway:
        for words in (["status"], ["events", "query"]):
            await asyncio.to_thread(gateway.command, *words)
            said = outcome(await gateway.call("alpha__put"))
            assert (await house.end(tmp_path / "store", said["call_id"]))["status"] == "ok"


async def test_a_kill_in_the_middle_of_a_write_leaves_its_start_in_the_log_and_sends_nothing_twice(
    tmp_path: Path,
) -> None:
    """case: OBS-03, STD-02"""
    async with gateway_at(tmp_path) as gateway:
        under_way = asyncio.ensure_future(gateway.call("alpha__slow_put"))
        await until_async(lambda: sent(tmp_path, "slow_put"))
        await gateway.stop(signal.SIGKILL)
        await asyncio.wait({under_way})
        assert isinstance(under_way.exception(), aiohttp.ClientError)
    (started,) = house.events(tmp_path / "store", kind="tool_call")
    assert (started["stage"], started["body"]["tool"]) == ("started", "alpha.slow_put")
    assert house.events(tmp_path / "store", kind="authorization", call=started["call"])
    orphan = record_of(tmp_path, "alpha")
    (tmp_path / "go").touch()
    await until_async(lambda: not _running(orphan))
    async with gateway_at(tmp_path) as gateway:
        assert (await status_of(gateway, "alpha__put"))[0] == "ok"
        assert sent(tmp_path, "slow_put") == 1
    with sqlite3.connect(tmp_path / "store/store.db") as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store.close()


def _running(record: Record) -> list[int]:
    return [pid for pid in record.pids() if alive(pid)]
