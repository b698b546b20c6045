"""Tasks that are followed: the server is asked for them, and what it tells finds its way."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.servers import following
from gateway.servers.following import Following
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Rejected
from gateway.types.relay import Outbound
from tests.helpers.fake_server import Script, record_of, text, until_async
from tests.helpers.fleets import call, running, stdio_entry

TASKS = "io.modelcontextprotocol/tasks"
OFFERS: Any = {"tools": {}, "extensions": {TASKS: {}}}
ACKNOWLEDGED: JsonObject = {"notifications": {"taskIds": ["t-1"]}}


def later(seconds: float = 5.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def get(task: str) -> Outbound:
    return Outbound(method=Method.GET_TASK, params={"taskId": task}, deadline_s=5, is_read=True)


def acknowledging(*tasks: str) -> list[Any]:
    params = {"notifications": {"taskIds": [*tasks]}}
    return [{"notify": {"method": "notifications/subscriptions/acknowledged", "params": params}}]


async def test_a_task_is_followed_until_the_last_one_leaves() -> None:
    asked: list[tuple[str, ...]] = []
    followed = Following(lambda: asked.append(followed.ids))
    one, two = list[JsonObject](), list[JsonObject]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(followed.add, "t-1", one.append, later())
        await until_async(lambda: asked)
        followed.acknowledged(ACKNOWLEDGED)
    leave = await followed.add("t-1", two.append, later())
    assert leave is not None
    news: list[Json] = [{"taskId": "t-1", "n": 1}, {"taskId": "t-2"}, {"taskId": 1}, None, []]
    for params in news:
        followed.changed(params)
    leave()
    leave()
    followed.missed()
    assert one == [{"taskId": "t-1", "n": 1}, {"taskId": "t-1"}]
    assert two == [{"taskId": "t-1", "n": 1}]
    assert asked == [("t-1",)]


@pytest.mark.parametrize(
    "params", [None, {}, {"notifications": {"taskIds": "t-1"}}, {"notifications": {"taskIds": [1]}}]
)
async def test_a_server_that_does_not_agree_is_not_waited_for(params: Any) -> None:
    asked: list[tuple[str, ...]] = []
    followed = Following(lambda: asked.append(followed.ids))
    followed.acknowledged(params)
    assert await followed.add("t-1", lambda told: None, later(0.05)) is None
    assert asked == [("t-1",), ()]


async def test_who_leaves_while_the_server_is_asked_follows_nothing() -> None:
    followed = Following(lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(followed.add, "t-1", list[JsonObject]().append, later())
        await until_async(lambda: followed.ids)
        tasks.cancel_scope.cancel()
    assert followed.ids == ()


async def test_a_followed_task_outlives_the_process_of_its_server(tmp_path: Path) -> None:
    note = {"notify": {"method": "notifications/tasks", "params": {"taskId": "t-1", "status": "x"}}}
    script = Script(
        capabilities=OFFERS,
        on_call={"die": [{"exit": 1}], "touch": [note, {"reply": text("ok")}]},
        on_method={"subscriptions/listen": acknowledging("t-1")},
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, told = servers.server("alpha"), list[JsonObject]()
        assert alpha is not None
        assert callable(await alpha.follow("t-1", get("t-1"), told.append))
        (listen,) = record_of(tmp_path, "alpha").calls("subscriptions/listen")
        meta = listen["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"extensions": {TASKS: {}}}
        await call(alpha, "touch")
        await until_async(lambda: told == [{"taskId": "t-1", "status": "x"}])
        await call(alpha, "die")
        await until_async(lambda: told[1:] == [{"taskId": "t-1"}])  # it may be over by now
        await call(alpha, "touch")
        await until_async(lambda: len(told) == 3)


@pytest.mark.parametrize("offers", [OFFERS, {"tools": {}}])
async def test_a_server_that_tells_of_no_task_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offers: Any
) -> None:
    monkeypatch.setattr(following, "_ACKNOWLEDGED_S", 0.1)
    listening = {"subscriptions/listen": acknowledging()}
    script = Script(capabilities=offers, on_method=listening)
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        found = await alpha.follow("t-1", get("t-1"), lambda told: None)
        assert isinstance(found, Rejected)
        assert found.code == -32601
