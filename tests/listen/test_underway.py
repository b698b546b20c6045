"""One request of a session: its answer, what comes before it, and its being cut short."""

import asyncio

import anyio
import pytest
from mcp.shared.exceptions import NoBackChannelError
from starlette.types import Message

from gateway import jsontext
from gateway.listen import underway
from gateway.listen.asked import Questions
from gateway.listen.direct import let_pass
from gateway.listen.replies import Asgi
from gateway.listen.rpc import RequestId, RpcError
from gateway.listen.underway import UnderWay
from gateway.types.json import JsonObject
from tests.helpers.doors import Door
from tests.listen.house import LIMIT_S

CUT = RpcError(code=-1, message="cut")
ANSWER = b'{"answer":1}'


class Wire:
    """The ASGI side of a request, by hand."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.pinged = anyio.Event()

    def http(self) -> Asgi:
        return Asgi({"type": "http"}, self._receive, self._send)

    @property
    def is_stream(self) -> bool:
        return dict(self.sent[0]["headers"])[b"content-type"] == b"text/event-stream"

    @property
    def said(self) -> list[JsonObject]:
        text = b"".join(message.get("body", b"") for message in self.sent)
        lines = text.splitlines() if self.is_stream else [b"data: " + text]
        found = [jsontext.parse(line[6:]) for line in lines if line.startswith(b"data: ")]
        return [each for each in found if isinstance(each, dict)]

    async def _receive(self) -> Message:
        raise AssertionError

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
        if message.get("body") == b": ping\r\n\r\n":
            self.pinged.set()


def _under_way(
    wire: Wire, questions: Questions | None = None, token: RequestId | None = None
) -> UnderWay:
    return UnderWay(7, wire.http(), questions or Questions(), token)


async def test_an_answer_with_nothing_before_it_is_json() -> None:
    wire = Wire()
    async with _under_way(wire, token="t") as request:
        await request.finish(ANSWER)
    assert not wire.is_stream
    assert wire.said == [{"answer": 1}]


@pytest.mark.parametrize("is_open", [True, False])
async def test_an_answer_goes_the_short_way_once_or_the_other(is_open: bool) -> None:
    wire, door = Wire(), Door(is_open=is_open)
    http = wire.http()
    let_pass(http.scope, door)
    async with UnderWay(7, http, Questions(), None) as request:
        assert request.answer(ANSWER) is is_open
        assert request.has_ended is is_open
        if not is_open:
            await request.finish(ANSWER)
        assert not request.answer(b"again")
    assert door.answers == ([ANSWER] if is_open else [])
    assert (wire.sent == []) is is_open


async def test_neither_a_stream_nor_what_was_cut_short_is_answered_the_short_way() -> None:
    for is_cut in (False, True):
        wire, door = Wire(), Door(is_open=True)
        http = wire.http()
        let_pass(http.scope, door)
        async with UnderWay(7, http, Questions(), None) as request:
            if is_cut:
                request.cut(CUT)
            else:
                await request.notify("news", {})
            assert not request.answer(ANSWER)
            await request.finish(ANSWER)
            await anyio.lowlevel.checkpoint()
        assert door.answers == []
        assert "error" in wire.said[-1] if is_cut else "answer" in wire.said[-1]


async def test_what_is_told_before_makes_it_a_stream_in_order() -> None:
    wire = Wire()
    async with _under_way(wire, token=0) as request:
        await request.progress(1, 3, "one")
        await request.notify("news", {"n": 10**40})
        await request.finish(ANSWER)
    assert wire.is_stream
    progress, news, answer = wire.said
    wanted = {"progressToken": 0, "progress": 1, "total": 3, "message": "one"}
    assert progress == {"jsonrpc": "2.0", "method": "notifications/progress", "params": wanted}
    assert (news["params"], answer) == ({"n": 10**40}, {"answer": 1})


async def test_without_a_token_there_is_no_progress() -> None:
    wire = Wire()
    async with _under_way(wire) as request:
        await request.progress(1)
        await request.finish(ANSWER)
    assert not wire.is_stream


async def test_a_slow_client_loses_news_and_never_a_question_or_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(underway, "_MOST_WAITING", 2)
    wire, questions = Wire(), Questions()
    async with _under_way(wire, questions) as request:
        for number in range(5):
            await request.notify("news", {"n": number})
        asking = asyncio.create_task(request.send_raw_request("ask", {}))
        with anyio.fail_after(LIMIT_S):
            while len(wire.sent) < 4:
                await anyio.lowlevel.checkpoint()
        (question,) = [each for each in wire.said if each["method"] == "ask"]
        questions.answer({"jsonrpc": "2.0", "id": question["id"], "result": {"yes": True}})
        assert await asking == {"yes": True}
        await request.finish(ANSWER)
    assert [each.get("params") for each in wire.said] == [{"n": 0}, {"n": 1}, {}, None]


async def test_a_question_is_taken_back_when_nobody_waits() -> None:
    wire = Wire()
    async with _under_way(wire) as request:
        with anyio.move_on_after(0.01):
            await request.send_raw_request("ask", None)
        await request.finish(ANSWER)
    question, taken, _ = wire.said
    params = taken["params"]
    assert isinstance(params, dict)
    assert (taken["method"], params["requestId"]) == ("notifications/cancelled", question["id"])


async def test_nothing_is_told_or_asked_behind_the_answer() -> None:
    wire = Wire()
    async with _under_way(wire, token=1) as request:
        await request.finish(ANSWER)
        await request.progress(1)
        with pytest.raises(NoBackChannelError):
            await request.send_raw_request("ask", {})
        request.cut(CUT)
        await anyio.lowlevel.checkpoint()  # which is not cancelled
    assert wire.said == [{"answer": 1}]


async def _cut(request: UnderWay) -> None:
    request.cut(CUT)
    request.cut(RpcError(code=-2, message="again"))


async def test_a_request_is_cut_once_and_its_task_goes_on() -> None:
    wire = Wire()
    tasks: list[asyncio.Task[None]] = []
    with anyio.fail_after(LIMIT_S):
        async with _under_way(wire) as request:
            tasks.append(asyncio.create_task(_cut(request)))
            await anyio.sleep_forever()
        await asyncio.gather(*tasks)
    assert wire.is_stream  # for clients that have ears for nothing else by then
    assert [each["error"] for each in wire.said] == [{"code": -1, "message": "cut"}]


async def test_what_goes_on_in_spite_of_being_cut_is_no_answer() -> None:
    wire = Wire()
    async with _under_way(wire) as request:
        task = asyncio.create_task(_cut(request))
        try:
            await task
        except asyncio.CancelledError:
            await request.finish(ANSWER)
    assert [each.get("error") for each in wire.said] == [{"code": -1, "message": "cut"}]


async def test_a_task_that_others_cancel_too_is_cancelled() -> None:
    wire = Wire()

    async def serve() -> None:
        async with _under_way(wire) as request:
            request.cut(CUT)
            await anyio.sleep_forever()

    task = asyncio.create_task(serve())
    await anyio.lowlevel.checkpoint()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert wire.sent == []


async def test_the_answer_ends_the_wait_for_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(underway, "KEEPALIVE_S", 0.0)
    wire = Wire()
    async with _under_way(wire) as request:
        request.is_overdue()
        await request.finish(ANSWER)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
    assert not wire.is_stream
    assert wire.said == [{"answer": 1}]


async def test_silence_becomes_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(underway, "KEEPALIVE_S", 0.01)
    monkeypatch.setattr("gateway.listen.stream.KEEPALIVE_S", 0.01)
    wire = Wire()
    async with _under_way(wire) as request:
        request.is_overdue()
        with anyio.fail_after(LIMIT_S):
            await wire.pinged.wait()
        await request.finish(ANSWER)
    assert wire.said == [{"answer": 1}]
