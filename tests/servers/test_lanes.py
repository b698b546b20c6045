"""Connections that belong to one caller."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from gateway.servers.entry import Caps
from gateway.servers.supervisor import Server
from gateway.types.calls import Era
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
    structured,
)

CAN: JsonObject = {"roots": {}}
SLOW: list[Any] = [{"delay_ms": 60_000}]


def _of(name: str, **more: Any) -> dict[str, Any]:
    return {"capabilities": CAN, "lane": name, **more}


async def _slow(server: Server, given: dict[str, Any]) -> None:
    await call(server, "slow", deadline_s=60, **given)


def _server(server: Server | None) -> Server:
    assert server is not None
    return server


async def test_each_caller_has_a_child_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        for name in ("ada", "bob", "ada", "bob"):
            await call(alpha, **_of(name))
        await call(alpha)
        pids = [message["pid"] for message in record.calls()]
        assert pids[0] == pids[2]
        assert pids[1] == pids[3]
        assert len(set(pids)) == 3
        assert alpha.state.lanes == 2
    assert not any(alive(pid) for pid in record.pids())


async def test_over_http_a_lane_is_a_session(tmp_path: Path) -> None:
    with FakeHttp(Script(eras=["legacy"])) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = _server(servers.server("alpha"))
            for name in ("ada", "bob", "ada"):
                await call(alpha, **_of(name))
            sessions = [message["headers"]["mcp-session-id"] for message in fake.calls()]
            assert sessions[0] == sessions[2] != sessions[1]
            fake.forget_sessions()
            assert first_text(await call(alpha, is_read=True, **_of("ada"))) == "echo"
            assert fake.calls("initialize")[-1]["params"]["capabilities"] == CAN
        await until_async(lambda: sum(method == "DELETE" for method, _ in fake.requests) >= 2)


async def test_callers_that_can_do_different_things_share_no_lane(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha = _server(servers.server("alpha"))
        await call(alpha, **_of("ada"))
        await call(alpha, **_of("ada", capabilities={"sampling": {}}))
        assert alpha.state.lanes == 2


async def test_a_log_level_alone_needs_no_lane_where_nothing_is_logged(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha = _server(servers.server("alpha"))
        await call(alpha, log_level="debug", lane="ada")
        await call(alpha, capabilities={"extensions": {}}, lane="ada")
        assert alpha.state.lanes == 0


async def test_a_stateless_server_needs_no_lanes(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["modern"]), tmp_path)) as servers:
        alpha = _server(servers.server("alpha"))
        got = structured(await call(alpha, **_of("ada", log_level="info")))
        assert got["meta"]["io.modelcontextprotocol/clientCapabilities"] == CAN
        assert got["meta"]["io.modelcontextprotocol/logLevel"] == "info"
        assert alpha.state.lanes == 0


async def test_a_server_of_both_eras_is_reached_in_the_era_of_a_caller_that_it_may_ask(
    tmp_path: Path,
) -> None:
    async with running(stdio_entry(Script(eras=["legacy", "modern"]), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        await call(alpha, **_of("ada"))
        await call(alpha, era=Era.LEGACY)
        assert alpha.state.lanes == 0
        await call(alpha, **_of("bob", era=Era.LEGACY))
        assert alpha.state.lanes == 1
        assert record.calls("initialize")[-1]["params"]["capabilities"] == CAN


async def test_a_server_that_is_only_stateless_is_tried_once(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["modern"]), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        for _ in range(3):
            got = structured(await call(alpha, **_of("ada", era=Era.LEGACY)))
            assert got["meta"]["io.modelcontextprotocol/clientCapabilities"] == CAN
        assert alpha.state.lanes == 0
        assert len(record.pids()) == 2


async def test_a_callers_lanes_hear_that_its_roots_changed_and_no_others(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        for name in ("ada", "bob"):
            await call(alpha, **_of(name))
        await call(alpha, **_of("ada", capabilities={"sampling": {}}))
        servers.roots_changed("ada")
        told = "notifications/roots/list_changed"
        await until_async(lambda: len(record.calls(told)) == 1)
        ada = record.calls()[0]["pid"]
        assert [message["pid"] for message in record.calls(told)] == [ada]


async def test_a_lane_without_a_name_ends_with_its_call(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(eras=["legacy"]), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        await call(alpha, **_of(""))
        await call(alpha, **_of(""))
        assert alpha.state.lanes == 0
        assert len(record.pids()) == 3
        await until_async(lambda: sum(map(alive, record.pids())) == 1)


async def test_the_longest_idle_lane_makes_room_and_a_busy_one_never_does(tmp_path: Path) -> None:
    script = Script(eras=["legacy"], on_call={"slow": SLOW})
    async with running(stdio_entry(script, tmp_path, max_lanes=2)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        for name in ("ada", "bob", "ada"):
            await call(alpha, **_of(name))
        bob = record.calls()[1]["pid"]
        await call(alpha, **_of("cleo"))  # in place of bob
        await until_async(lambda: not alive(bob))
        async with anyio.create_task_group() as tasks:
            for name in ("ada", "cleo"):
                tasks.start_soon(_slow, alpha, _of(name))
            await until_async(lambda: len(record.calls()) == 6)
            got = failed(await call(alpha, deadline_s=0.2, **_of("bob")))
            assert (got.failure, got.executed) == (Failure.BUSY, Execution.NO)
            assert "all 2 lanes (`max_lanes`)" in got.detail
            assert "until the deadline" in got.detail
            assert first_text(await call(alpha)) == "echo"
            tasks.cancel_scope.cancel()


async def test_one_caller_can_not_take_the_lanes_of_all_others(tmp_path: Path) -> None:
    script = Script(eras=["legacy"], on_call={"slow": SLOW})
    async with running(stdio_entry(script, tmp_path, max_lanes=4)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")

        def eve(number: int) -> dict[str, Any]:
            return _of("eve", owner="eve", capabilities={**CAN, "experimental": {"n": number}})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_slow, alpha, eve(0))
            await until_async(record.calls)
            await call(alpha, **eve(1))
            await call(alpha, **eve(2))  # in place of her own idle one
            assert alpha.state.lanes == 2
            tasks.start_soon(_slow, alpha, eve(2))
            await until_async(lambda: len(record.calls()) == 4)
            got = failed(await call(alpha, deadline_s=0.2, **eve(3)))
            assert (got.failure, got.executed) == (Failure.BUSY, Execution.NO)
            assert "one caller may have (2 of 4, `max_lanes`)" in got.detail
            tasks.start_soon(_slow, alpha, eve(4))  # waits, and keeps nobody else from a lane
            for name in ("ada", "bob"):
                assert first_text(await call(alpha, **_of(name, owner=name))) == "echo"
            tasks.cancel_scope.cancel()


async def test_a_read_whose_lane_was_lost_is_sent_once_more(tmp_path: Path) -> None:
    steps = [{"exit_once": str(tmp_path / "once")}, {"reply": text("ok")}]
    script = Script(eras=["legacy"], on_call={"read": steps, "die": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, record = servers.server("alpha"), record_of(tmp_path, "alpha")
        assert first_text(await call(alpha, "read", is_read=True, **_of("ada"))) == "ok"
        got = failed(await call(alpha, "die", is_read=True, **_of("ada")))
        assert got.failure is Failure.CLOSED
        assert len([c for c in record.calls() if c["params"]["name"] == "die"]) == 2


async def test_a_lane_works_on_while_the_shared_connection_is_down(tmp_path: Path) -> None:
    times = replace(QUICK, backoff_min_s=60, backoff_max_s=60, wake_gap_s=60)
    script = Script(eras=["legacy"], on_call={"die": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path, timeouts=times)) as servers:
        alpha = servers.server("alpha")
        await call(alpha, **_of("ada"))
        await call(alpha, "die")
        assert first_text(await call(alpha, **_of("ada"))) == "echo"
        assert failed(await call(alpha, **_of("bob"))).failure is Failure.UNAVAILABLE


def _gate(folder: Path) -> Script:
    """Return a server whose tools `a` to `e` answer once there is a file of their name."""
    steps = {
        name: [{"wait_for_file": str(folder / name)}, {"reply": text(name)}] for name in "abcde"
    }
    return Script(eras=["legacy"], on_call=steps)


async def test_who_finds_no_free_lane_waits_for_one_in_the_order_of_coming(tmp_path: Path) -> None:
    async with running(stdio_entry(_gate(tmp_path), tmp_path, max_lanes=1)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        got = dict[str, str]()

        async def one(tool: str, name: str) -> None:
            got[tool] = first_text(await call(alpha, tool, **_of(name)))

        def begun() -> str:
            return "".join(message["params"]["name"] for message in record.calls())

        async with anyio.create_task_group() as tasks:
            for tool, name in (("a", "ada"), ("b", "bob"), ("c", "cleo"), ("d", "ada")):
                tasks.start_soon(one, tool, name)
                await anyio.wait_all_tasks_blocked()
                await until_async(lambda: begun() == "a")
            for tool, after in (("a", "ab"), ("b", "abc"), ("c", "abcd"), ("d", "abcd")):
                (tmp_path / tool).touch()
                await until_async(lambda after=after: begun() == after)
        assert got == {tool: tool for tool in "abcd"}
        pids = [message["pid"] for message in record.calls()]
        assert len(set(pids)) == 4  # the first child of ada made room


async def test_who_waits_keeps_no_place_from_callers_that_need_no_lane(tmp_path: Path) -> None:
    entry = stdio_entry(_gate(tmp_path), tmp_path, max_lanes=1, max_calls=2)
    async with running(entry) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        async with anyio.create_task_group() as tasks:
            for tool, name in (("a", "ada"), ("b", "ada"), ("c", "bob")):
                tasks.start_soon(lambda tool=tool, name=name: call(alpha, tool, **_of(name)))
            await until_async(record.calls)
            assert alpha.state.in_flight == 1
            assert first_text(await call(alpha)) == "echo"
            for tool in "abc":
                (tmp_path / tool).touch()


async def test_who_leaves_the_line_leaves_its_lane_to_the_next(tmp_path: Path) -> None:
    async with running(stdio_entry(_gate(tmp_path), tmp_path, max_lanes=1)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: call(alpha, "a", **_of("ada")))
            await until_async(record.calls)
            with anyio.move_on_after(0.1):
                await call(alpha, "b", **_of("bob"))
            (tmp_path / "c").touch()
            tasks.start_soon(lambda: call(alpha, "c", **_of("cleo")))
            (tmp_path / "a").touch()
        assert [message["params"]["name"] for message in record.calls()] == ["a", "c"]
        assert first_text(await call(alpha, **_of("bob"))) == "echo"


async def test_a_line_that_is_full_for_one_caller_is_open_to_others(tmp_path: Path) -> None:
    caps = Caps(queue=4)
    entry = stdio_entry(_gate(tmp_path), tmp_path, max_lanes=1, caps=caps)
    async with running(entry) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        async with anyio.create_task_group() as tasks:
            for tool in "abc":
                tasks.start_soon(lambda tool=tool: call(alpha, tool, **_of("eve", owner="eve")))
            await until_async(record.calls)
            await anyio.wait_all_tasks_blocked()
            got = failed(await call(alpha, **_of("eve", owner="eve")))
            assert (got.failure, got.executed) == (Failure.BUSY, Execution.NO)
            assert "waiting for a lane" in got.detail
            for tool in "abc":
                (tmp_path / tool).touch()
            assert first_text(await call(alpha, **_of("bob", owner="bob"))) == "echo"
