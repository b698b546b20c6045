"""One response: JSON by default, a stream when there is news."""

import anyio
import pytest
from starlette.types import Message

from gateway.listen import sse, stream
from gateway.listen.overdue import Overdue
from gateway.listen.sse import Exchange
from gateway.listen.stream import event
from tests.listen.house import LIMIT_S


class Wire:
    """The ASGI side of a request, by hand."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.pinged = anyio.Event()
        self.left = anyio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message.get("body") == b": ping\r\n\r\n":
            self.pinged.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def test_a_silent_stream_is_kept_open_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """case: HTT-07"""
    for module in (sse, stream):
        monkeypatch.setattr(module, "KEEPALIVE_S", 0.01)
    wire = Wire()
    async with Exchange(wire.receive, wire.send, Overdue(0.0)) as exchange:
        with anyio.fail_after(LIMIT_S):
            await wire.pinged.wait()
        assert exchange.is_stream
        await exchange.finish(b"{}")
    assert wire.body.endswith(event(b"{}"))
    assert wire.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_client_that_leaves_cancels_only_the_exchange() -> None:
    wire = Wire()
    reached = False
    with anyio.fail_after(LIMIT_S):
        async with Exchange(wire.receive, wire.send, Overdue(0.0)) as exchange:
            wire.left.set()
            await anyio.sleep_forever()
            reached = True
        await anyio.lowlevel.checkpoint()  # the task itself goes on
    assert exchange.client_gone
    assert not reached
    assert wire.sent == []


async def test_any_other_cancellation_passes_through() -> None:
    wire = Wire()
    after = False
    with anyio.move_on_after(0.01) as scope:
        async with Exchange(wire.receive, wire.send, Overdue(0.0)):
            await anyio.sleep_forever()
        after = True
    assert scope.cancelled_caught
    assert not after


async def test_a_client_that_reads_slowly_loses_the_oldest_news() -> None:
    wire = Wire()
    async with Exchange(wire.receive, wire.send, Overdue(0.0)) as exchange:
        for number in range(300):
            exchange.push(b"%d" % number)
        await exchange.finish(b"end")
        exchange.push(b"too late")
        await exchange.finish(b"twice")
    events = [line for line in wire.body.splitlines() if line.startswith(b"data: ")]
    assert events[0] == b"data: 44"
    assert events[-2:] == [b"data: 299", b"data: end"]
    assert len(events) == 257
