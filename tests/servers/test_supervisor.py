"""One server through its life."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.servers.supervisor import Server
from gateway.types.operations import Delivered, Execution, Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of, text, texts, tool, until_async
from tests.helpers.fleets import (
    QUICK,
    call,
    failed,
    first_text,
    http_entry,
    running,
    stdio_entry,
    until_status,
)


async def calls_at_once(server: Server | None, count: int, **more: Any) -> list[Any]:
    got: list[Any] = []

    async def one() -> None:
        got.append(await call(server, **more))

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(one)
    return got


async def test_twenty_calls_on_a_cold_server_share_one_start(tmp_path: Path) -> None:
    """case: STD-04"""
    script = Script(on_start=[{"delay_ms": 500}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        got = await calls_at_once(servers.server("alpha"), 20)
    assert all(isinstance(delivery, Delivered) for delivery in got)
    assert len(record_of(tmp_path, "alpha").pids()) == 1


async def test_a_call_on_a_server_that_takes_long_to_start_says_so(tmp_path: Path) -> None:
    """case: LIF-03"""
    script = Script(on_start=[{"delay_ms": 60_000}])
    entry = stdio_entry(script, tmp_path, timeouts=replace(QUICK, start_wait_s=0.1, start_s=60))
    async with running(entry, wait_s=0) as servers:
        got = failed(await call(servers.server("alpha")))
    assert (got.failure, got.executed) == (Failure.STARTING, Execution.NO)
    assert got.detail == "`alpha` is still starting"


async def test_a_call_in_an_outage_fails_at_once_and_the_next_after_it_works() -> None:
    """case: LIF-04"""
    with FakeHttp(Script()) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            assert alpha is not None
            for _ in range(3):
                fake.stop()
                await until_async(lambda: _is_away(alpha))
                began = time.monotonic()
                got = failed(await call(alpha, deadline_s=30))
                assert time.monotonic() - began < 1
                assert (got.failure, got.executed) == (Failure.UNAVAILABLE, Execution.NO)
                assert "is unavailable since 20" in got.detail
                assert [item.name for item in servers.catalog.tools()] == ["echo"]
                assert alpha.state.stale
                fake.start()
                await until_async(lambda: alpha.connection is not None)
                assert first_text(await call(alpha)) == "echo"
                await until_async(lambda: not alpha.state.stale)


async def _is_away(server: Server) -> bool:
    return not isinstance(await call(server, is_read=True), Delivered)


@pytest.mark.parametrize("mode", ["close", "404"])
async def test_a_broken_server_is_tried_by_all_together_and_ever_more_rarely(mode: str) -> None:
    """case: LIF-06"""
    step: Any = {"drop": True} if mode == "close" else {"http": 404}
    script = Script(on_discover=[step], on_initialize=[step])
    timeouts = replace(QUICK, backoff_min_s=0.05, backoff_max_s=6, backoff_slow_s=1, wake_gap_s=0.8)
    with FakeHttp(script) as fake:
        async with running(http_entry(fake, timeouts=timeouts)) as servers:
            alpha = servers.server("alpha")
            assert alpha is not None
            end = time.monotonic() + 3
            while time.monotonic() < end:
                got = await calls_at_once(alpha, 50)
                assert {delivery.failure for delivery in got} == {Failure.UNAVAILABLE}
            assert 2 <= alpha.state.attempts <= 10


async def test_a_server_that_dies_again_and_again_is_restarted_with_growing_pauses(
    tmp_path: Path,
) -> None:
    """case: LIF-06"""
    script = Script(on_list=[{"exit": 1}])
    timeouts = replace(QUICK, backoff_min_s=0.2, backoff_max_s=60, healthy_s=30)
    async with running(stdio_entry(script, tmp_path, timeouts=timeouts)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        began = time.monotonic()
        await until_async(lambda: alpha.state.attempts == 4)
        assert time.monotonic() - began > 0.75 * (0.2 + 0.4 + 0.8) - 0.2


async def test_changes_are_listed_once_and_told_on(tmp_path: Path) -> None:
    """case: LIF-02"""
    note = {"notify": {"method": "notifications/tools/list_changed"}}
    v2 = [tool("t2"), tool("t3", description="changed")]
    script = Script(
        tools=[tool("t1"), tool("t3")],
        on_call={"change": [{"set": {"tools": v2}}, *[note] * 30, {"reply": text("done")}]},
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        catalog, told = servers.catalog, list[int]()
        catalog.on_change(lambda _: told.append(catalog.version))
        before = catalog.find("alpha__t3")
        assert first_text(await call(servers.server("alpha"), "change")) == "done"
        await until_async(lambda: told)
        assert [item.name for item in catalog.tools()] == ["t2", "t3"]
        after = catalog.find("alpha__t3")
    assert catalog.find("alpha__t1") is None
    assert before is not None
    assert after is not None
    assert before.pin != after.pin
    assert len(told) == 1
    assert len(record_of(tmp_path, "alpha").calls("tools/list")) == 2


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_changes_over_http_are_heard_on_a_stream(era: str) -> None:
    """case: LIF-02"""
    with FakeHttp(Script(eras=[era])) as fake:
        async with running(http_entry(fake)) as servers:
            await until_async(lambda: fake.streams)
            fake.script.tools = [tool("new")]
            fake.announce()
            await until_async(lambda: texts(servers.catalog.tools()) == ["new"])
        await until_async(lambda: not fake.streams)


async def test_a_failing_list_is_not_an_empty_server(tmp_path: Path) -> None:
    """case: LIF-07"""
    broken = Script(on_list=[{"error": {"code": -32603, "message": "x"}}])
    with FakeHttp(Script(on_list=[{"http": 401}])) as fake:
        entries = [
            stdio_entry(broken, tmp_path),
            http_entry(fake, "beta"),
            stdio_entry(Script(tools=[]), tmp_path, "gamma"),
            stdio_entry(Script(), tmp_path, "delta"),
        ]
        async with running(*entries) as servers:
            states = {state.name: state for state in servers.states()}
            assert "error -32603" in states["alpha"].list_error
            assert "HTTP 401" in states["beta"].list_error
            assert states["gamma"].list_error == ""
            assert [item.server for item in servers.catalog.tools()] == ["delta"]
            fake.script.on_list = []
            await until_async(lambda: len(servers.catalog.tools()) == 2)


async def test_a_known_good_list_is_kept_as_stale(tmp_path: Path) -> None:
    """case: LIF-07"""
    fail = {"on_list": [{"error": {"code": -32603, "message": "x"}}]}
    note = {"notify": {"method": "notifications/tools/list_changed"}}
    script = Script(on_call={"break": [{"set": fail}, note, {"reply": text("ok")}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        assert not alpha.state.stale
        await call(alpha, "break")
        await until_async(lambda: alpha.state.list_error)
        assert alpha.state.stale
        assert [item.name for item in servers.catalog.tools()] == ["echo"]


async def test_a_full_server_is_busy_and_never_unknown(tmp_path: Path) -> None:
    """case: LIF-08"""
    script = Script(on_call={"slow": [{"delay_ms": 60_000}]})
    record = record_of(tmp_path, "alpha")
    async with running(stdio_entry(script, tmp_path, max_calls=1)) as servers:
        alpha = servers.server("alpha")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, alpha, "slow")
            await until_async(record.calls)
            got = failed(await call(alpha, "find", deadline_s=0.1))
            assert (got.failure, got.executed) == (Failure.BUSY, Execution.NO)
            assert got.detail.startswith("`alpha` is busy")
            tasks.cancel_scope.cancel()
        assert first_text(await call(alpha, "find")) == "find"


async def test_a_slow_handshake_and_no_stream_are_no_outage() -> None:
    """case: LIF-05"""
    script = Script(eras=["legacy"])
    script.on_initialize = [
        {"delay_ms": 700},
        {
            "reply": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
            }
        },
    ]
    with FakeHttp(script) as fake:
        fake.on_get = [{"http": 405}]
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            await until_status(alpha, "ready")
            assert first_text(await call(alpha)) == "echo"
            await until_async(lambda: any(method == "GET" for method, _ in fake.requests))
            assert alpha is not None
            assert alpha.state.attempts == 1


async def test_a_credential_that_is_refused_at_the_start_is_told_to_callers() -> None:
    """case: AUT-10"""
    with FakeHttp(Script(on_discover=[{"http": 401}])) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            got = failed(await call(alpha))
            assert (got.failure, got.executed) == (Failure.UNAUTHORIZED, Execution.NO)
            fake.script.on_discover = []
            await until_status(alpha, "ready")
            assert first_text(await call(alpha)) == "echo"


async def test_no_task_and_no_waiter_is_left_by_cancelled_calls(tmp_path: Path) -> None:
    """case: RPC-03"""
    script = Script(on_call={"slow": [{"delay_ms": 5}, {"reply": text("ok")}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        for round_ in range(200):
            with anyio.move_on_after(round_ % 10 / 1000):
                await call(alpha, "slow")
        assert first_text(await call(alpha)) == "echo"
        assert alpha.state.in_flight == 0
