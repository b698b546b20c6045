"""One connection of one caller: its turns, its end, and why it could not be opened."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from gateway.servers.supervisor import Server
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, alive, record_of, text, until_async
from tests.helpers.fleets import (
    QUICK,
    call,
    failed,
    first_text,
    http_entry,
    running,
    stdio_entry,
)

CAN: JsonObject = {"roots": {}}
SLOW: list[Any] = [{"delay_ms": 60_000}]


def _of(name: str, **more: Any) -> dict[str, Any]:
    return {"capabilities": CAN, "lane": name, **more}


async def _together(*work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    async with anyio.create_task_group() as tasks:
        for each in work:
            tasks.start_soon(each)


def _server(server: Server | None) -> Server:
    assert server is not None
    return server


async def test_over_pipes_a_lane_does_one_call_at_a_time_and_lanes_run_side_by_side(
    tmp_path: Path,
) -> None:
    script = Script(eras=["legacy"], on_call={"slow": [{"delay_ms": 300}, {"reply": text("ok")}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        for name in ("ada", "bob"):
            await call(alpha, **_of(name))
        await _together(
            lambda: call(alpha, "slow", **_of("ada")),
            lambda: call(alpha, "slow", **_of("ada")),
            lambda: call(alpha, "slow", **_of("bob")),
        )
        times: dict[int, list[float]] = {}
        for message in record.calls()[2:]:
            times.setdefault(message["pid"], []).append(message["at"])
        twice, once = sorted(times.values(), key=len, reverse=True)
        assert twice[1] - twice[0] >= 0.3
        assert abs(once[0] - twice[0]) < 0.25


async def test_who_waits_for_a_turn_is_busy_at_its_deadline(tmp_path: Path) -> None:
    script = Script(eras=["legacy"], on_call={"slow": SLOW})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: call(alpha, "slow", **_of("ada")))
            await until_async(record.calls)
            got = failed(await call(alpha, deadline_s=0.2, **_of("ada")))
            assert (got.failure, got.executed) == (Failure.BUSY, Execution.NO)
            assert "another call of this caller" in got.detail
            tasks.cancel_scope.cancel()
        assert first_text(await call(alpha, **_of("ada"))) == "echo"


async def test_an_idle_lane_closes(tmp_path: Path) -> None:
    times = replace(QUICK, lane_idle_s=0.3)
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path, timeouts=times)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        await call(alpha, **_of("ada"))
        assert alpha.state.lanes == 1
        await until_async(lambda: alpha.state.lanes == 0)
        await until_async(lambda: sum(map(alive, record.pids())) == 1)
        assert first_text(await call(alpha, **_of("ada"))) == "echo"


async def test_a_lost_lane_costs_only_its_calls(tmp_path: Path) -> None:
    script = Script(
        eras=["legacy"],
        on_call={
            "die": [{"exit": 3}],
            "slow": [{"wait_for_file": str(tmp_path / "go")}, {"reply": text("ok")}],
        },
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        kept: list[Any] = []

        async def slow(**given: Any) -> None:
            kept.append(first_text(await call(alpha, "slow", **given)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: slow(**_of("bob")))
            tasks.start_soon(slow)
            await until_async(lambda: len(record.calls()) == 2)
            got = failed(await call(alpha, "die", **_of("ada")))
            assert (got.failure, got.executed) == (Failure.CLOSED, Execution.UNKNOWN)
            assert "exited with code 3" in got.detail
            (tmp_path / "go").touch()
        assert kept == ["ok", "ok"]
        assert first_text(await call(alpha, **_of("ada"))) == "echo"
        assert alpha.state.attempts == 1


async def test_a_lane_that_can_not_be_opened_says_why(tmp_path: Path) -> None:
    with FakeHttp(Script(eras=["legacy"])) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            fake.script.on_initialize = [{"error": {"code": -32602, "message": "too many"}}]
            got = failed(await call(alpha, **_of("ada")))
            assert (got.failure, got.executed) == (Failure.UNAVAILABLE, Execution.NO)
            assert "too many" in got.detail
            fake.script.on_initialize = []
            assert first_text(await call(alpha, **_of("ada"))) == "echo"
