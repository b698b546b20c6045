"""Requests of a session that are answered past the SDK."""

import anyio
import pytest
from anyio.abc import SocketStream
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from gateway import jsontext
from gateway.types.json import Json, JsonObject
from gateway.types.refused import TurnedAwayFor
from tests.listen.house import LIMIT_S, House, Place, serving
from tests.listen.legacy_raw import Session, begin, call, request
from tests.listen.raw import changed, child, exchange, opened, received, wire

CANCEL: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}


def _without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*parts: object) -> None:
        raise AssertionError("this needs the SDK")

    monkeypatch.setattr(StreamableHTTPSessionManager, "handle_request", refuse)


async def _sent(session: Session, socket: SocketStream, message: JsonObject) -> None:
    await socket.send(wire("POST", "/mcp", session.headers, jsontext.dump(message)))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "echo", "arguments": {"n": 1}}),
        # As clients send it that declare all they can, and want progress of every call.
        ("tools/call", {"name": "echo", "_meta": {"progressToken": 3, "own": {}}}),
        ("tools/list", {}),
        ("resources/read", {"uri": "note://one"}),
        ("prompts/get", {"name": "prompt1", "arguments": {"who": "ada"}}),
        ("resources/subscribe", {"uri": "note://one"}),
        ("logging/setLevel", {"level": "info"}),
    ],
)
async def test_what_is_only_answered_is_json_past_the_sdk(
    place: Place, monkeypatch: pytest.MonkeyPatch, method: str, params: JsonObject
) -> None:
    session = await begin(place)
    _without_the_sdk(monkeypatch)
    for request_id in ("7", 7):
        reply = await session.send(request(method, params, request_id))
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        assert reply.json["id"] == request_id
        assert "result" in reply.json


async def test_a_question_and_its_cancellation_go_past_the_sdk(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await begin(place)
    _without_the_sdk(monkeypatch)
    ask = call("ask", {"method": "roots/list"}, "a")
    async with session.streaming(ask) as stream:
        question = await stream.next()
        answer: JsonObject = {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}
        assert (await session.send(answer)).status == 202
        assert child(await stream.next(), "result")["structuredContent"] == {
            "answer": {"roots": []}
        }
    async with session.streaming(ask) as stream:
        await stream.next()
        assert (await session.send({**CANCEL, "params": {"requestId": "a"}})).status == 202
        assert (await stream.next())["method"] == "notifications/cancelled"
        assert child(await stream.next(), "error")["code"] == -32800


async def test_an_error_has_status_200_and_is_noted(place: Place) -> None:
    session = await begin(place)
    place.house.forget()
    wrong = await session.send(request("tools/call", {"name": 7}))
    assert (wrong.status, wrong.error["code"]) == (200, -32602)
    (noted,) = place.house.turned
    assert (noted.reason, noted.transport, noted.method) == (
        TurnedAwayFor.INVALID_PARAMS,
        "http",
        "tools/call",
    )
    assert noted.peer == "127.0.0.1"
    weighed = await session.send(request("resources/read", {"uri": "note://gone"}))
    assert (weighed.status, child(weighed.error, "data")) == (200, {"name": "note://gone"})
    broken = await session.send(call("broken"))
    assert (broken.status, broken.error["code"]) == (200, -32603)
    assert b"secret-in-an-exception" not in broken.body
    assert len(place.house.turned) == 1


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "text/html", None])
async def test_a_client_has_to_take_either_form(place: Place, accept: str | None) -> None:
    session = await begin(place)
    place.house.forget()
    headers = changed(session.headers, Accept=accept)
    reply = await exchange(place, headers, jsontext.dump(call("echo")))
    assert (reply.status, place.house.calls) == (406, [])


async def test_a_session_named_twice_is_refused(place: Place) -> None:
    one, two = await begin(place), await begin(place)
    place.house.forget()
    headers = [*one.headers, ("Mcp-Session-Id", two.session)]
    reply = await exchange(place, headers, jsontext.dump(call("echo")))
    assert (reply.status, place.house.calls) == (400, [])


async def test_nobody_else_gets_at_a_request_or_a_question(place: Place) -> None:
    ada, bob = await begin(place), await begin(place, key="bob")
    thief = Session(place, ada.session, "bob")
    async with ada.streaming(call("ask", {"method": "roots/list"})) as stream:
        question = await stream.next()
        answer: JsonObject = {"jsonrpc": "2.0", "id": question["id"], "result": {"stolen": 1}}
        for other, status in ((thief, 404), (bob, 202)):
            assert (await other.send({**CANCEL, "params": {"requestId": 7}})).status == status
            assert (await other.send(answer)).status == status
        unread = b'{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}' % question["id"]
        assert (await exchange(place, thief.headers, unread)).status == 400
        await ada.send({**answer, "result": {"roots": []}})
        assert child(await stream.next(), "result")["structuredContent"] == {
            "answer": {"roots": []}
        }


@pytest.mark.parametrize("cancelled", [8, "7", None, True, 7.0, [7], {}])
async def test_what_names_no_request_cancels_none(cancelled: Json) -> None:
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        async with session.streaming(call("slow")) as stream:
            await house.started.wait()
            cancel: JsonObject = {**CANCEL, "params": {"requestId": cancelled}}
            assert (await session.send(cancel)).status == 202
            house.release.set()
            assert "result" in await stream.next()


async def test_a_client_that_leaves_cancels_nothing_and_may_ask_anew() -> None:
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        async with await opened(place) as leaving:
            await _sent(session, leaving, call("slow"))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            assert (await session.send(call("echo"))).status == 400  # the id is in use
        house.started = anyio.Event()
        async with await opened(place) as coming:
            with anyio.fail_after(LIMIT_S):
                await _sent(session, coming, call("slow"))
                await house.started.wait()
                assert not house.cancelled.is_set()
                house.release.set()
                assert (await received(coming)).status == 200
        assert (await session.send(call("echo"))).status == 200


async def test_a_stop_waits_for_nobody_who_has_left() -> None:
    house = House()
    async with serving(house, grace_s=60) as place:
        session = await begin(place)
        async with await opened(place) as leaving:
            await _sent(session, leaving, call("slow"))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
        with anyio.fail_after(LIMIT_S):
            while (await session.send(call("echo"))).status != 200:  # until its leaving is known
                pass
        place.stop.set()
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()


async def test_the_end_of_a_session_ends_its_requests_with_an_error() -> None:
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        async with session.streaming(call("slow")) as stream:
            await house.started.wait()
            assert await session.end() == 200
            assert child(await stream.next(), "error")["code"] == -32000
        assert house.cancelled.is_set()
        assert (await session.send(call("echo"))).status == 404
