"""Clients of the handshake era, and news on the way to them."""

import asyncio

import anyio
from starlette.types import Message, Scope

from gateway.listen.asked import Questions
from gateway.listen.clients import Client, Outbox
from gateway.listen.direct import let_pass
from gateway.listen.replies import Asgi
from gateway.listen.underway import UnderWay
from gateway.types.json import JsonObject
from tests.listen.house import LIMIT_S


class Slow:
    """A client that takes nothing until it is let."""

    def __init__(self) -> None:
        self.told: list[tuple[str, JsonObject | None]] = []
        self.begun = anyio.Event()
        self.gate = anyio.Event()
        self.done = anyio.Event()

    async def send(self, method: str, params: JsonObject | None) -> None:
        self.begun.set()
        await self.gate.wait()
        self.told.append((method, params))
        if method == "last":
            self.done.set()


async def test_news_that_waits_is_told_once_and_in_order() -> None:
    slow = Slow()
    async with anyio.create_task_group() as tasks:
        outbox = Outbox(tasks.start_soon, slow.send)
        outbox.put("first", None)
        with anyio.fail_after(LIMIT_S):
            await slow.begun.wait()
            for _ in range(1000):
                outbox.put("updated", {"uri": "a:1"})
                outbox.put("updated", {"uri": "a:2"})
            outbox.put("last", None)
            slow.gate.set()
            await slow.done.wait()
    one, two = {"uri": "a:1"}, {"uri": "a:2"}
    assert slow.told == [("first", None), ("updated", one), ("updated", two), ("last", None)]


def _client(told: list[str]) -> Client:
    async def send(method: str, params: JsonObject | None) -> None:
        raise AssertionError(method, params)

    return Client(outbox=Outbox(lambda _: told.append("started"), send))


def test_a_connection_that_has_ended_leaves_what_it_would_join() -> None:
    left: list[str] = []
    client = _client([])
    client.watch("a:1", lambda: left.append("a:1"))
    client.close()
    client.watch("a:2", lambda: left.append("a:2"))
    assert left == ["a:1", "a:2"]
    assert client.watches == {}


def test_a_second_way_into_the_same_resource_is_left() -> None:
    left: list[str] = []
    client = _client([])
    client.watch("a:1", lambda: left.append("first"))
    client.watch("a:1", lambda: left.append("second"))
    assert left == ["second"]
    client.unwatch("a:1")
    client.unwatch("a:1")
    assert left == ["second", "first"]


def test_nothing_is_told_after_the_end() -> None:
    told: list[str] = []
    client = _client(told)
    client.close()
    client.updated("a:1")
    assert told == []


class Door:
    """The way to a client that may have gone."""

    def __init__(self) -> None:
        self.is_left = False

    def take(self) -> bytes | None:
        return None

    def answer(self, body: bytes) -> bool:
        return not self.is_left


def _request(door: Door) -> UnderWay:
    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        del message

    scope: Scope = {"type": "http"}
    let_pass(scope, door)
    return UnderWay(1, Asgi(scope, receive, send), Questions(), None)


async def test_an_id_is_free_when_its_client_has_gone_and_its_request_goes_on() -> None:
    client, door = _client([]), Door()
    first, second = _request(door), _request(Door())
    client.under_way[1] = first
    assert client.waits(1)
    door.is_left = True
    assert not client.waits(1)
    assert client.waits(1)  # whatever has it by then
    client.under_way[1] = second
    assert not client.done(1, first)
    assert client.under_way == {1: second}
    assert client.done(1, second)
    assert (client.under_way, client.abandoned) == ({}, set())


async def test_the_end_of_a_connection_cuts_its_requests_abandoned_ones_too() -> None:
    client, cut = _client([]), list[str]()
    doors = {name: Door() for name in ("waiting", "abandoned")}
    tasks: list[asyncio.Task[None]] = []

    async def serve(name: str) -> None:
        request = _request(doors[name])
        client.under_way[1] = request
        async with request:
            try:
                await anyio.sleep_forever()
            finally:
                cut.append(name)

    with anyio.fail_after(LIMIT_S):
        for name in ("abandoned", "waiting"):
            tasks.append(asyncio.create_task(serve(name)))
            await anyio.lowlevel.checkpoint()
            doors["abandoned"].is_left = True
            client.waits(1)
        client.close()
        await asyncio.gather(*tasks)
    assert sorted(cut) == ["abandoned", "waiting"]
