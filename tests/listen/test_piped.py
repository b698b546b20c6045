"""Calls on their short way over stdio: what a host sees is what it sees of those by the SDK."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from gateway import jsontext
from gateway.errors import AskRefused
from gateway.listen import stdio
from gateway.listen.lines import LineReader, write_all
from gateway.listen.piped import PipedCalls
from gateway.listen.rpc import RequestId
from gateway.listen.strict import Incoming
from gateway.types.calls import ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status
from tests.listen.house import META, House, call_body
from tests.listen.pipes import hear, linked
from tests.listen.raw import child

HELLO: JsonObject = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
    "clientInfo": {"name": "host", "version": "1"},
}
READY: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def modern(name: str, arguments: JsonObject | None = None, *, id: Json = 1) -> JsonObject:
    return {**call_body(name, arguments), "id": id}


def legacy(name: str, arguments: JsonObject | None = None, *, id: Json = 1) -> JsonObject:
    params: JsonObject = {"name": name, "arguments": arguments or {}}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


Call = Callable[..., JsonObject]


class Talk:
    """A host at the pipes, which has made one call already."""

    def __init__(self, house: House, to_front: int, reader: LineReader, call: Call) -> None:
        self.house, self.to_front, self.reader, self.call = house, to_front, reader, call
        self.short: list[RequestId] = []  # ids of calls that went the short way

    async def say(self, *messages: JsonObject | bytes) -> None:
        lines = [each if isinstance(each, bytes) else jsontext.dump(each) for each in messages]
        await write_all(self.to_front, b"".join(line + b"\n" for line in lines))

    async def hear(self) -> JsonObject:
        value = jsontext.parse_result(await self.reader.read() or b"")
        assert isinstance(value, dict)
        return value

    async def ask(self, *messages: JsonObject | bytes) -> list[JsonObject]:
        """Say them all, and hear as many answers, by the order of their ids."""
        await self.say(*messages)
        heard = [await self.hear() for _ in messages]
        return sorted(heard, key=lambda answer: repr(answer.get("id")))


@asynccontextmanager
async def talking(
    call: Call, monkeypatch: pytest.MonkeyPatch, *, is_short: bool = True
) -> AsyncGenerator[Talk]:
    begin, house = PipedCalls.begin, House()
    async with linked(house) as (to_front, reader, _):
        talk = Talk(house, to_front, reader, call)

        def noted(self: PipedCalls, incoming: Incoming, request_id: RequestId) -> bool:
            is_taken = is_short and begin(self, incoming, request_id)
            if is_taken:
                talk.short.append(request_id)
            return is_taken

        monkeypatch.setattr(PipedCalls, "begin", noted)
        if call is legacy:
            hello: JsonObject = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
            await talk.ask(hello)
            await talk.say(READY)
        await talk.ask(call("echo", {"first": 1}, id=0))
        yield talk


both_eras = pytest.mark.parametrize("call", [modern, legacy])


def seen(house: House) -> list[dict[str, Any]]:
    """Return what the gate was given, but for ids and times of its own."""
    return [
        {
            "name": call.name,
            "arguments": call.arguments,
            "meta": call.meta,
            "params": call.params,
            "principal": call.principal,
            "request": call.request_id,
            "client": call.client_name,
            "error": call.input_error,
            "peer": call.peer,
            "caller": (
                call.caller.era,
                call.caller.protocol_version,
                call.caller.transport,
                call.caller.capabilities,
                call.caller.log_level,
                call.caller.session,
                call.caller.wants_progress,
            ),
        }
        for call in house.calls
    ]


@both_eras
async def test_answers_and_calls_are_those_of_the_other_way(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = 10**40
    messages: list[JsonObject | bytes] = [
        call("echo", {"n": big, "t": "é"}, id=1),
        call("echo", {}, id="1"),
        call("open", {"value": [1, 2]}, id=2),
        call("who", id="x"),
        call("params", {"a": 1}, id=3),
        call("task", id=4),
        call("nobody", id=5),
        {**call("x", id=55), "params": {**child(call("x"), "params"), "name": 3}},
        call("broken", id=6),
        call("ask", {"method": "roots/list", "within_s": 0}, id=7) if call is modern else b"{",
        jsontext.dump(call("echo", {"a": "X"}, id=8)).replace(b'"X"', b"NaN"),
        jsontext.dump(call("echo", {"a": "X"}, id=9)).replace(
            b'"arguments":', b'"arguments":3,"x":'
        ),
    ]
    told: list[list[JsonObject]] = []
    given: list[list[dict[str, Any]]] = []
    turned: list[object] = []
    for is_short in (True, False):
        with monkeypatch.context() as patch:
            async with talking(call, patch, is_short=is_short) as talk:
                told.append(await talk.ask(*messages))
                given.append(seen(talk.house))
                turned.append(sorted(map(repr, talk.house.turned)))
                assert len(talk.short) == (
                    is_short and sum(not isinstance(m, bytes) for m in messages) + 2
                )
    assert told[0] == told[1]
    assert sorted(map(repr, given[0])) == sorted(map(repr, given[1]))
    assert turned[0] == turned[1]


async def test_what_is_told_before_an_answer_comes_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talking(legacy, monkeypatch) as talk:
        await talk.say(legacy("log", id=1), legacy("ask", {"method": "roots/list"}, id=2))
        heard = [await talk.hear() for _ in range(6)]
        assert talk.short == [1, 2]
        levels = [child(each, "params")["level"] for each in heard if "params" in each][:4]
        question = next(each for each in heard if each.get("method") == "roots/list")
        answer = next(each for each in heard if each.get("id") == 1)
        assert heard.index(answer) > max(
            heard.index(each) for each in heard if each.get("method") == "notifications/message"
        )
        assert levels == ["debug", "info", "error", "made-up"]
        await talk.say({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}})
        assert child(await talk.hear(), "result", "structuredContent") == {"answer": {"roots": []}}


@both_eras
async def test_a_call_that_is_cancelled_ends_and_is_answered_no_more(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    note: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    async with talking(call, monkeypatch) as talk:
        for request_id in (5, "5", 1, "1"):
            talk.house.forget()
            await talk.say(call("slow", id=request_id))
            await talk.house.started.wait()
            others: list[Json] = [
                6,
                "6",
                True,
                None,
                5.5,
                {},
                "5" if request_id == 5 else 5,
                "1" if request_id == 1 else 1,
            ]
            others = [each for each in others if type(each) is not int or each != request_id]
            others = [each for each in others if each != request_id or isinstance(each, bool)]
            for other in others:
                await talk.say({**note, "params": {"requestId": other}})
            await talk.ask(call("echo", id=9))
            assert not talk.house.cancelled.is_set()
            await talk.say({**note, "params": {"requestId": request_id}})
            await talk.house.cancelled.wait()
            (answer,) = await talk.ask(call("echo", id=request_id))
            assert answer["id"] == request_id
        assert talk.short.count(5) + talk.short.count("5") >= 2


@both_eras
async def test_an_id_that_is_in_use_is_left_to_the_sdk(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(call, monkeypatch) as talk:
        await talk.say(call("slow", id=5))
        await talk.house.started.wait()
        await talk.ask(call("echo", id=5))
        assert talk.short == [5]
        talk.house.release.set()
        assert (await talk.hear())["id"] == 5


@both_eras
@pytest.mark.parametrize(
    "change",
    [
        {"progressToken": 1},
        {"io.modelcontextprotocol/logLevel": "debug"},
        {"x": 1},
        {"io.modelcontextprotocol/protocolVersion": "2026-07-28x"},
        {"io.modelcontextprotocol/clientCapabilities": {"roots": {}}},
    ],
)
async def test_another_meta_goes_by_the_sdk(
    call: Call, change: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = call("echo", id=2)
    child(other, "params")["_meta"] = {**(META if call is modern else {}), **change}
    async with talking(call, monkeypatch) as talk:
        await talk.ask(call("echo", id=1))
        (first,) = await talk.ask(other)
        await talk.ask(call("echo", id=3))
        (second,) = await talk.ask(other)
        assert first == second
        assert 2 not in talk.short
        (third,) = await talk.ask(other)  # what it says is known by now
        assert first == third
        is_own = not {*change} & {"progressToken", "io.modelcontextprotocol/logLevel"}
        assert (2 in talk.short) is (is_own and "error" not in first)


@both_eras
@pytest.mark.parametrize("meta", [None, 3, [], "x"])
async def test_what_is_no_meta_goes_by_the_sdk(
    call: Call, meta: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = call("echo", id=2)
    child(odd, "params")["_meta"] = meta
    async with talking(call, monkeypatch) as talk:
        await talk.ask(odd)
        assert talk.short == []
        await talk.say({**call("echo", id=4), "params": 3})
        await talk.hear()
        await talk.ask({key: value for key, value in call("echo", id=5).items() if key != "params"})
        assert talk.short == []


async def test_what_changes_how_calls_are_answered_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    level: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel"}
    level["params"] = {"level": "error"}
    async with talking(legacy, monkeypatch) as talk:
        await talk.ask(legacy("echo", id=2))
        await talk.say(level, legacy("who", id=3))
        heard = [await talk.hear() for _ in range(2)]
        who = next(each for each in heard if each["id"] == 3)
        assert child(who, "result", "structuredContent")["logLevel"] == "error"
        assert talk.short == [2]
        (who,) = await talk.ask(legacy("who", id=4))
        assert child(who, "result", "structuredContent")["logLevel"] == "error"
        assert talk.short == [2, 4]
        await talk.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        await talk.ask(legacy("echo", id=5))
        assert talk.short == [2, 4]
        assert talk.house.roots == [("local", "stdio")]
        for harmless in ("ping", "tools/list"):
            await talk.ask({"jsonrpc": "2.0", "id": 6, "method": harmless})
            await talk.ask(legacy("echo", id=7))
        assert talk.short == [2, 4, 7, 7]


async def test_a_call_from_before_a_change_teaches_nothing_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talking(legacy, monkeypatch) as talk:
        other = legacy("slow", id=1)
        child(other, "params")["_meta"] = {"x": 1}
        await talk.say(other)
        await talk.house.started.wait()
        await talk.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        talk.house.release.set()
        await talk.hear()
        again = legacy("echo", id=2)
        child(again, "params")["_meta"] = {"x": 1}
        await talk.ask(again)
        assert talk.short == []
        await talk.ask(again)
        assert talk.short == [2]


async def test_nobody_calls_before_the_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    async with linked(House()) as (to_front, reader, _):
        for number in range(3):
            await write_all(to_front, jsontext.dump(legacy("echo", id=number)) + b"\n")
            assert child(await hear(reader), "error")["code"] == -32600
    # And an envelope is refused on a connection that speaks the other era, whatever came before.
    async with talking(legacy, monkeypatch) as talk:
        for number in range(2):
            (refused,) = await talk.ask(modern("echo", id=number))
            assert child(refused, "error")["code"] == -32600
        assert talk.short == []


@both_eras
async def test_the_end_of_input_lets_calls_finish_and_then_ends_them(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(call, monkeypatch) as talk:
        await talk.say(call("echo", {"n": 1}, id=1), call("slow", id="late"))
        await talk.house.started.wait()
        os.close(talk.to_front)
        assert child(await talk.hear(), "result", "structuredContent") == {"n": 1}
        last = await talk.hear()
        assert last["id"] == "late"
        assert child(last, "error") == {"code": -32000, "message": "Connection closed"}
        assert talk.house.cancelled.is_set()
        assert talk.short == [1, "late"]


@both_eras
async def test_stopping_ends_calls_at_once(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    house, begin, taken = House(), PipedCalls.begin, list[bool]()

    def noted(self: PipedCalls, incoming: Incoming, request_id: RequestId) -> bool:
        taken.append(begin(self, incoming, request_id))
        return taken[-1]

    monkeypatch.setattr(PipedCalls, "begin", noted)
    async with linked(house) as (to_front, reader, stop):
        if call is legacy:
            hello: JsonObject = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
            await write_all(to_front, jsontext.dump(hello) + b"\n" + jsontext.dump(READY) + b"\n")
            await hear(reader)
        await write_all(to_front, jsontext.dump(call("echo", id=0)) + b"\n")
        await hear(reader)
        await write_all(to_front, jsontext.dump(call("slow", id=1)) + b"\n")
        await house.started.wait()
        stop.set()
        await house.cancelled.wait()
    assert taken[-1]


@both_eras
async def test_many_calls_at_once_are_each_answered_once(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far more than the pipe holds, to a host that reads when it has said all."""
    text = "x" * 1_000
    async with talking(call, monkeypatch) as talk:

        async def say() -> None:
            for number in range(300):
                await talk.say(call("echo", {"n": number, "t": text}, id=number))

        saying = asyncio.ensure_future(say())
        await anyio.sleep(0.3)
        heard = [await talk.hear() for _ in range(300)]
        await saying
        assert sorted(int(str(each["id"])) for each in heard) == list(range(300))
        for each in heard:
            assert child(each, "result", "structuredContent")["n"] == each["id"]
        assert len(talk.short) == 300


@both_eras
async def test_once_it_is_answered_nothing_more_is_told_of_a_call(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(call, monkeypatch) as talk:
        await talk.ask(call("echo", id=1))
        caller = talk.house.calls[-1].caller
        await caller.log({"level": "error", "data": "late"})
        with pytest.raises(AskRefused):
            await caller.ask("roots/list", {}, within_s=5)
        (answer,) = await talk.ask(call("echo", id=2))
        assert answer["id"] == 2
        assert talk.short == [1, 2]


@both_eras
async def test_a_call_that_goes_on_though_it_was_cancelled_is_answered_no_more(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    note: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    async with talking(call, monkeypatch) as talk:
        slow: Callable[[], Awaitable[Finished]] = getattr(talk.house, "_slow")  # noqa: B009

        async def stubborn() -> Finished:
            try:
                return await slow()
            except asyncio.CancelledError:
                return Finished(result={"content": []}, status=Status.OK)

        monkeypatch.setattr(talk.house, "_slow", stubborn)
        await talk.say(call("slow", id=5))
        await talk.house.started.wait()
        await talk.say({**note, "params": {"requestId": 5}})
        await talk.house.cancelled.wait()
        (answer,) = await talk.ask(call("echo", id=6))
        assert answer["id"] == 6
        assert talk.short == [5, 6]


@both_eras
async def test_where_all_is_answered_the_end_of_input_is_the_end(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_GRACE_S", 1_000)
    async with talking(call, monkeypatch) as talk:
        await talk.ask(call("echo", id=1), call("echo", id=2))
        assert talk.short == [1, 2]
        os.close(talk.to_front)
        assert await talk.reader.read() is None


async def test_a_host_that_never_stops_talking_is_answered_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talking(modern, monkeypatch) as talk:
        handled: list[tuple[int, int]] = []  # how many were begun when each was handled
        handle = talk.house.handle

        async def noted(call: ProposedCall) -> Finished:
            handled.append((len(handled), len(talk.short)))
            return await handle(call)

        monkeypatch.setattr(talk.house, "handle", noted)
        await talk.say(*(modern("echo", id=number) for number in range(100)))
        for _ in range(100):
            await talk.hear()
        assert max(begun - before for before, begun in handled) <= 16
