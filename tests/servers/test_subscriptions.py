"""Subscriptions to resources of servers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.servers.supervisor import Server
from gateway.types.calls import Method
from gateway.types.operations import Rejected, Undelivered
from gateway.types.relay import Outbound
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import EVERYTHING, Script, record_of, text, until_async
from tests.helpers.fleets import call, http_entry, running, stdio_entry

UPDATED = "notifications/resources/updated"


async def _subscribe(
    server: Server | None, uri: str, told: Callable[[], None]
) -> Callable[[], None] | Rejected | Undelivered:
    assert server is not None
    outbound = Outbound(method=Method.SUBSCRIBE, params={"uri": uri}, deadline_s=5, is_read=True)
    return await server.subscribe(uri, outbound, told)


def _watched(fake: FakeHttp) -> Any:
    """Return what the last listen asked for."""
    return fake.calls("subscriptions/listen")[-1]["params"]["notifications"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_updates_are_told_until_the_last_one_leaves(era: str) -> None:
    with FakeHttp(Script(eras=[era], capabilities=EVERYTHING)) as fake:
        async with running(http_entry(fake)) as servers:
            alpha, one, two = servers.server("alpha"), list[int](), list[int]()
            leave = await _subscribe(alpha, "x://1", lambda: one.append(1))
            leave_too = await _subscribe(alpha, "x://1", lambda: two.append(1))
            assert callable(leave)
            assert callable(leave_too)
            if era == "legacy":
                assert len(fake.calls("resources/subscribe")) == 1
            else:
                await until_async(lambda: _watched(fake).get("resourceSubscriptions") == ["x://1"])
            await until_async(lambda: len(fake.streams) == 1)
            fake.announce(UPDATED, uri="x://1")
            await until_async(lambda: one and two)
            fake.announce(UPDATED, uri="x://2")
            leave()
            leave()
            fake.announce(UPDATED, uri="x://1/part")
            await until_async(lambda: len(two) == 2)
            assert len(one) == 1
            leave_too()
            if era == "legacy":
                await until_async(lambda: fake.calls("resources/unsubscribe"))
            else:
                await until_async(lambda: "resourceSubscriptions" not in _watched(fake))


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_subscription_outlives_the_process_of_its_server(tmp_path: Path, era: str) -> None:
    update = {"notify": {"method": UPDATED, "params": {"uri": "x://1"}}}
    script = Script(
        eras=[era],
        capabilities=EVERYTHING,
        on_call={"die": [{"exit": 1}], "touch": [update, {"reply": text("ok")}]},
    )
    method = "resources/subscribe" if era == "legacy" else "subscriptions/listen"
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, told = servers.server("alpha"), list[int]()
        record = record_of(tmp_path, "alpha")
        assert callable(await _subscribe(alpha, "x://1", lambda: told.append(1)))
        await call(alpha, "touch")
        await until_async(lambda: len(told) == 1)
        before = len(record.calls(method))
        await call(alpha, "die")
        await until_async(lambda: len(told) == 2)  # it may have changed in between
        await until_async(lambda: len(record.calls(method)) == before + 1)
        await call(alpha, "touch")
        await until_async(lambda: len(told) == 3)


async def test_a_new_session_is_subscribed_again_and_listed_again() -> None:
    """case: HTT-01"""
    with FakeHttp(Script(eras=["legacy"], capabilities=EVERYTHING)) as fake:
        async with running(http_entry(fake)) as servers:
            alpha, told = servers.server("alpha"), list[int]()
            await _subscribe(alpha, "x://1", lambda: told.append(1))
            fake.forget_sessions()
            await call(alpha)
            await until_async(lambda: len(fake.calls("resources/subscribe")) == 2)
            await until_async(lambda: len(fake.calls("prompts/list")) == 2)
            await until_async(lambda: told == [1])


async def test_a_server_without_subscriptions_says_so(tmp_path: Path) -> None:
    async with running(stdio_entry(Script(), tmp_path)) as servers:
        got = await _subscribe(servers.server("alpha"), "x://1", lambda: None)
        assert isinstance(got, Rejected)
        assert got.code == -32601


async def test_a_servers_own_refusal_passes(tmp_path: Path) -> None:
    refusal: Any = {"code": -32002, "message": "no such resource", "data": {"uri": "x://1"}}
    script = Script(
        eras=["legacy"],
        capabilities=EVERYTHING,
        on_method={"resources/subscribe": [{"error": refusal}]},
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        got = await _subscribe(servers.server("alpha"), "x://1", lambda: None)
        assert isinstance(got, Rejected)
        assert (got.code, got.data) == (-32002, {"uri": "x://1"})


async def test_an_update_right_after_a_subscription_is_told() -> None:
    with FakeHttp(Script(eras=["modern"], capabilities=EVERYTHING)) as fake:
        async with running(http_entry(fake)) as servers:
            told = list[int]()
            for uri in ("x://1", "x://2"):
                assert callable(
                    await _subscribe(servers.server("alpha"), uri, lambda: told.append(1))
                )
                before = len(told)
                fake.announce(UPDATED, uri=uri)
                await until_async(lambda before=before: len(told) > before)


async def test_a_flood_of_updates_is_told_now_and_then() -> None:
    with FakeHttp(Script(eras=["legacy"], capabilities=EVERYTHING)) as fake:
        async with running(http_entry(fake)) as servers:
            alpha, told = servers.server("alpha"), list[int]()
            assert callable(await _subscribe(alpha, "x://1", lambda: told.append(1)))
            assert callable(await _subscribe(alpha, "x://2", lambda: told.append(2)))
            await until_async(lambda: len(fake.streams) == 1)
            for part in range(1_000):
                fake.announce(UPDATED, uri=f"x://1/{part}")
            fake.announce(UPDATED, uri="x://2")
            await until_async(lambda: 2 in told)
            assert 1 <= told.count(1) < 500
