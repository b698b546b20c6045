"""Clients of the handshake era that answer wrongly, twice, late, or not at all."""

import anyio
import pytest

from gateway.listen import answering
from gateway.listen.options import HttpOptions
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, House, Place, serving
from tests.listen.legacy_raw import EVERYTHING, Session, Stream, begin, call, request
from tests.listen.library import EXACT
from tests.listen.raw import child

ELICIT: JsonObject = {"method": "elicitation/create"}


def _answer(question_id: Json, **members: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": question_id, **members}


async def _question(stream: Stream, method: str = "elicitation/create") -> JsonObject:
    question = await stream.next()
    assert question["method"] == method
    return question


async def _came(stream: Stream) -> JsonObject:
    return child(await stream.next(), "result", "structuredContent")


async def test_a_question_and_its_answer_keep_every_digit(place: Place) -> None:
    session = await begin(place)
    async with session.streaming(call("ask", ELICIT)) as stream:
        question = await _question(stream)
        assert child(question, "params")["exact"] == EXACT
        content: JsonObject = {"n": 10**40, "own": None}
        assert (await session.send(_answer(question["id"], result=content))).status == 202
        assert await _came(stream) == {"answer": content}


async def test_answers_twice_late_or_to_nobody_are_dropped(place: Place) -> None:
    """case: RPC-03, RPC-04"""
    session = await begin(place)
    async with session.streaming(call("ask", ELICIT)) as stream:
        question = await _question(stream)
        stray: list[Json] = ["ghost", 10**9, "", -1]
        for question_id in stray:
            assert (await session.send(_answer(question_id, result={"from": "stray"}))).status < 500
        for turn in ("first", "second", "third"):
            await session.send(_answer(question["id"], result={"turn": turn}))
        assert await _came(stream) == {"answer": {"turn": "first"}}
    assert child(await session.result("tools/call", {"name": "echo", "arguments": {"a": 1}})) == {
        "content": [],
        "structuredContent": {"a": 1},
    }


@pytest.mark.parametrize("key", ["ada", "bob"])
async def test_an_answer_in_another_session_reaches_no_question(place: Place, key: str) -> None:
    """case: RPC-05"""
    asked, foreign = await begin(place), await begin(place, key=key)
    async with asked.streaming(call("ask", ELICIT)) as stream:
        question = await _question(stream)
        await foreign.send(_answer(question["id"], result={"from": "foreign"}))
        await asked.send(_answer(question["id"], result={"from": "own"}))
        assert await _came(stream) == {"answer": {"from": "own"}}


async def test_questions_of_two_calls_stay_apart(place: Place) -> None:
    """case: RPC-05"""
    session = await begin(place)
    roots: JsonObject = {"method": "roots/list"}
    async with (
        session.streaming(call("ask", ELICIT, 1)) as one,
        session.streaming(call("ask", roots, 2)) as two,
    ):
        first, second = await _question(one), await _question(two, "roots/list")
        assert first["id"] != second["id"]
        await session.send(_answer(second["id"], result={"roots": []}))
        await session.send(_answer(first["id"], error={"code": 1, "message": "no"}))
        assert await _came(one) == {"refused": {"code": 1, "message": "no", "data": None}}
        assert await _came(two) == {"answer": {"roots": []}}


async def test_a_malformed_answer_is_refused_and_ends_its_question_alone(place: Place) -> None:
    session = await begin(place)
    for more in ({}, {"result": "yes"}):
        async with session.streaming(call("ask", ELICIT)) as stream:
            question = await _question(stream)
            assert (await session.send(_answer(question["id"], **more))).status == 400
            assert child(await _came(stream), "refused")["code"] == -32603
    async with session.streaming(call("ask", ELICIT)) as stream:
        question = await _question(stream)
        await session.send(_answer(question["id"], result={"ok": True}))
        assert await _came(stream) == {"answer": {"ok": True}}


async def test_a_question_given_up_is_taken_back_on_its_own_stream(place: Place) -> None:
    session = await begin(place)
    async with session.streaming(call("ask", {**ELICIT, "within_s": 0.1})) as stream:
        question = await _question(stream)
        cancelled = await stream.next()
        assert cancelled["method"] == "notifications/cancelled"
        assert child(cancelled, "params")["requestId"] == question["id"]
        assert child(await _came(stream), "refused")["code"] == -32001
    assert (await session.send(_answer(question["id"], result={"late": True}))).status == 202
    assert "tools" in await session.result("tools/list")


async def test_a_cancelled_call_takes_its_question_back_and_is_not_answered(place: Place) -> None:
    """case: RPC-03"""
    session = await begin(place)
    async with session.streaming(call("ask", ELICIT)) as stream:
        question = await _question(stream)
        cancel: JsonObject = {"requestId": 7, "reason": "stop"}
        note: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        assert (await session.send({**note, "params": cancel})).status == 202
        taken = await stream.next()
        assert (taken["method"], child(taken, "params")["requestId"]) == (
            "notifications/cancelled",
            question["id"],
        )
        # A stream of that era has to end with a message, which who cancelled doesn't wait for.
        assert child(await stream.next(), "error")["code"] == -32800
        with pytest.raises(anyio.EndOfStream):
            await stream.next()


async def test_ending_a_session_ends_its_questions_and_subscriptions() -> None:
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        assert await session.result("resources/subscribe", {"uri": "note://one"}) == {}
        async with session.streaming(call("ask", {**ELICIT, "within_s": 60})) as stream:
            await _question(stream)
            assert await session.end() == 200
            with anyio.fail_after(LIMIT_S):
                await house.unwatched.wait()
        assert house.watchers == []
        assert (await session.send(request("tools/list"))).status == 404


async def test_a_session_that_is_idle_too_long_ends_its_subscriptions() -> None:
    house = House()
    async with serving(house, HttpOptions(session_idle_s=0.2)) as place:
        session = await begin(place)
        await _subscribed(session, "note://one")
        with anyio.fail_after(LIMIT_S):
            await house.unwatched.wait()
        assert (await session.send(request("tools/list"))).status == 404


async def test_the_subscriptions_of_a_session_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST_WATCHED", 1)
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        await _subscribed(session, "note://one")
        assert (await session.error("resources/subscribe", {"uri": "note://two"}))["code"] == 503
        assert await session.result("resources/unsubscribe", {"uri": "note://one"}) == {}
        await _subscribed(session, "note://two")


async def test_the_caller_is_what_the_client_declared(place: Place) -> None:
    session = await begin(place)
    result = await session.result("tools/call", {"name": "who"})
    assert result["structuredContent"] == {
        "capabilities": EVERYTHING,
        "logLevel": "",
        "session": session.session,
        "era": "legacy",
    }


async def test_only_what_was_declared_is_asked(place: Place) -> None:
    """case: RPC-05"""
    declared: JsonObject = {"elicitation": {"url": {}}, "sampling": {}}
    session = await begin(place, capabilities=declared)
    sample: JsonObject = {"messages": [], "maxTokens": 1, "tools": []}
    questions: list[tuple[str, JsonObject]] = [
        ("elicitation/create", {"message": "?"}),
        ("elicitation/create", {"message": "?", "mode": ["url"]}),
        ("sampling/createMessage", sample),
        ("roots/list", {}),
        ("ping", {}),
    ]
    for method, params in questions:
        asked: JsonObject = {"method": method, "params": params}
        result = await session.result("tools/call", {"name": "ask", "arguments": asked})
        assert child(result, "structuredContent", "refused")["code"] == -32601
    url: JsonObject = {"message": "?", "mode": "url", "url": "https://x"}
    asked = {"method": "elicitation/create", "params": url}
    async with session.streaming(call("ask", asked)) as stream:
        assert child(await _question(stream), "params") == url


async def test_progress_only_rises_and_keeps_its_token(place: Place) -> None:
    """case: RPC-07"""
    session = await begin(place)
    for token in ("tok-A", 0, 2**60):
        params: JsonObject = {"name": "falling", "_meta": {"progressToken": token}}
        *progress, last = (await session.send(request("tools/call", params))).messages
        assert [child(m, "params")["progress"] for m in progress] == [1, 3, 4]
        tokens = [child(m, "params")["progressToken"] for m in progress]
        assert tokens == [token] * 3
        assert {type(found) for found in tokens} == {type(token)}
        assert last["id"] == 7
    assert len((await session.send(call("falling"))).messages) == 1


async def test_log_messages_keep_every_digit_and_begin_at_the_level(place: Place) -> None:
    session = await begin(place)
    *logs, _ = (await session.send(call("log"))).messages
    assert [child(log, "params")["vendor"] for log in logs] == ["debug", "info", "error", "made-up"]
    assert child(logs[0], "params", "data")["n"] == EXACT
    wrongs: list[JsonObject] = [{"level": "loud"}, {}, {"level": 3}]
    for wrong in wrongs:
        assert (await session.error("logging/setLevel", wrong))["code"] == -32602
    assert await session.result("logging/setLevel", {"level": "info"}) == {}
    *logs, _ = (await session.send(call("log"))).messages
    assert [child(log, "params")["level"] for log in logs] == ["info", "error"]
    other = await begin(place)
    assert len((await other.send(call("log"))).messages) == 5  # a level belongs to its session


async def _subscribed(session: Session, uri: str) -> None:
    assert await session.result("resources/subscribe", {"uri": uri}) == {}


async def test_subscriptions_tell_until_they_end() -> None:
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        await _subscribed(session, "note://one")
        await _subscribed(session, "note://one")
        assert [uri for uri, _ in house.watchers] == ["note://one"]
        refused = await session.error("resources/subscribe", {"uri": "note://gone"})
        assert refused == {
            "code": -32602,
            "message": "there is no such thing",
            "data": {"name": "note://gone"},
        }
        async with session.streaming(None, method="GET") as news:
            await news.begun()
            house.update("note://one")
            assert await news.next() == {
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": {"uri": "note://one"},
            }
        for _ in range(2):
            assert await session.result("resources/unsubscribe", {"uri": "note://one"}) == {}
        assert house.watchers == []
        assert (await session.error("resources/unsubscribe"))["code"] == -32602
