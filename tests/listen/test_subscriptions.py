"""`subscriptions/listen` over HTTP."""

import anyio

from gateway import jsontext
from gateway.listen.options import HttpOptions
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind
from tests.listen.house import LIMIT_S, META, House, Place, serving
from tests.listen.legacy_raw import Stream
from tests.listen.raw import child, exchange, opened, standard, wire

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def _request(method: str, /, **params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


async def _streamed(place: Place, stream: Stream, wanted: JsonObject) -> JsonObject:
    message = _request("subscriptions/listen", notifications=wanted)
    head = standard(place, message)
    await stream.socket.send(wire("POST", "/mcp", head, jsontext.dump(message)))
    ack = await stream.next()
    assert ack["method"] == "notifications/subscriptions/acknowledged"
    assert child(ack, "params", "_meta") == {SUBSCRIPTION: 1}
    return child(ack, "params", "notifications")


async def test_a_stream_tells_what_it_acknowledged_and_nothing_else() -> None:
    house = House()
    async with serving(house) as place:
        with anyio.fail_after(LIMIT_S):
            async with await opened(place) as socket:
                stream = Stream(socket)
                honoured = await _streamed(
                    place,
                    stream,
                    {
                        "promptsListChanged": True,
                        "resourcesListChanged": True,
                        "resourceSubscriptions": ["note://gone", "note://two", "note://two"],
                        "vendorWish": ["t1"],
                    },
                )
                assert honoured == {
                    "promptsListChanged": True,
                    "resourcesListChanged": True,
                    "resourceSubscriptions": ["note://two"],
                }
                judged = [call for call in house.calls if call.method is Method.SUBSCRIBE]
                assert [call.name for call in judged] == ["note://gone", "note://two"]
                for kind in Kind:
                    house.change(kind)
                house.update("note://two")
                house.update("note://two")
                told = [await stream.next() for _ in range(3)]
            await house.unwatched.wait()
    meta: JsonObject = {"_meta": {SUBSCRIPTION: 1}}
    assert [(m["method"], m["params"]) for m in told] == [
        ("notifications/resources/list_changed", meta),
        ("notifications/prompts/list_changed", meta),
        ("notifications/resources/updated", {"uri": "note://two", **meta}),
    ]
    assert house.watchers == []


async def test_a_gate_that_can_not_tell_promises_nothing() -> None:
    house = House()
    house.offered = {"tools": {}}
    async with serving(house) as place:
        with anyio.fail_after(LIMIT_S):
            async with await opened(place) as socket:
                wanted: JsonObject = {
                    "toolsListChanged": True,
                    "resourceSubscriptions": ["note://one"],
                }
                assert await _streamed(place, Stream(socket), wanted) == {}
    assert house.calls == []


async def test_streams_are_capped_in_all_and_give_their_place_back() -> None:
    options = HttpOptions(max_streams=1)
    async with serving(House(), options) as place:
        message = _request("subscriptions/listen", notifications={})
        headers = standard(place, message, key="bob")
        with anyio.fail_after(LIMIT_S):
            async with await opened(place) as socket:
                await _streamed(place, Stream(socket), {})
                full = await exchange(place, headers, jsontext.dump(message))
                assert full.status == 503
            status = 0
            while status != 200:  # that the first one left is noticed soon
                async with await opened(place) as socket:
                    await socket.send(wire("POST", "/mcp", headers, jsontext.dump(message)))
                    status = await Stream(socket).begun()


TASKS = "io.modelcontextprotocol/tasks"
DECLARED = "io.modelcontextprotocol/clientCapabilities"


async def test_tasks_are_followed_by_who_declared_them_and_told_as_they_are() -> None:
    house = House()
    meta: JsonObject = {**META, DECLARED: {"extensions": {TASKS: {}}}}
    async with serving(house) as place:
        wanted: JsonObject = {"taskIds": ["task-1", "gone", "task-1"]}
        message = _request("subscriptions/listen", _meta=meta, notifications=wanted)
        with anyio.fail_after(LIMIT_S):
            async with await opened(place) as socket:
                stream = Stream(socket)
                head = standard(place, message)
                await stream.socket.send(wire("POST", "/mcp", head, jsontext.dump(message)))
                ack = await stream.next()
                assert child(ack, "params", "notifications") == {"taskIds": ["task-1"]}
                judged = [call for call in house.calls if call.method is Method.GET_TASK]
                assert [call.name for call in judged] == ["task-1", "gone"]
                for status in ("working", "completed"):
                    task: JsonObject = {"taskId": "task-1", "status": status}
                    for _, told in house.followers:
                        told({**task, "n": 10**30, "_meta": {"own": 1.5}})
                notes = [await stream.next() for _ in range(2)]
    assert [note["method"] for note in notes] == ["notifications/tasks"] * 2
    assert [child(note, "params") for note in notes] == [
        {
            "taskId": "task-1",
            "status": status,
            "n": 10**30,
            "_meta": {"own": 1.5, SUBSCRIPTION: 1},
        }
        for status in ("working", "completed")
    ]
    assert house.followers == []


async def test_tasks_are_not_followed_by_who_has_not_declared_them() -> None:
    house = House()
    async with serving(house) as place:
        message = _request("subscriptions/listen", notifications={"taskIds": ["task-1"]})
        with anyio.fail_after(LIMIT_S):
            got = await exchange(place, standard(place, message), jsontext.dump(message))
    assert got.status == 400
    error = child(got.json, "error")
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    assert house.calls == []
