"""An event stream, written at its client's pace."""

import anyio
import pytest
from starlette.types import Message

from gateway.listen import stream
from gateway.listen.stream import PING, EventStream, event
from tests.listen.house import LIMIT_S


class Wire:
    """A client that takes what it is sent when it is let."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.reads = anyio.Event()
        self.pinged = anyio.Event()

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        self.sent.append(message)
        if message.get("body") == PING:
            self.pinged.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def test_events_come_in_order_and_the_last_one_ends_the_stream() -> None:
    wire = Wire()
    events = EventStream(wire.send)
    events.put(b'{"a":1}')
    events.put(b'{"a":2}')
    assert events.waiting == 2
    wire.reads.set()
    with anyio.fail_after(LIMIT_S):
        await events.end(b'{"a":3}')
    head, *_, last = wire.sent
    assert (head["status"], dict(head["headers"])[b"content-type"]) == (200, b"text/event-stream")
    assert wire.body == event(b'{"a":1}') + event(b'{"a":2}') + event(b'{"a":3}')
    assert last == {"type": "http.response.body", "body": b"", "more_body": False}
    assert events.waiting == 0


async def test_silence_is_filled_with_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """case: HTT-07"""
    monkeypatch.setattr(stream, "KEEPALIVE_S", 0.01)
    wire = Wire()
    wire.reads.set()
    events = EventStream(wire.send)
    with anyio.fail_after(LIMIT_S):
        await wire.pinged.wait()
        await events.end(b"{}")
    assert wire.body.endswith(PING + event(b"{}"))


async def test_a_client_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "WRITE_DEADLINE_S", 0.01)
    events = EventStream(Wire().send)
    with anyio.fail_after(LIMIT_S):
        with pytest.raises(TimeoutError):
            await events.end(b"{}")


async def test_a_closed_stream_sends_nothing_more() -> None:
    wire = Wire()
    wire.reads.set()
    events = EventStream(wire.send)
    await anyio.lowlevel.checkpoint()
    events.close()
    await anyio.lowlevel.checkpoint()
    sent = len(wire.sent)
    events.put(b"{}")
    await anyio.lowlevel.checkpoint()
    assert len(wire.sent) == sent


async def test_of_too_many_that_wait_the_oldest_is_dropped() -> None:
    sent: list[bytes] = []
    free = anyio.Event()

    async def send(message: Message) -> None:
        await free.wait()
        sent.append(message.get("body", b""))

    slow = EventStream(send)
    await anyio.lowlevel.checkpoint()
    for number in range(5):
        slow.put(b"%d" % number, most=2)
    assert [slow.holds(b"%d" % number) for number in range(5)] == [False, False, False, True, True]
    free.set()
    await slow.end(b"end")
    assert b"".join(sent) == event(b"3") + event(b"4") + event(b"end")
