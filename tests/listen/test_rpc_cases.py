"""Cases from public reports about JSON-RPC itself, at every front."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from gateway import jsontext
from gateway.listen.lines import LineReader, write_all
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, META, House, Place, call_body, serving
from tests.listen.legacy_raw import begin, call, request
from tests.listen.raw import Reply, changed, child, exchange, post, standard
from tests.listen.test_stdio import linked

IDS: list[Json] = ["1", 0, -5, "a b", "", 9007199254740993, "9f0c-uuid", 'q"\\\u2028é']
INITIALIZE: JsonObject = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "c", "version": "1"},
}
READY: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Line:
    """A client on the other end of the pipes."""

    def __init__(self, to_front: int, reader: LineReader) -> None:
        self._to_front = to_front
        self._reader = reader

    async def say(self, *messages: JsonObject | bytes) -> None:
        lines = [m if isinstance(m, bytes) else jsontext.dump(m) for m in messages]
        await write_all(self._to_front, b"".join(line + b"\n" for line in lines))

    async def hear(self) -> JsonObject:
        value = jsontext.parse_result(await self._reader.read() or b"")
        assert isinstance(value, dict)
        return value


@asynccontextmanager
async def shaken(house: House) -> AsyncGenerator[Line]:
    """Serve the house over pipes, with the handshake done."""
    async with linked(house) as (to_front, reader, _):
        line = Line(to_front, reader)
        await line.say(request("initialize", INITIALIZE, "init"), READY)
        assert (await line.hear())["id"] == "init"
        yield line


def _cancel(request_id: Json) -> JsonObject:
    params: JsonObject = {"requestId": request_id, "reason": "stop"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def _same(found: Json, wanted: Json) -> bool:
    return found == wanted and type(found) is type(wanted)


async def test_every_reply_carries_the_id_of_its_request_over_http(place: Place) -> None:
    """case: RPC-01"""
    session = await begin(place)
    for request_id in IDS:
        for name in ("echo", "broken"):
            modern = await post(place, {**call_body(name), "id": request_id})
            (old,) = (await session.send(call(name, request_id=request_id))).messages
            assert _same(modern.json["id"], request_id)
            assert _same(old["id"], request_id)
        missing = await session.send(request("own/ask", request_id=request_id))
        assert _same(missing.messages[0]["id"], request_id)


async def test_every_reply_carries_the_id_of_its_request_over_stdio() -> None:
    """case: RPC-01"""
    async with shaken(House()) as line:
        for request_id in IDS:
            for message in (
                call("echo", request_id=request_id),
                call("broken", request_id=request_id),
                request("own/ask", request_id=request_id),
            ):
                await line.say(message)
                assert _same((await line.hear())["id"], request_id)


async def test_a_number_and_its_text_are_two_requests_of_one_session() -> None:
    """case: RPC-01"""
    house = House()
    async with serving(house) as place:
        session = await begin(place)
        async with session.streaming(call("slow", request_id=1)) as number:
            await house.started.wait()
            house.started = anyio.Event()
            async with session.streaming(call("slow", request_id="1")) as text:
                await house.started.wait()
                for nobody in ("7", "2", 2):
                    assert (await session.send(_cancel(nobody))).status == 202
                assert (await session.send(_cancel("1"))).status == 202
                ended = await text.next()
                assert (ended["id"], child(ended, "error")["code"]) == ("1", -32800)
                house.release.set()
                answered = await number.next()
                assert _same(answered["id"], 1)
                assert "result" in answered


async def test_a_number_and_its_text_are_two_requests_over_stdio() -> None:
    """case: RPC-01"""
    house = House()
    async with shaken(house) as line:
        await line.say(call("slow", request_id=1), call("slow", request_id="1"))
        await house.started.wait()
        await line.say(_cancel("1"))
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()
        house.release.set()
        assert _same((await line.hear())["id"], 1)
        await line.say(call("echo", request_id="1"))
        assert _same((await line.hear())["id"], "1")


async def test_two_clients_with_one_id_get_their_own_answers() -> None:
    """case: RPC-02, RPC-07"""
    async with serving(House()) as place:
        ada, bob = await begin(place, key="ada"), await begin(place, key="bob")

        async def stateless(value: str, key: str) -> Reply:
            message = call_body("echo", {"v": value})
            return await post(place, message, standard(place, message, key=key))

        for number in range(60):
            a, b = f"a{number}", f"b{number}"
            old_a, old_b, new_a, new_b = await asyncio.gather(
                ada.send(call("echo", {"v": a}, 1)),
                bob.send(call("echo", {"v": b}, 1)),
                stateless(a, "ada"),
                stateless(b, "bob"),
            )
            for reply, value in ((old_a, a), (old_b, b)):
                result = child(reply.messages[0], "result")
                assert result["structuredContent"] == {"v": value}
            assert new_a.result["structuredContent"] == {"v": a}
            assert new_b.result["structuredContent"] == {"v": b}


async def test_a_cancel_of_one_clients_request_leaves_the_same_id_of_another() -> None:
    """case: RPC-02"""
    house = House()
    async with serving(house) as place:
        ada, bob = await begin(place), await begin(place, key="bob")
        async with ada.streaming(call("slow", request_id=1)) as stream:
            await house.started.wait()
            assert (await bob.send(_cancel(1))).status == 202
            house.release.set()
            assert "result" in await stream.next()
        assert not house.cancelled.is_set()


async def test_cancelling_leaves_nothing_behind_and_the_next_request_is_answered() -> None:
    """case: RPC-03"""
    house = House()
    async with shaken(house) as line:
        before = len(asyncio.all_tasks())
        for turn in range(100):
            house.started = anyio.Event()
            await line.say(_cancel(7), call("slow", request_id=7))
            if turn % 2:
                await house.started.wait()
            await line.say(_cancel(7), _cancel(999), _cancel("7"), _cancel(None))
            await line.say(request("ping", request_id=8))
            assert (await line.hear())["id"] == 8
        await line.say(request("tools/list", request_id=9))
        assert (await line.hear())["id"] == 9
        assert len(asyncio.all_tasks()) <= before + 1


@pytest.mark.parametrize("header", ["2099-01-01", "2025-11-25", None])
@pytest.mark.parametrize(
    ("asked", "spoken"),
    [("2099-01-01", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18")],
)
async def test_a_handshake_gets_a_version_that_is_spoken_here(
    place: Place, header: str | None, asked: str, spoken: str
) -> None:
    """case: RPC-06"""
    params: JsonObject = {**INITIALIZE, "protocolVersion": asked}
    headers = changed(standard(place, None), MCP_Protocol_Version=header)
    reply = await exchange(place, headers, jsontext.dump(request("initialize", params, "id")))
    assert reply.status == 200
    (message,) = reply.messages
    assert message["id"] == "id"
    assert child(message, "result")["protocolVersion"] == spoken
    assert len(reply.headers["mcp-session-id"]) >= 32


async def test_a_stateless_probe_without_its_header_is_told_what_to_send(place: Place) -> None:
    """case: RPC-06"""
    message = request("server/discover", {"_meta": META}, 1)
    bare = [("mcp-protocol-version", None), ("mcp-method", None)]
    headers = [pair for pair in standard(place, None) if pair[0].lower() not in dict(bare)]
    reply = await exchange(place, headers, jsontext.dump(message))
    assert (reply.status, reply.error["code"]) == (400, -32020)
    assert "2026-07-28" in str(reply.error["message"])


async def test_two_clients_with_one_progress_token_stay_apart(place: Place) -> None:
    """case: RPC-07"""
    sessions = [await begin(place), await begin(place, key="bob")]
    params: JsonObject = {"name": "falling", "_meta": {"progressToken": "tok-A"}}
    replies = await asyncio.gather(
        *(session.send(request("tools/call", params)) for session in sessions for _ in range(1))
    )
    for reply in replies:
        progress = [child(m, "params")["progress"] for m in reply.messages[:-1]]
        assert progress == [1, 3, 4]


async def test_a_request_right_behind_the_handshake_is_served() -> None:
    """case: RPC-08"""
    async with linked(House()) as (to_front, reader, _):
        line = Line(to_front, reader)
        early = request("tools/list", request_id=2)
        await line.say(request("initialize", INITIALIZE, 1), early, READY)
        heard = [await line.hear() for _ in range(2)]
        assert [message["id"] for message in heard] == [1, 2]
        assert "tools" in child(heard[1], "result")


async def test_a_request_without_a_handshake_is_told_to_begin_with_one() -> None:
    """case: RPC-08"""
    async with linked(House()) as (to_front, reader, _):
        line = Line(to_front, reader)
        for method in ("tools/list", "resources/list", "logging/setLevel", "resources/subscribe"):
            await line.say(request(method))
            error = child(await line.hear(), "error")
            assert error == {"code": -32600, "message": "send `initialize` first"}


ODD: list[JsonObject] = [
    {"jsonrpc": "2.0", "id": None, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": {}, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": True, "method": "tools/list"},
    {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
]


@pytest.mark.parametrize("message", ODD)
async def test_an_odd_id_is_refused_and_not_taken_for_a_notification(
    place: Place, message: JsonObject
) -> None:
    """case: RPC-09"""
    session = await begin(place)
    for reply in (await post(place, message), await session.send(message)):
        assert (reply.status, reply.error["code"]) == (400, -32600)
        assert reply.json["id"] is None


async def test_an_odd_id_over_stdio_is_refused_too() -> None:
    """case: RPC-09"""
    async with shaken(House()) as line:
        for message in ODD:
            await line.say(message)
            answer = await line.hear()
            assert (answer["id"], child(answer, "error")["code"]) == (None, -32600)


OWN: JsonObject = {"jsonrpc": "2.0", "method": "notifications/own/thing", "params": {"a": 1}}


async def test_unknown_methods_and_notifications_end_nothing(place: Place) -> None:
    """case: RPC-10"""
    session = await begin(place)
    silent = await session.send(OWN)
    assert (silent.status, silent.body) == (202, b"")
    assert (await session.error("own/ask"))["code"] == -32601
    assert "tools" in await session.result("tools/list")
    silent = await post(place, OWN)
    assert (silent.status, silent.body) == (202, b"")
    missing = await post(place, request("own/ask", {"_meta": META}))
    assert (missing.status, missing.error["code"]) == (404, -32601)
    assert place.house.calls == []


async def test_unknown_methods_and_notifications_end_nothing_over_stdio() -> None:
    """case: RPC-10"""
    async with shaken(House()) as line:
        await line.say(OWN, request("own/ask", request_id=2), request("tools/list", request_id=3))
        heard = [await line.hear() for _ in range(2)]
    answers = {str(message["id"]): message for message in heard}
    assert child(answers["2"], "error")["code"] == -32601
    assert "result" in answers["3"]


BODIES = [
    (b"", -32700),
    (b"{", -32700),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}', -32600),
]


@pytest.mark.parametrize(("body", "code"), BODIES)
async def test_a_broken_body_costs_that_message_alone(place: Place, body: bytes, code: int) -> None:
    """case: RPC-11"""
    session = await begin(place)
    for headers in (standard(place, None), session.headers):
        reply = await exchange(place, headers, body)
        assert (reply.status, reply.error["code"]) == (400, code)
    assert "tools" in await session.result("tools/list")
    assert (await post(place, call_body("echo"))).status == 200
    assert [call.name for call in place.house.calls] == ["echo"]


async def test_a_broken_line_costs_that_message_alone() -> None:
    """case: RPC-11"""
    async with shaken(House()) as line:
        await line.say(
            b'{"jsonrpc":"2.0","id":1,"meth',
            b"",
            b"[]",
            b'"x"',
            b'{"jsonrpc":"2.0","id":4,"result":"of nothing"}',
            request("tools/list", request_id=2),
        )
        heard = [await line.hear() for _ in range(4)]
    codes = [child(message, "error")["code"] for message in heard[:3]]
    assert codes == [-32700, -32600, -32600]
    assert heard[3]["id"] == 2
