"""The listener: who is let in, what is refused before anything is read, and the spec's T items."""

import anyio
import pytest
from starlette.types import Message

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.listen.http import HttpFront
from gateway.listen.options import HttpOptions
from gateway.listen.repeats import Seen
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, META, VERSION, House, Keys, Place, call_body, serving
from tests.listen.raw import (
    Headers,
    Reply,
    changed,
    exchange,
    opened,
    post,
    received,
    standard,
    wire,
)

ECHO = call_body("echo", {"a": 1})


async def _refused(
    place: Place, headers: dict[str, str | None], message: Json = None, **request: str
) -> Reply:
    """Send a request that must not reach the gate."""
    body = ECHO if message is None else message
    sent = changed(standard(place, ECHO), **headers)
    reply = await exchange(place, sent, jsontext.dump(body), **request)
    assert place.house.calls == []
    return reply


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1:80@evil",
        "http://127.0.0.1:99x",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/.well-known/oauth-protected-resource/mcp", "/none"])
async def test_t1_a_foreign_origin_is_refused_everywhere(
    place: Place, origin: str, path: str
) -> None:
    assert (await _refused(place, {"Origin": origin}, path=path)).status == 403


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 421), ("127.0.0.1/?x", 400), ("a b", 400), ("", 400)]
)
async def test_t2_a_foreign_or_malformed_host_is_refused(
    place: Place, host: str, status: int
) -> None:
    assert (await _refused(place, {"Host": host})).status == status


async def test_t2_two_hosts_are_refused(place: Place) -> None:
    headers = [*standard(place, ECHO), ("Host", "evil.example")]
    assert (await post(place, ECHO, headers)).status == 400


async def test_local_origins_and_configured_names_are_let_in() -> None:
    options = HttpOptions(
        allowed_hosts=("gw.example",), allowed_origins=("https://ui.example", "app://x")
    )
    async with serving(House(), options) as place:
        base = standard(place, ECHO)
        for host, origin in [
            ("localhost:1", "http://localhost:5173"),
            ("GW.example", "https://ui.example"),
            ("[::1]:8700", "app://x"),
        ]:
            reply = await post(place, ECHO, changed(base, Host=host, Origin=origin))
            assert reply.status == 200
        assert (await post(place, ECHO, changed(base, Host="gw.example:1"))).status == 421


@pytest.mark.parametrize("key", [None, "Bearer wrong"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_t4_no_usable_credential_is_a_challenge(
    place: Place, key: str | None, method: str
) -> None:
    """case: AUT-05"""
    reply = await _refused(place, {"Authorization": key}, method=method)
    assert reply.status == 401
    challenge = reply.headers["www-authenticate"]
    assert challenge.startswith("Bearer")
    assert 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"' in (
        challenge
    )
    assert reply.json["jsonrpc"] == "2.0"
    assert reply.error["code"] == 401


async def test_a1_a_token_in_the_query_is_no_credential(place: Place) -> None:
    reply = await _refused(place, {"Authorization": None}, path="/mcp?access_token=ada")
    assert reply.status == 401


async def test_a4_the_resource_metadata_is_public(place: Place) -> None:
    headers = [("Host", "localhost")]
    for suffix in ("/mcp", ""):
        path = "/.well-known/oauth-protected-resource" + suffix
        reply = await exchange(place, headers, b"", method="GET", path=path)
        assert reply.status == 200
        assert reply.json["authorization_servers"] == ["https://as.example"]
        assert reply.json["resource"] == "http://127.0.0.1/mcp"


@pytest.mark.parametrize("path", ["/", "/mcp/", "/MCP", "/mcp/x", "/metrics"])
async def test_anything_else_is_not_found(place: Place, path: str) -> None:
    assert (await _refused(place, {}, path=path)).status == 404


@pytest.mark.parametrize(
    "message",
    [
        [ECHO],
        [],
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "1.0", "id": 1, "method": "tools/call"},
        {**ECHO, "id": None},
        {**ECHO, "id": True},
        {**ECHO, "id": 1.5},
        {**ECHO, "id": [1]},
        {**ECHO, "method": 3},
        {**ECHO, "params": [1]},
        "text",
        7,
    ],
)
async def test_t5_one_request_or_notification_a_post(place: Place, message: Json) -> None:
    reply = await _refused(place, {}, message)
    assert (reply.status, reply.error["code"]) == (400, -32600)
    assert reply.json["id"] is None


async def test_t5_what_is_not_json_is_a_parse_error(place: Place) -> None:
    for body in (b"", b"{", b"\xff", b'{"a": 1} x'):
        reply = await exchange(place, standard(place, ECHO), body)
        assert (reply.status, reply.error["code"]) == (400, -32700)
        assert b'"id":null' in reply.body


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"MCP-Protocol-Version": "2026-07-29"}, -32020),
        ({"MCP-Protocol-Version": ""}, -32020),
        ({"MCP-Protocol-Version": None}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
        ({"Mcp-Method": None}, -32020),
        ({"Mcp-Method": "tools/list"}, -32020),
        ({"Mcp-Name": None}, -32020),
        ({"Mcp-Name": "other"}, -32020),
        ({"Mcp-Name": "=?base64?b3RoZXI=?="}, -32020),
        ({"Mcp-Name": "=?base64?!?="}, -32020),
    ],
)
async def test_t6_t7_headers_must_mirror_the_body(
    place: Place, headers: dict[str, str | None], code: int
) -> None:
    reply = await _refused(place, headers)
    assert (reply.status, reply.error["code"]) == (400, code)


async def test_t6_an_unknown_revision_is_told_the_known_ones(place: Place) -> None:
    version = "2099-01-01"
    message = call_body("echo", meta={"io.modelcontextprotocol/protocolVersion": version})
    reply = await _refused(place, {"MCP-Protocol-Version": version}, message)
    assert (reply.status, reply.error["code"]) == (400, -32022)
    assert reply.error["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
async def test_t7_a_routing_header_that_comes_twice_is_refused(place: Place, name: str) -> None:
    headers = standard(place, ECHO)
    twice = [*headers, next(h for h in headers if h[0] == name)]
    reply = await post(place, ECHO, twice)
    assert (reply.status, reply.error["code"]) == (400, -32020)


async def test_t7_an_encoded_name_is_decoded_before_it_is_compared(place: Place) -> None:
    headers = changed(standard(place, ECHO), Mcp_Name="=?base64?ZWNobw==?=")
    assert (await post(place, ECHO, headers)).status == 200


@pytest.mark.parametrize(
    ("arguments", "header", "status"),
    [
        ({"region": "eu"}, "eu", 200),
        ({"region": "eu"}, "=?base64?ZXU=?=", 200),
        ({"region": "eu"}, "us", 400),
        ({"region": "eu"}, None, 400),
        ({}, "eu", 400),
        ({}, None, 200),
    ],
)
async def test_t8_mirrored_arguments_must_agree(
    place: Place, arguments: JsonObject, header: str | None, status: int
) -> None:
    message = call_body("region", arguments)
    headers = changed(standard(place, message), Mcp_Param_Region=header)
    reply = await post(place, message, headers)
    assert reply.status == status
    if status == 400:
        assert reply.error["code"] == -32020


async def test_t9_an_unknown_mirrored_argument_is_ignored(place: Place) -> None:
    headers = [*standard(place, ECHO), ("Mcp-Param-Other", "x")]
    assert (await post(place, ECHO, headers)).status == 200


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "logging/setLevel", "resources/subscribe", "x"]
)
async def test_t14_an_unknown_method_is_not_found(place: Place, method: str) -> None:
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META}}
    reply = await post(place, message)
    assert (reply.status, reply.error["code"]) == (404, -32601)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"_meta": None},
        {"_meta": {}},
        {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
        {"_meta": {**META, "io.modelcontextprotocol/clientCapabilities": 1}},
    ],
)
async def test_t14_missing_request_metadata_is_named(place: Place, params: JsonObject) -> None:
    message: JsonObject = {"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": params}
    reply = await post(place, message)
    assert (reply.status, reply.error["code"]) == (400, -32602)
    assert reply.json["id"] == 9


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_t15_other_methods_are_not_allowed(place: Place, method: str) -> None:
    reply = await _refused(place, {"Mcp-Session-Id": "x", "Last-Event-ID": "3"}, method=method)
    assert reply.status == 405
    assert reply.headers["allow"] == "POST"


async def test_t15_session_headers_mean_nothing_to_a_stateless_request(place: Place) -> None:
    headers = [*standard(place, ECHO), ("Mcp-Session-Id", "x"), ("Last-Event-ID", "3")]
    reply = await post(place, ECHO, headers)
    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers


async def test_t17_two_principals_on_one_connection_never_mix() -> None:
    house = House()
    async with serving(house) as place, await opened(place) as stream:
        with anyio.fail_after(LIMIT_S):
            for key in ("ada", "bob", "ada"):
                headers = standard(place, ECHO, key=key)
                await stream.send(wire("POST", "/mcp", headers, jsontext.dump(ECHO)))
                while not (await stream.receive()).endswith(b"}"):
                    pass
    assert [call.principal.tenant for call in house.calls] == ["t1", "t2", "t1"]


async def test_heads_that_come_again_are_judged_by_what_they_say_each_time() -> None:
    """Known heads of one connection: each principal its own, and a key that is gone is gone."""
    keys = Keys()
    async with serving(House(), keys=keys) as place, await opened(place) as stream:
        ada = standard(place, ECHO)
        bob = changed(ada, Authorization="Bearer bob")
        longer = call_body("echo", {"a": 1000})

        async def told(headers: Headers, message: JsonObject) -> int:
            await stream.send(wire("POST", "/mcp", headers, jsontext.dump(message)))
            return (await received(stream)).status

        for headers in [ada, bob] * 4:
            for message in (ECHO, ECHO, longer):
                assert await told(headers, message) == 200
        subjects = [call.principal.subject for call in place.house.calls]
        assert subjects == (["ada"] * 3 + ["bob"] * 3) * 4
        del keys.known[b"bearer bob"]
        assert await told(bob, ECHO) == 401
        assert await told(ada, ECHO) == 200


async def test_what_was_seen_of_headers_is_of_those_alone() -> None:
    """Two of one head may differ, if only in the length of their bodies."""
    seen, said = Seen(), list[Message]()
    about = [(b"host", b"localhost"), (b"mcp-protocol-version", VERSION.encode())]
    front = HttpFront(House(), Keys(), clock=SystemClock())

    async def send(event: Message) -> None:
        said.append(event)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    for key, status in ((b"Bearer ada", 400), (b"Bearer nobody", 401), (b"Bearer bob", 400)):
        raw = [*about, (b"authorization", key)]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": raw}
        said.clear()
        for _ in range(2):
            await front({**scope, "weighbridge.seen": seen}, receive, send)
        assert [event["status"] for event in said if "status" in event] == [status] * 2


async def test_a_notification_is_accepted_and_dropped(place: Place) -> None:
    message: JsonObject = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert (await _refused(place, {}, message)).status == 202
    unknown = await _refused(place, {"MCP-Protocol-Version": "2099-01-01"}, message)
    assert (unknown.status, unknown.error["code"]) == (400, -32022)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": "application/jsonp"}, 400),
        ({"Content-Type": None}, 400),
        ({"Accept": "application/json"}, 406),
        ({"Accept": None}, 406),
    ],
)
async def test_content_types_are_exact(
    place: Place, headers: dict[str, str | None], status: int
) -> None:
    assert (await _refused(place, headers)).status == status


@pytest.mark.parametrize(
    "accept", ["*/*", "application/*, text/*;q=0.5", "text/event-stream,application/json"]
)
async def test_accept_may_use_ranges(place: Place, accept: str) -> None:
    assert (await post(place, ECHO, changed(standard(place, ECHO), Accept=accept))).status == 200


@pytest.mark.parametrize("legacy", [False, True])
async def test_a_body_over_the_cap_is_refused(legacy: bool) -> None:
    message = call_body("echo", {"text": "x" * 2000})
    async with serving(House(), HttpOptions(max_body_bytes=1000)) as place:
        headers: Headers = standard(place, message)
        if legacy:
            headers = changed(headers, MCP_Protocol_Version=None)
        declared = await exchange(place, headers, jsontext.dump(message))
        chunked = [*headers, ("Transfer-Encoding", "chunked"), ("Content-Length", "")]
        async with await opened(place) as stream:
            body = jsontext.dump(message)
            raw = wire("POST", "/mcp", chunked, b"").replace(b"Content-Length: \r\n", b"")
            await stream.send(raw + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
            answer = await stream.receive()
    assert declared.status == 413
    assert answer.startswith(b"HTTP/1.1 413")


async def test_a_body_that_does_not_arrive_is_given_up() -> None:
    async with serving(House(), HttpOptions(body_deadline_s=0.05)) as place:
        headers = [*standard(place, ECHO), ("Content-Length", "500")]
        reply = await exchange(place, headers, b'{"jsonrpc"')
    assert reply.status == 408


async def test_requests_in_flight_are_capped() -> None:
    house = House()
    slow = call_body("slow")
    async with serving(house, HttpOptions(max_requests=1)) as place:
        async with await opened(place) as stream:
            await stream.send(wire("POST", "/mcp", standard(place, slow), jsontext.dump(slow)))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            reply = await post(place, ECHO)
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()
        after = await post(place, ECHO)
    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    assert after.status == 200


async def test_one_principal_leaves_places_to_others() -> None:
    house = House()
    slow = call_body("slow")
    async with serving(house, HttpOptions(max_requests_per_principal=1)) as place:
        async with await opened(place) as stream:
            await stream.send(wire("POST", "/mcp", standard(place, slow), jsontext.dump(slow)))
            with anyio.fail_after(LIMIT_S):
                await house.started.wait()
            refused = await post(place, ECHO)
            other = await post(place, ECHO, standard(place, ECHO, key="bob"))
            (noted,) = house.turned
        with anyio.fail_after(LIMIT_S):
            await house.cancelled.wait()
        after = await post(place, ECHO)
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert "max_concurrency_per_principal" in str(refused.error["message"])
    assert noted.reason == "overloaded"
    assert (other.status, after.status) == (200, 200)
