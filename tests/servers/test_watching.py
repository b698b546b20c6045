"""Subscriptions of a caller that has lanes of its own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.servers.supervisor import Server
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.operations import Failure, Rejected, Undelivered
from gateway.types.relay import Outbound
from tests.helpers.fake_server import EVERYTHING, Record, Script, record_of, text, until_async
from tests.helpers.fleets import QUICK, call, failed, first_text, running, stdio_entry

URI = "x://1"
UPDATE = {"notify": {"method": "notifications/resources/updated", "params": {"uri": URI}}}
CAN: JsonObject = {"roots": {}}
OTHER: JsonObject = {"sampling": {}}


def _script(folder: Path, **more: Any) -> Script:
    return Script(
        eras=["legacy"],
        capabilities=EVERYTHING,
        on_call={
            "touch": [UPDATE, {"reply": text("ok")}],
            "die": [{"exit": 1}],
            "slow": [{"wait_for_file": str(folder / "go")}, {"reply": text("ok")}],
        },
        **more,
    )


async def _subscribe(
    server: Server, told: list[str], name: str = "ada", can: JsonObject = CAN, **more: Any
) -> Callable[[], None] | Rejected | Undelivered:
    given: dict[str, Any] = {"deadline_s": 5, "capabilities": can, "owner": name, **more}
    outbound = Outbound(
        method=Method.SUBSCRIBE, params={"uri": URI}, is_read=True, lane=name, **given
    )
    return await server.subscribe(URI, outbound, lambda: told.append(name))


async def _touch(server: Server, name: str, can: JsonObject = CAN) -> None:
    """Change the resource in a caller's process."""
    assert first_text(await call(server, "touch", capabilities=can, lane=name, owner=name)) == "ok"


def _pids(record: Record, method: str) -> list[int]:
    return [message["pid"] for message in record.calls(method)]


def _server(server: Server | None) -> Server:
    assert server is not None
    return server


async def test_a_caller_hears_of_its_own_lane_and_of_no_others(tmp_path: Path) -> None:
    async with running(stdio_entry(_script(tmp_path), tmp_path)) as servers:
        alpha, record, told = (
            _server(servers.server("alpha")),
            record_of(tmp_path, "alpha"),
            list[str](),
        )
        leave = await _subscribe(alpha, told)
        assert callable(leave)
        await _touch(alpha, "bob")
        await _touch(alpha, "ada")
        await until_async(lambda: told == ["ada"])
        assert _pids(record, "resources/subscribe") == _pids(record, "tools/call")[1:]
        leave()
        leave()
        await until_async(lambda: record.calls("resources/unsubscribe"))


async def test_one_that_needs_no_lane_hears_of_every_lane_of_its_caller(tmp_path: Path) -> None:
    async with running(stdio_entry(_script(tmp_path), tmp_path)) as servers:
        alpha, record, told = (
            _server(servers.server("alpha")),
            record_of(tmp_path, "alpha"),
            list[str](),
        )
        await _touch(alpha, "ada")
        leave = await _subscribe(alpha, told, can={})
        assert callable(leave)
        await until_async(lambda: len(record.calls("resources/subscribe")) == 2)
        for number, can in enumerate((CAN, OTHER, {})):
            told.clear()
            await _touch(alpha, "ada", can)
            await until_async(lambda: told)
            assert alpha.state.lanes == min(number + 1, 2)
        leave()
        await until_async(lambda: len(record.calls("resources/unsubscribe")) == 3)


async def test_a_lost_lane_is_opened_and_subscribed_again_and_says_so(tmp_path: Path) -> None:
    async with running(stdio_entry(_script(tmp_path), tmp_path)) as servers:
        alpha, record, told = (
            _server(servers.server("alpha")),
            record_of(tmp_path, "alpha"),
            list[str](),
        )
        leave = await _subscribe(alpha, told)
        assert callable(leave)
        assert failed(await call(alpha, "die", capabilities=CAN, lane="ada", owner="ada"))
        await until_async(lambda: told == ["ada"])
        await until_async(lambda: len(record.calls("resources/subscribe")) == 2)
        assert len(set(_pids(record, "resources/subscribe"))) == 2
        told.clear()
        await _touch(alpha, "ada")
        await until_async(lambda: told)
        assert len(record.pids()) == 3
        leave()


async def test_a_watched_lane_is_neither_idle_nor_given_away(tmp_path: Path) -> None:
    times = replace(QUICK, lane_idle_s=0.2)
    entry = stdio_entry(_script(tmp_path), tmp_path, timeouts=times, max_lanes=1)
    async with running(entry) as servers:
        alpha, told = _server(servers.server("alpha")), list[str]()
        leave = await _subscribe(alpha, told)
        assert callable(leave)
        got = failed(await call(alpha, capabilities=CAN, lane="bob", owner="bob", deadline_s=0.5))
        assert got.failure is Failure.BUSY
        await _touch(alpha, "ada")
        await until_async(lambda: told)
        leave()
        assert first_text(await call(alpha, capabilities=CAN, lane="bob", owner="bob")) == "echo"


async def test_a_subscription_waits_for_its_turn_like_a_call(tmp_path: Path) -> None:
    async with running(stdio_entry(_script(tmp_path), tmp_path)) as servers:
        alpha, record = _server(servers.server("alpha")), record_of(tmp_path, "alpha")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: call(alpha, "slow", capabilities=CAN, lane="ada", owner="ada"))
            await until_async(record.calls)
            got = await _subscribe(alpha, [], deadline_s=0.1)
            assert isinstance(got, Undelivered)
            assert got.failure is Failure.BUSY
            (tmp_path / "go").touch()
        assert record.calls("resources/subscribe") == []
        leave = await _subscribe(alpha, [])
        assert callable(leave)
        leave()


async def test_a_refused_one_keeps_no_lane_open(tmp_path: Path) -> None:
    refusal: Any = {"code": -32002, "message": "no such resource"}
    script = _script(tmp_path, on_method={"resources/subscribe": [{"error": refusal}]})
    times = replace(QUICK, lane_idle_s=0.2)
    async with running(stdio_entry(script, tmp_path, timeouts=times)) as servers:
        alpha = _server(servers.server("alpha"))
        got = await _subscribe(alpha, [])
        assert isinstance(got, Rejected)
        assert got.code == -32002
        await until_async(lambda: alpha.state.lanes == 0)


@pytest.mark.parametrize("name", ["", "ada"])
async def test_a_caller_without_lanes_shares_the_subscription_of_all(
    tmp_path: Path, name: str
) -> None:
    async with running(stdio_entry(_script(tmp_path), tmp_path)) as servers:
        alpha, record, told = (
            _server(servers.server("alpha")),
            record_of(tmp_path, "alpha"),
            list[str](),
        )
        leave = await _subscribe(alpha, told, name, {})
        assert callable(leave)
        await call(alpha, "touch")
        await until_async(lambda: told == [name])
        assert alpha.state.lanes == 0
        leave()
        await until_async(lambda: record.calls("resources/unsubscribe"))
