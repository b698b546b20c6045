"""Errors that the SDK sends in a stream: which of them are noticed."""

from gateway import jsontext
from gateway.types.json import JsonObject
from tests.listen.house import Place
from tests.listen.raw import exchange, post
from tests.listen.test_doorstep import SECRET, legacy, noticed

INITIALIZE: JsonObject = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}


async def test_an_error_that_travels_in_a_stream_is_noticed(place: Place) -> None:
    """case: OBS-05"""
    opened = await post(place, INITIALIZE, legacy(place))
    session = legacy(place, Mcp_Session_Id=opened.headers["mcp-session-id"])
    ready: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await post(place, ready, session)
    assert place.house.turned == []
    messages: list[tuple[JsonObject, str, str | None]] = [
        ({"jsonrpc": "2.0", "id": 2, "method": SECRET}, "method_not_found", ""),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/call"}, "invalid_params", "tools/call"),
        ({"jsonrpc": "2.0", "id": 4, "method": "server/discover"}, "method_not_found", None),
    ]
    for message, reason, method in messages:
        place.house.forget()
        assert (await exchange(place, session, jsontext.dump(message))).status == 200
        (found,) = place.house.turned
        assert (found.reason, found.transport, found.peer) == (reason, "http", "127.0.0.1")
        assert found.method == (message["method"] if method is None else method)


async def test_a_handshake_that_lacks_its_params_is_noticed(place: Place) -> None:
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    found = await noticed(place, legacy(place), jsontext.dump(message))
    assert (found.reason, found.method) == ("invalid_params", "initialize")
