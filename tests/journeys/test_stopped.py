"""A gateway that is stopped for a while, or whose clock is set, in the middle of a write."""

import asyncio
import os
import signal
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from gateway.clock import SystemClock
from gateway.crossing.failpoints import Failpoint
from gateway.ids import ulid
from gateway.store.times import microseconds
from gateway.types.guarantees import Idempotency
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.databases import ENGINES
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.forked import Death, Forked
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.postgres import OwnPostgres, own_postgres
from tests.journeys import house
from tests.journeys.house import Json

TOOL = tool("put")
NAME = "alpha__put"
DONE = text("done")
ARGUMENTS = {"n": 1}


@dataclass(kw_only=True)
class Pause(Death):
    """Where a process stops itself, as a debugger would; it goes on when it is told to."""

    def reached(self, point: Failpoint) -> None:
        if point is self.point:
            os.kill(os.getpid(), signal.SIGSTOP)


@dataclass(kw_only=True)
class Jump(Death):
    """Where the wall clock of a process is set: at once, or as soon as a file is there."""

    by: timedelta

    def reached(self, point: Failpoint) -> None:
        if point is not self.point:
            return
        if self.file is None:
            self._jump()
        else:
            threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while self.file and not self.file.exists():
            time.sleep(0.005)
        self._jump()
        if self.file is not None:
            self.file.unlink()

    def _jump(self) -> None:
        now, time_ns = SystemClock.now, SystemClock.time_ns
        by, by_ns = self.by, round(self.by.total_seconds() * 1e9)

        def shifted(clock: SystemClock) -> datetime:
            return now() + by

        def shifted_ns(clock: SystemClock) -> int:
            return time_ns() + by_ns

        setattr(SystemClock, "now", shifted)  # noqa: B010 - a method is no attribute to assign
        setattr(SystemClock, "time_ns", shifted_ns)  # noqa: B010


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store that several gateways can use: its URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: OwnPostgres = request.getfixturevalue("postgres")
    return server.create(f"t{ulid().lower()}")


@pytest.fixture
def alpha(tmp_path: Path) -> Generator[FakeHttp]:
    """One server for all gateways; it answers a `put` once the file `go` is there."""
    held = [{"wait_for_file": str(tmp_path / "go")}, {"reply": DONE}]
    with FakeHttp(Script(tools=[TOOL], on_call={"put": held})) as fake:
        yield fake


@asynccontextmanager
async def started(
    folder: Path, alpha: FakeHttp, store: str, death: Death | None = None
) -> AsyncGenerator[Gateway]:
    config = house.config({"alpha": house.http(alpha)}, operations={"lease": "1s"})
    write = house.contract(
        TOOL,
        effect=Effect.WRITE,
        risk=Risk.MEDIUM,
        idempotency=Idempotency(window_s=86_400, is_declared=True),
    )

    async def begin(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
        return forked.begin(words, log, environ, death)

    folder.mkdir(exist_ok=True)
    async with running(
        folder, config, contracts=house.contracts(write), store=store, begin=begin
    ) as gateway:
        await gateway.listed(NAME)
        yield gateway


def rows(store: str) -> list[tuple[str, int]]:
    """Return state and attempts of the operations, as they lie in the store."""
    return [(state, epoch) for state, epoch, _ in _read(store)]


def has_no_lease(store: str) -> bool:
    """Whether the lease of the only operation has run out."""
    [(_, _, lease_until)] = _read(store)
    return lease_until < microseconds(SystemClock().now())


def _read(store: str) -> list[tuple[str, int, int]]:
    statement = "SELECT state, epoch, lease_until FROM operations"
    if store.startswith("sqlite"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as file:
            return file.execute(statement).fetchall()
    with psycopg.connect(store) as connection:
        return connection.execute(statement).fetchall()


def is_stopped(gateway: Gateway) -> bool:
    """Whether a process is (Linux, proc_pid_stat: `T`)."""
    stat = Path(f"/proc/{gateway.process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


@asynccontextmanager
async def going_on(gateway: Gateway) -> AsyncGenerator[Callable[[], None]]:
    """Let a stopped gateway go on when told to, and at the latest when the test is over."""

    def go() -> None:
        gateway.process.send_signal(signal.SIGCONT)

    try:
        yield go
    finally:
        go()


async def seen(store: str, *wanted: tuple[str, int]) -> None:
    """Wait until the operations are as wanted."""
    await until_async(lambda: rows(store) == [*wanted], house.WITHIN_S)


async def call(gateway: Gateway) -> Json:
    """Call until there is an answer, or nobody knows."""
    while True:
        result = await gateway.call(NAME, ARGUMENTS)
        if outcome(result)["status"] != "in_progress":
            return result


@pytest.mark.parametrize(
    ("point", "code"),
    [(Failpoint.AFTER_INTENT, "not_sent"), (Failpoint.AFTER_SEND, "downstream_unavailable")],
)
async def test_what_another_has_sent_meanwhile_is_not_sent_by_a_gateway_that_goes_on(
    tmp_path: Path, alpha: FakeHttp, store: str, point: Failpoint, code: str
) -> None:
    """Stopped right before the first byte, at either end of the last step. case: IDM-06"""
    (tmp_path / "go").touch()
    async with (
        started(tmp_path / "one", alpha, store, Pause(point=point)) as one,
        started(tmp_path / "two", alpha, store) as two,
        going_on(one) as go,
    ):
        first = asyncio.ensure_future(one.call(NAME, ARGUMENTS))
        await until_async(lambda: is_stopped(one), house.WITHIN_S)
        await seen(store, ("indeterminate", 1))
        op_id = outcome(await call(two))["op_id"]
        settle = ["ops", "resolve", op_id, "--not-happened", "--evidence", "nothing is there"]
        chosen = ["--config", str(two.folder / "config.yaml")]
        assert await forked.begin([*settle, *chosen], tmp_path / "settled").wait() == 0
        assert outcome(await call(two))["status"] == "ok"
        go()
        told = outcome(await first)
        again = await call(two)
    assert (told["status"], told["code"], told["executed"]) == ("unavailable", code, "no")
    assert (again["content"], outcome(again)["replayed"]) == (DONE["content"], True)
    assert len(alpha.calls()) == 1
    assert rows(store) == [("succeeded", 2)]


async def test_what_was_given_up_while_its_gateway_was_stopped_is_settled_by_its_answer(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """case: IDM-06"""
    async with (
        started(tmp_path / "one", alpha, store) as one,
        started(tmp_path / "two", alpha, store) as two,
        going_on(one) as go,
    ):
        first = asyncio.ensure_future(one.call(NAME, ARGUMENTS))
        await until_async(alpha.calls, house.WITHIN_S)
        one.process.send_signal(signal.SIGSTOP)
        await seen(store, ("indeterminate", 1))
        assert outcome(await call(two))["status"] == "indeterminate"
        (tmp_path / "go").touch()
        go()
        told = await first
        await seen(store, ("succeeded", 1))
        again = await call(two)
    assert (told["content"], outcome(told)["status"]) == (DONE["content"], "ok")
    assert (again["content"], outcome(again)["replayed"]) == (DONE["content"], True)
    assert len(alpha.calls()) == 1


async def test_what_nobody_else_has_given_up_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """case: IDM-06"""
    async with started(tmp_path / "one", alpha, store) as one, going_on(one) as go:
        first = asyncio.ensure_future(one.call(NAME, ARGUMENTS))
        await until_async(alpha.calls, house.WITHIN_S)
        one.process.send_signal(signal.SIGSTOP)
        await until_async(lambda: has_no_lease(store), house.WITHIN_S)
        (tmp_path / "go").touch()
        go()
        assert outcome(await first)["status"] == "ok"
        assert outcome(await call(one))["replayed"] is True
    assert (len(alpha.calls()), rows(store)) == (1, [("succeeded", 1)])


@pytest.mark.parametrize("hours", [1, -1])
async def test_a_clock_that_is_set_in_the_middle_of_a_write_sends_nothing_twice(
    tmp_path: Path, alpha: FakeHttp, store: str, hours: int
) -> None:
    """On PostgreSQL nobody keeps anything by a clock that is wrong. case: IDM-06"""
    now, is_refused = tmp_path / "now", store.startswith("postgres")
    jump = Jump(point=Failpoint.AFTER_SEND, file=now, by=timedelta(hours=hours))
    async with (
        started(tmp_path / "one", alpha, store, jump) as one,
        started(tmp_path / "two", alpha, store) as two,
    ):
        first = asyncio.ensure_future(one.call(NAME, ARGUMENTS))
        await until_async(alpha.calls, house.WITHIN_S)
        now.touch()
        await until_async(lambda: not now.exists(), house.WITHIN_S)
        if hours < 0:  # what it renews is over already, by the clock of the other one
            await seen(store, ("indeterminate", 1))
            assert outcome(await call(two))["status"] == "indeterminate"
        (tmp_path / "go").touch()
        answer = await first
        assert (answer["content"], outcome(answer)["status"]) == (DONE["content"], "ok")
        if is_refused:
            assert "not kept" in str(outcome(answer)["notes"])
        else:
            await seen(store, ("succeeded", 1))
            told = [await call(gateway) for gateway in (two, one)]
            assert [each["content"] for each in told] == [DONE["content"]] * 2
            assert all(outcome(each)["replayed"] for each in told)
    assert len(alpha.calls()) == 1


async def test_a_clock_that_is_set_before_the_first_byte_leaves_ends_the_right_to_send(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """As after a sleep of the machine, for all that it can tell. case: IDM-06"""
    (tmp_path / "go").touch()
    jump = Jump(point=Failpoint.AFTER_SEND, by=timedelta(hours=1))
    async with (
        started(tmp_path / "one", alpha, store, jump) as one,
        started(tmp_path / "two", alpha, store) as two,
    ):
        told = outcome(await one.call(NAME, ARGUMENTS))
        assert (told["status"], told["executed"], alpha.calls()) == ("unavailable", "no", [])
        if store.startswith("sqlite"):  # PostgreSQL keeps no end by a clock that is wrong
            assert outcome(await call(two))["status"] == "ok"
            assert (len(alpha.calls()), rows(store)) == (1, [("succeeded", 2)])
    assert len(alpha.calls()) <= 1
