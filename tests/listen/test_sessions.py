"""Sessions of the handshake era, as raw HTTP."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from gateway import jsontext
from gateway.listen.options import HttpOptions
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, House, Place, call_body, serving
from tests.listen.legacy_raw import Stream, begin
from tests.listen.raw import Reply, changed, child, exchange, opened, standard, wire

Head = list[tuple[str, str]]


def _legacy(place: Place, session: str | None, key: str = "ada", **more: str | None) -> Head:
    base = changed(standard(place, None, key=key), MCP_Protocol_Version=None)
    return changed(base, Mcp_Session_Id=session, **more)


def _call(name: str, arguments: Json = None, request_id: int | str = 7) -> JsonObject:
    params: JsonObject = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def _hello(version: str) -> JsonObject:
    return {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }


async def _open(place: Place, key: str = "ada", version: str = "2025-11-25") -> str:
    message = _hello(version)
    reply = await exchange(place, _legacy(place, None, key), jsontext.dump(message))
    assert reply.status == 200, reply.body
    assert child(reply.messages[0], "result")["protocolVersion"] == version
    session = reply.headers["mcp-session-id"]
    ready = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    assert (await exchange(place, _legacy(place, session, key), ready)).status == 202
    return session


async def _ask(place: Place, session: str, message: JsonObject, key: str = "ada") -> Reply:
    return await exchange(place, _legacy(place, session, key), jsontext.dump(message))


async def test_a_hosts_key_travels_with_its_request_alone() -> None:
    house = House()
    async with serving(house) as place:
        session = await _open(place)
        keyed = _legacy(place, session, Idempotency_Key="k1")
        await exchange(place, keyed, jsontext.dump(_call("echo", {})))
        await _ask(place, session, _call("echo", {}))
    assert [call.idempotency_key for call in house.calls] == ["k1", None]


async def test_a_header_names_the_run_of_its_request_alone() -> None:
    house = House()
    async with serving(house) as place:
        session = await _open(place)
        named = _legacy(place, session, X_Run_Id="run_1")
        await exchange(place, named, jsontext.dump(_call("echo", {})))
        await _ask(place, session, _call("echo", {}))
    assert [call.run_header for call in house.calls] == ["run_1", ""]


async def test_an_answer_keeps_every_digit_and_the_id_its_type(place: Place) -> None:
    session = await _open(place)
    for request_id in (7, "7"):
        reply = await _ask(place, session, _call("echo", {"n": 10**40, "x": 0.1}, request_id))
        (message,) = reply.messages
        assert message["id"] == request_id
        assert type(message["id"]) is type(request_id)
        assert child(message, "result")["structuredContent"] == {"n": 10**40, "x": 0.1}
        assert "resultType" not in child(message, "result")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("value", [[1, 2], "x", 0, False, None])
async def test_open_structured_content_moves_into_text(
    place: Place, value: Json, version: str
) -> None:
    """case: OUT-05"""
    session = await _open(place, version=version)
    reply = await _ask(place, session, _call("open", {"value": value}))
    result = child(reply.messages[0], "result")
    assert "structuredContent" not in result
    assert result["content"] == [{"type": "text", "text": jsontext.dump(value).decode()}]


async def test_a_list_has_no_fields_of_the_other_era(place: Place) -> None:
    session = await _open(place)
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    result = child((await _ask(place, session, message)).messages[0], "result")
    assert set(result) == {"tools", "nextCursor"}
    tools = result["tools"]
    assert isinstance(tools, list)
    assert child(tools[0], "vendor") == {"kept": True}
    assert "outputSchema" not in child(tools[1])


async def test_unreadable_arguments_are_the_models_mistake(place: Place) -> None:
    session = await _open(place)
    body = jsontext.dump(_call("echo", {"a": "HERE"})).replace(b'"HERE"', b"NaN")
    reply = await exchange(place, _legacy(place, session), body)
    result = child(reply.messages[0], "result")
    assert child(result, "structuredContent")["status"] == "invalid_arguments"
    assert "`/a`" in place.house.calls[0].input_error


async def test_a_session_answers_only_to_who_opened_it(place: Place) -> None:
    session = await _open(place)
    for method in ("POST", "GET", "DELETE"):
        headers = _legacy(place, session, "bob")
        foreign = await exchange(place, headers, jsontext.dump(_call("echo")), method=method)
        unknown = await exchange(
            place, _legacy(place, "0" * 32, "bob"), jsontext.dump(_call("echo")), method=method
        )
        assert foreign.status == 404
        assert foreign.body == unknown.body
    assert (await _ask(place, session, _call("echo"))).status == 200


async def test_a_session_without_a_credential_is_nothing(place: Place) -> None:
    session = await _open(place)
    headers = changed(_legacy(place, session), Authorization=None)
    assert (await exchange(place, headers, jsontext.dump(_call("echo")))).status == 401


async def test_an_ended_session_is_gone(place: Place) -> None:
    session = await _open(place)
    assert (await exchange(place, _legacy(place, session), b"", method="DELETE")).status == 200
    assert (await _ask(place, session, _call("echo"))).status == 404


async def test_an_idle_session_ends_by_itself() -> None:
    async with serving(House(), HttpOptions(session_idle_s=0.05)) as place:
        session = await _open(place)
        await anyio.sleep(0.3)  # idleness can only be shown by being idle
        assert (await _ask(place, session, _call("echo"))).status == 404


async def test_the_longest_unused_session_makes_room_for_a_new_one() -> None:
    async with serving(House(), HttpOptions(max_sessions_per_principal=2)) as place:
        first, second = await _open(place), await _open(place)
        await _ask(place, first, _call("echo"))
        third, other = await _open(place), await _open(place, "bob")
        found = [
            (await _ask(place, session, _call("echo"), key)).status
            for session, key in [(first, "ada"), (second, "ada"), (third, "ada"), (other, "bob")]
        ]
    assert found == [200, 404, 200, 200]


async def test_busy_sessions_are_not_sacrificed() -> None:
    house = House()
    async with serving(house, HttpOptions(max_sessions_per_principal=1)) as place:
        session = await _open(place)
        async with await opened(place) as stream:
            await _send(place, stream, session, _call("slow"))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            message = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
            reply = await exchange(place, _legacy(place, None), message)
            house.release.set()
            with anyio.fail_after(LIMIT_S):
                while b"late" not in await stream.receive():
                    pass
    assert reply.status == 429


async def test_all_sessions_together_are_capped() -> None:
    async with serving(House(), HttpOptions(max_sessions=1)) as place:
        await _open(place)
        message = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
        assert (await exchange(place, _legacy(place, None, "bob"), message)).status == 503


async def test_an_id_in_use_is_refused() -> None:
    house = House()
    async with serving(house) as place:
        session = await _open(place)
        async with await opened(place) as stream:
            await _send(place, stream, session, _call("slow", request_id=1))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            reply = await _ask(place, session, _call("echo", request_id=1))
            house.release.set()
    assert (reply.status, reply.error["code"]) == (400, -32600)


async def test_a_handshake_client_hears_that_tools_changed() -> None:
    house = House()
    async with serving(house) as place:
        session = await _open(place)
        async with await opened(place) as stream:
            await stream.send(wire("GET", "/mcp", _legacy(place, session), b""))
            with anyio.fail_after(LIMIT_S):
                seen = await stream.receive()
                house.change()
                while b"notifications/tools/list_changed" not in seen:
                    seen += await stream.receive()
                place.stop.set()  # an open stream does not hold the gateway
                async for _ in stream:
                    pass


async def test_a_stateless_body_without_its_header_is_refused(place: Place) -> None:
    for version in (None, "2025-11-25"):
        headers = _legacy(place, None, MCP_Protocol_Version=version)
        reply = await exchange(place, headers, jsontext.dump(call_body("echo")))
        assert (reply.status, reply.error["code"]) == (400, -32020)


@pytest.mark.parametrize(
    ("body", "code"), [(b"[]", -32600), (b"{", -32700), (b'{"id":1,"id":2}', -32700)]
)
async def test_what_is_not_one_message_is_refused(place: Place, body: bytes, code: int) -> None:
    session = await _open(place)
    reply = await exchange(place, _legacy(place, session), body)
    assert (reply.status, reply.error["code"]) == (400, code)


async def test_other_content_types_are_refused(place: Place) -> None:
    headers = _legacy(place, None, Content_Type="application/jsonp")
    assert (await exchange(place, headers, b"{}")).status == 400


async def _send(place: Place, stream: SocketStream, session: str, message: JsonObject) -> None:
    await stream.send(wire("POST", "/mcp", _legacy(place, session), jsontext.dump(message)))


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("version", [None, "2025-11-25"])
async def test_a_request_without_a_session_is_told_what_to_send(
    place: Place, method: str, version: str | None
) -> None:
    body = jsontext.dump({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    headers = _legacy(place, None, MCP_Protocol_Version=version)
    reply = await exchange(place, headers, body if method == "POST" else b"", method=method)
    assert (reply.status, reply.error["code"]) == (400, -32600)  # what SDK clients know
    said = str(reply.error["message"])
    for wanted in ("`initialize`", "`Mcp-Session-Id`", "`MCP-Protocol-Version: 2026-07-28`"):
        assert wanted in said
    supported = child(reply.error, "data")["supported"]
    assert isinstance(supported, list)
    assert supported[:2] == ["2026-07-28", "2025-11-25"]


async def test_a_stateless_body_without_its_header_is_told_which_one(place: Place) -> None:
    reply = await exchange(place, _legacy(place, None), jsontext.dump(call_body("echo")))
    assert (reply.status, reply.error["code"]) == (400, -32020)
    assert "send `MCP-Protocol-Version: 2026-07-28`" in str(reply.error["message"])


async def test_a_malformed_message_is_answered_without_its_text(place: Place) -> None:
    session = await _open(place)
    reply = await _ask(place, session, {"id": 1, "method": "tools/list", "x": "hunter2"})
    assert (reply.status, reply.error["code"]) == (400, -32600)
    assert reply.error["message"] == '`jsonrpc` must be "2.0"'


async def test_the_command_of_the_page_about_clients_is_answered(place: Place) -> None:
    page = Path(__file__).parents[2] / "docs/clients.md"
    (command,) = re.findall(r"```sh\n(curl .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    words = shlex.split(command.replace("\\\n", " ").replace('"$WEIGHBRIDGE_KEY"', "ada"))
    options = list(pairwise(words))
    headers = [tuple(value.split(": ", 1)) for name, value in options if name == "-H"]
    (body,) = [value for name, value in options if name == "-d"]
    sent = [("Host", f"127.0.0.1:{place.port}"), *((name, value) for name, value in headers)]
    reply = await exchange(place, sent, body.encode())
    assert reply.status == 200
    assert reply.result["tools"]


async def test_sessions_opened_at_the_same_time_count_each_other() -> None:
    found: list[Reply] = []
    async with serving(House(), HttpOptions(max_sessions_per_principal=3)) as place:
        message = jsontext.dump(_hello("2025-11-25"))

        async def open_one() -> None:
            found.append(await exchange(place, _legacy(place, None), message))

        async with anyio.create_task_group() as tasks:
            for _ in range(30):
                tasks.start_soon(open_one)
        sessions = [one.headers["mcp-session-id"] for one in found if one.status == 200]
        alive = [(await _ask(place, one, _call("echo"))).status for one in sessions]
        assert {one.status for one in found} <= {200, 429}
        assert 1 <= alive.count(200) <= 3
        await _open(place)  # and nothing of those openings is counted for ever
        await _open(place, "bob")


async def test_a_stream_that_is_to_be_resumed_begins_anew() -> None:
    house = House()
    async with serving(house) as place:
        ada = await begin(place)
        head = [*ada.headers, ("Last-Event-ID", "7")]
        with anyio.fail_after(LIMIT_S):
            async with await opened(place) as socket:
                await socket.send(wire("GET", "/mcp", head, b""))
                stream = Stream(socket)
                assert await stream.begun() == 200
                house.change()
                assert (await stream.next())["method"] == "notifications/tools/list_changed"
            posted = await exchange(place, head, jsontext.dump(_call("echo")))
        assert posted.status == 200
        assert "result" in posted.messages[-1]
