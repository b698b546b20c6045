"""One response: JSON by default, a stream when there is news."""

import anyio
import pytest
from starlette.types import Message

from gateway.listen import sse, stream
from gateway.listen.overdue import Overdue
from gateway.listen.replies import Asgi
from gateway.listen.sse import Exchange
from gateway.listen.stream import event
from tests.helpers.doors import Door
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
    def http(self) -> Asgi:
        return Asgi({"type": "http"}, self.receive, self.send)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def test_a_silent_stream_is_kept_open_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """case: HTT-07"""
    for module in (sse, stream):
        monkeypatch.setattr(module, "KEEPALIVE_S", 0.01)
    wire = Wire()
    with Exchange(wire.http, Overdue(0.0)) as exchange:
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
        with Exchange(wire.http, Overdue(0.0)) as exchange:
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
        with Exchange(wire.http, Overdue(0.0)):
            await anyio.sleep_forever()
        after = True
    assert scope.cancelled_caught
    assert not after


async def test_a_client_that_reads_slowly_loses_the_oldest_news() -> None:
    wire = Wire()
    with Exchange(wire.http, Overdue(0.0)) as exchange:
        for number in range(300):
            exchange.push(b"%d" % number)
        await exchange.finish(b"end")
        exchange.push(b"too late")
        await exchange.finish(b"twice")
    events = [line for line in wire.body.splitlines() if line.startswith(b"data: ")]
    assert events[0] == b"data: 44"
    assert events[-2:] == [b"data: 299", b"data: end"]
    assert len(events) == 257


@pytest.mark.parametrize("is_open", [True, False])
async def test_an_answer_goes_the_short_way_once_or_the_other(is_open: bool) -> None:
    wire, door = Wire(), Door(is_open=is_open)
    with Exchange(wire.http, Overdue(60.0), door) as exchange:
        assert exchange.answer(b"{}") is is_open
        await exchange.finish(b"{}")
        assert not exchange.answer(b"again")
        await exchange.finish(b"again")
    assert door.answers == ([b"{}"] if is_open else [])
    assert wire.body == (b"" if is_open else b"{}")


async def test_a_stream_that_has_begun_takes_the_answer() -> None:
    wire, door = Wire(), Door(is_open=True)
    with Exchange(wire.http, Overdue(60.0), door) as exchange:
        exchange.push(b"news")
        assert not exchange.answer(b"{}")
        await exchange.finish(b"{}")
    assert door.answers == []
    assert wire.body.endswith(event(b"{}"))


async def test_an_error_under_another_status_needs_the_long_way() -> None:
    wire, door = Wire(), Door(is_open=True)
    with Exchange(wire.http, Overdue(60.0), door) as exchange:
        await exchange.finish(b"{}", status=403)
    assert door.answers == []
    assert wire.sent[0]["status"] == 403
