"""The stateless era over real sockets."""

import base64

import anyio
import pytest

from gateway import jsontext
from gateway.listen.options import HttpOptions
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, META, House, Place, call_body, serving
from tests.listen.library import OFFERS
from tests.listen.raw import changed, child, exchange, opened, post, received, standard, wire


async def test_a_call_is_answered_in_plain_json_with_the_result_stamped() -> None:
    house = House()
    async with serving(house) as place:
        reply = await post(place, call_body("echo", {"n": 10**30, "x": 1.5}))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.result["structuredContent"] == {"n": 10**30, "x": 1.5}
    assert reply.result["resultType"] == "complete"
    assert child(reply.result, "_meta", "io.modelcontextprotocol/serverInfo")["name"] == (
        "weighbridge"
    )
    assert house.calls[0].call_id.startswith("call_")
    assert house.calls[0].principal.tenant == "t1"


@pytest.mark.parametrize("request_id", [1, "1", 0, "", 2**60, "é"])
async def test_the_id_keeps_its_type_and_value(place: Place, request_id: int | str) -> None:
    reply = await post(place, {**call_body("echo"), "id": request_id})
    assert reply.json["id"] == request_id
    assert type(reply.json["id"]) is type(request_id)


async def test_tenant_headers_and_arguments_are_never_identity() -> None:
    """case: AUT-03"""
    house = House()
    message = call_body("echo", {"tenant": "t2"}, meta={"tenant": "t2"})
    async with serving(house) as place:
        headers = [*standard(place, message), ("X-Tenant-ID", "t2"), ("X-Forwarded-For", "9.9.9.9")]
        reply = await post(place, message, headers)
    assert reply.status == 200
    assert house.calls[0].principal.tenant == "t1"
    assert house.calls[0].peer == "127.0.0.1"


async def test_a_hosts_key_travels_with_its_request_alone() -> None:
    house, message = House(), call_body("echo")
    async with serving(house) as place:
        await post(place, message, [*standard(place, message), ("Idempotency-Key", "k1")])
        await post(place, message)
    assert [call.idempotency_key for call in house.calls] == ["k1", None]
    assert house.calls[0].meta == META


async def test_a_header_names_the_run_of_its_request_alone() -> None:
    house, message = House(), call_body("echo")
    async with serving(house) as place:
        await post(place, message, [*standard(place, message), ("X-Run-Id", "run_1")])
        await post(place, message)
    assert [call.run_header for call in house.calls] == ["run_1", ""]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b'{"amount": NaN}', "`/amount`"),
        (b'{"a": [1, {"b": 1e999}]}', "`/a/1/b`"),
        (b'{"a": 1, "a": 2}', "`/a`"),
        (b'{"a": "\\ud800"}', "`/a`"),
    ],
)
async def test_unreadable_arguments_are_the_models_mistake(text: bytes, where: str) -> None:
    house = House()
    message = call_body("echo", {"amount": "HERE"})
    body = jsontext.dump(message).replace(b'{"amount":"HERE"}', text)
    async with serving(house) as place:
        reply = await exchange(place, standard(place, message), body)
    assert reply.status == 200
    assert reply.result["isError"] is True
    assert child(reply.result, "structuredContent")["status"] == "invalid_arguments"
    assert where in house.calls[0].input_error
    assert house.calls[0].arguments == {}


async def test_arguments_of_another_type_are_the_models_mistake_too() -> None:
    house = House()
    async with serving(house) as place:
        reply = await post(place, call_body("echo", [1]))
    assert child(reply.result, "structuredContent")["status"] == "invalid_arguments"


async def test_a_fault_outside_of_the_arguments_is_a_parse_error(place: Place) -> None:
    message = call_body("echo")
    body = jsontext.dump(message).replace(b'"id":1', b'"id":1,"id":2')
    reply = await exchange(place, standard(place, message), body)
    assert reply.status == 400
    assert reply.error["code"] == -32700
    assert reply.json["id"] is None


async def test_discover_names_the_revision_and_what_is_offered(place: Place) -> None:
    message: JsonObject = {
        "jsonrpc": "2.0",
        "id": "d",
        "method": "server/discover",
        "params": {"_meta": META},
    }
    result = (await post(place, message)).result
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"] == OFFERS
    assert result["cacheScope"] == "private"
    assert "ttlMs" in result


async def test_a_list_is_paged_private_and_keeps_unknown_fields(place: Place) -> None:
    first = (await post(place, _list(None))).result
    second = (await post(place, _list(first["nextCursor"]))).result
    wrong = await post(place, _list("made-up"))
    typed = await post(place, _list(3))
    assert [_names(first), _names(second)] == [["echo", "open", "region"], ["slow", "steps"]]
    assert (first["ttlMs"], first["cacheScope"]) == (0, "private")
    tools = first["tools"]
    assert isinstance(tools, list)
    assert child(tools[0], "vendor") == {"kept": True}
    assert "nextCursor" not in second
    assert [(r.status, r.error["code"]) for r in (wrong, typed)] == [(400, -32602)] * 2


@pytest.mark.parametrize("value", [[1, 2], "x", 0, False, None])
async def test_structured_content_may_be_any_value(place: Place, value: Json) -> None:
    """case: OUT-05"""
    reply = await post(place, call_body("open", {"value": value}))
    assert reply.result["structuredContent"] == value
    assert reply.result["content"] == []


async def test_progress_begins_an_event_stream_that_ends_in_the_result(place: Place) -> None:
    reply = await post(place, call_body("steps", meta={"progressToken": "t"}))
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["x-accel-buffering"] == "no"
    *progress, last = reply.messages
    assert [child(m, "params")["progress"] for m in progress] == [0, 1, 2]
    assert [child(m, "params")["progressToken"] for m in progress] == ["t"] * 3
    assert last["id"] == 1
    assert child(last, "result")["resultType"] == "complete"


async def test_without_a_token_progress_is_dropped_and_the_answer_is_json(place: Place) -> None:
    reply = await post(place, call_body("steps"))
    assert reply.headers["content-type"] == "application/json"


async def test_a_client_that_leaves_cancels_its_call() -> None:
    house = House()
    message = call_body("slow")
    async with serving(house) as place:
        async with await opened(place) as stream:
            await stream.send(
                wire("POST", "/mcp", standard(place, message), jsontext.dump(message))
            )
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()
        assert (await post(place, call_body("echo"))).status == 200


async def test_a_slow_call_is_answered_after_the_watcher_has_started() -> None:
    house = House()
    async with serving(house) as place, anyio.create_task_group() as tasks:

        async def release() -> None:
            await house.started.wait()
            await anyio.sleep(0.1)  # longer than the watcher waits before it looks
            house.release.set()

        tasks.start_soon(release)
        reply = await post(place, call_body("slow"))
        assert reply.headers["content-type"] == "application/json"
    assert not house.cancelled.is_set()


async def test_a_fault_of_ours_says_nothing_about_itself(place: Place) -> None:
    reply = await post(place, call_body("broken"))
    assert reply.status == 200
    assert reply.error == {"code": -32603, "message": "Internal error"}


async def test_a_missing_scope_is_a_challenge_to_a_client_that_can_get_a_token(
    place: Place,
) -> None:
    """case: AUT-05"""
    message = call_body("scoped")
    oauth = await post(place, message, standard(place, message, key="jot"))
    api_key = await post(place, message)
    assert oauth.status == 403
    assert 'error="insufficient_scope"' in oauth.headers["www-authenticate"]
    assert 'scope="pay:read pay:write"' in oauth.headers["www-authenticate"]
    assert "resource_metadata=" in oauth.headers["www-authenticate"]
    assert oauth.json["id"] == 1
    assert child(oauth.error, "data")["status"] == "forbidden"
    assert api_key.status == 200
    assert child(api_key.result, "structuredContent")["status"] == "forbidden"


async def test_an_unknown_tool_is_a_refusal_whatever_its_name(place: Place) -> None:
    """case: AUT-01"""
    names = ["wipe", "ALPHA__WIPE", "wipe ", "secret"]
    replies = [
        (await post(place, m, changed(standard(place, m), Mcp_Name=f"=?base64?{_b64(n)}?=")))
        for n in names
        for m in [call_body(n)]
    ]
    assert len({jsontext.dump(reply.result) for reply in replies}) == 1
    assert child(replies[0].result, "structuredContent")["status"] == "unknown_tool"


async def test_a_listen_stream_acknowledges_announces_and_ends_with_the_gateway() -> None:
    house = House()
    message = _listen({"toolsListChanged": True, "own/thing": True, "promptsListChanged": False})
    async with serving(house) as place, await opened(place) as stream:
        await stream.send(wire("POST", "/mcp", standard(place, message), jsontext.dump(message)))
        with anyio.fail_after(LIMIT_S):
            seen = b""
            while b"acknowledged" not in seen:
                seen += await stream.receive()
            house.change()
            while b"list_changed" not in seen:
                seen += await stream.receive()
            place.stop.set()
            reply = await received(stream, seen)
    ack, change, end = reply.messages
    meta = {"io.modelcontextprotocol/subscriptionId": "sub"}
    assert child(ack, "params") == {"notifications": {"toolsListChanged": True}, "_meta": meta}
    assert change == {
        "jsonrpc": "2.0",
        "method": "notifications/tools/list_changed",
        "params": {"_meta": meta},
    }
    assert end["id"] == "sub"
    assert child(end, "result")["resultType"] == "complete"
    # Only the legacy front's own listener may still be there; the stream's has gone.
    assert len(house.listeners) <= 1


async def test_listen_streams_are_capped_per_principal() -> None:
    options = HttpOptions(max_streams_per_principal=1)
    message = _listen({})
    async with serving(House(), options) as place, await opened(place) as stream:
        await stream.send(wire("POST", "/mcp", standard(place, message), jsontext.dump(message)))
        with anyio.fail_after(LIMIT_S):
            seen = b""
            while b"acknowledged" not in seen:
                seen += await stream.receive()
        assert (await post(place, message)).status == 503
        assert (await post(place, _listen(None))).error["code"] == -32602


def _list(cursor: Json) -> JsonObject:
    params: JsonObject = {"_meta": META}
    if cursor is not None:
        params["cursor"] = cursor
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}


def _listen(wanted: Json) -> JsonObject:
    params: JsonObject = {"_meta": META, "notifications": wanted}
    return {"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": params}


def _names(result: JsonObject) -> list[Json]:
    tools = result["tools"]
    assert isinstance(tools, list)
    return [child(tool)["name"] for tool in tools]


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
