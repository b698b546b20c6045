"""Servers behind Streamable HTTP: what is sent, and what is made of the answers."""

from collections.abc import Generator
from typing import Any

import pytest

from gateway.protocol.words import SESSION_HEADER
from gateway.servers.entry import Caps
from gateway.types.operations import Execution, Failure, Rejected
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.fleets import (
    call,
    failed,
    first_text,
    http_entry,
    running,
    structured,
)


@pytest.fixture
def modern() -> Generator[FakeHttp]:
    with FakeHttp(Script(eras=["modern"])) as server:
        yield server


async def test_a_call_carries_the_entrys_own_headers_and_nothing_else(fake: FakeHttp) -> None:
    """case: AUT-04"""
    entry = http_entry(
        fake, headers={"Authorization": "Bearer ALPHA-TOKEN", "Accept": "x", "Mcp-Name": "lie"}
    )
    async with running(entry) as servers:
        got = structured(
            await call(servers.server("alpha"), arguments={"x": 1}, traceparent="00-ab-cd-01")
        )
    assert got["arguments"] == {"x": 1}
    assert got["meta"]["traceparent"] == "00-ab-cd-01"
    (sent,) = fake.calls()
    headers = sent["headers"]
    assert headers["authorization"] == "Bearer ALPHA-TOKEN"
    assert headers["traceparent"] == "00-ab-cd-01"
    assert headers["accept-encoding"] == "identity"
    assert headers["accept"] == "application/json, text/event-stream"
    allowed = {"host", "accept", "accept-encoding", "content-type", "content-length", "user-agent"}
    allowed |= {"authorization", "traceparent", SESSION_HEADER}
    allowed |= {"mcp-protocol-version", "mcp-method", "mcp-name"}
    assert set(headers) <= allowed
    assert headers.get("mcp-name") != "lie"


async def test_modern_requests_mirror_the_body_in_headers(modern: FakeHttp) -> None:
    properties = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
    }
    schema = {"type": "object", "properties": properties}
    modern.script.tools = [{"name": "say ř", "inputSchema": schema}]
    async with running(http_entry(modern)) as servers:
        arguments: Any = {"region": "a\r\nX-Evil: 1", "deep": {"n": 3}}
        structured(await call(servers.server("alpha"), "say ř", arguments))
    (sent,) = modern.calls()
    headers = sent["headers"]
    assert headers["mcp-method"] == "tools/call"
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["mcp-name"].startswith("=?base64?")
    assert headers["mcp-param-region"].startswith("=?base64?")
    assert headers["mcp-param-n"] == "3"
    assert "x-evil" not in headers


async def test_legacy_requests_carry_session_and_version(legacy: FakeHttp) -> None:
    async with running(http_entry(legacy)) as servers:
        structured(await call(servers.server("alpha")))
        assert legacy.calls("notifications/initialized")
    (sent,) = legacy.calls()
    assert sent["headers"][SESSION_HEADER] in legacy.sessions
    assert sent["headers"]["mcp-protocol-version"] == "2025-11-25"
    assert "mcp-method" not in sent["headers"]
    assert any(method == "DELETE" for method, _ in legacy.requests)


MESSAGE = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ř"}]}}'
HALVES = MESSAGE.partition("$ID")


@pytest.mark.parametrize(
    "pieces",
    [
        [f"event: message\r\ndata: {MESSAGE}\r\n\r\n"],
        [f"data: {HALVES[0]}\ndata: $ID{HALVES[2]}\n\n"],
        [f": keep-alive\n\nid: 1\ndata:\n\ndata: {MESSAGE}\n\n"],
        [f"data:{MESSAGE}\n\n"],
        [f"retry: 50\ndata: {MESSAGE}\n\n"],
        [f"\ufeffdata: {MESSAGE}\n\n"],
        ['data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n', f"data: {MESSAGE}\n\n"],
    ],
)
async def test_every_form_of_an_event_stream_gives_the_same_result(
    legacy: FakeHttp, pieces: list[str]
) -> None:
    """case: HTT-05"""
    legacy.script.on_call = {"echo": [{"sse": pieces}]}
    async with running(http_entry(legacy)) as servers:
        assert first_text(await call(servers.server("alpha"))) == "ř"


async def test_a_stream_that_ends_without_an_answer_is_an_error_at_once(fake: FakeHttp) -> None:
    """case: HTT-05"""
    fake.script.on_call = {"echo": [{"sse": [": nothing\n\n"]}]}
    async with running(http_entry(fake)) as servers:
        got = failed(await call(servers.server("alpha"), deadline_s=60))
    assert (got.failure, got.executed) == (Failure.CLOSED, Execution.UNKNOWN)


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"mean":NaN}}}',
        '{"jsonrpc":"2.0","id":$ID,"result":null}',
        '{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}',
        '{"jsonrpc":"2.0","id":-1,"result":{"content":[]}}',
        '[{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}]',
        "",
    ],
)
async def test_a_body_that_is_no_answer_is_told_as_such(fake: FakeHttp, body: str) -> None:
    """case: OUT-07, OUT-08"""
    fake.script.on_call = {"bad": [{"raw": body}]}
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        assert failed(await call(alpha, "bad")).failure is Failure.MALFORMED
        assert first_text(await call(alpha)) == "echo"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("is_read", [False, True])
async def test_an_answer_above_the_limit_is_not_read_to_its_end(
    fake: FakeHttp, stream: bool, is_read: bool
) -> None:
    big: list[Any] = [{"reply_text_bytes": 200_000}]
    fake.script.on_call = {"big": [{"sse": [": first\n\n"]}, *big] if stream else big}
    async with running(http_entry(fake, caps=Caps(message_bytes=100_000))) as servers:
        alpha = servers.server("alpha")
        assert failed(await call(alpha, "big", is_read=is_read)).failure is Failure.TOO_LARGE
        assert first_text(await call(alpha)) == "echo"
    assert len(fake.calls()) == 2


async def test_an_encoding_that_was_not_asked_for_is_refused(fake: FakeHttp) -> None:
    fake.script.on_call = {"zip": [{"headers": [["Content-Encoding", "gzip"]]}, {"reply": {}}]}
    async with running(http_entry(fake)) as servers:
        got = failed(await call(servers.server("alpha"), "zip"))
    assert (got.failure, got.executed) == (Failure.MALFORMED, Execution.UNKNOWN)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_credential_is_the_servers_trouble_not_the_callers(
    fake: FakeHttp, status: int
) -> None:
    """case: AUT-10"""
    challenge = ["WWW-Authenticate", 'Bearer resource_metadata="https://alpha.example/x"']
    fake.script.on_nth_call = [[{"http": status, "headers": [challenge]}]]
    async with running(http_entry(fake)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        got = failed(await call(alpha))
        assert (got.failure, got.executed) == (Failure.UNAUTHORIZED, Execution.NO)
        assert "the credential for `alpha` needs renewal" in got.detail
        assert "alpha.example" not in got.detail
        assert first_text(await call(alpha)) == "echo"  # renewed meanwhile; no reconnect
        assert alpha.state.attempts == 1


async def test_a_rate_limit_comes_with_the_time_to_wait(fake: FakeHttp) -> None:
    fake.script.on_call = {"echo": [{"http": 429, "headers": [["Retry-After", "7"]]}]}
    async with running(http_entry(fake)) as servers:
        got = failed(await call(servers.server("alpha")))
    assert (got.failure, got.executed) == (Failure.RATE_LIMITED, Execution.NO)
    assert got.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("status", "executed"),
    [
        (301, Execution.UNKNOWN),
        (302, Execution.UNKNOWN),
        (303, Execution.UNKNOWN),
        (307, Execution.NO),
        (308, Execution.NO),
        (405, Execution.NO),
        (400, Execution.UNKNOWN),
        (409, Execution.UNKNOWN),
        (500, Execution.UNKNOWN),
        (502, Execution.UNKNOWN),
    ],
)
async def test_a_status_says_whether_the_tool_may_have_run(
    modern: FakeHttp, status: int, executed: Execution
) -> None:
    """case: IDM-03"""
    where = [["Location", "http://127.0.0.1:1/"]]
    modern.script.on_call = {"put_item": [{"http": status, "body": "no", "headers": where}]}
    async with running(http_entry(modern)) as servers:
        got = failed(await call(servers.server("alpha"), "put_item"))
    assert (got.failure, got.executed) == (Failure.UNAVAILABLE, executed)
    assert f"HTTP {status}" in got.detail
    assert len(modern.calls()) == 1


async def test_a_no_without_a_challenge_may_come_after_the_tool_ran(modern: FakeHttp) -> None:
    modern.script.on_call = {"put_item": [{"http": 403, "body": "response blocked"}]}
    async with running(http_entry(modern)) as servers:
        got = failed(await call(servers.server("alpha"), "put_item"))
    assert (got.failure, got.executed, got.status) == (
        Failure.UNAUTHORIZED,
        Execution.UNKNOWN,
        403,
    )


async def test_an_error_that_names_no_request_is_none_of_it_under_a_5xx(modern: FakeHttp) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "gone"}}
    modern.script.on_call = {"put_item": [{"http": 502, "body": body}]}
    async with running(http_entry(modern)) as servers:
        got = failed(await call(servers.server("alpha"), "put_item"))
    assert (got.executed, got.status) == (Execution.UNKNOWN, 502)


async def test_a_protocol_error_in_an_http_error_is_read(modern: FakeHttp) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad"}}
    modern.script.on_call = {"echo": [{"http": 400, "body": body}]}
    async with running(http_entry(modern)) as servers:
        got = await call(servers.server("alpha"))
    assert isinstance(got, Rejected)
    assert (got.code, got.message, got.status) == (-32602, "bad", 400)


async def test_progress_reaches_the_caller_in_order(fake: FakeHttp) -> None:
    steps = [{"progress": {"progress": n}} for n in range(200)]
    fake.script.on_call = {"long": [*steps, {"progress": {"progress": 5}}, {"reply": text("ok")}]}
    news: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        news.append(progress)

    async with running(http_entry(fake)) as servers:
        got = await call(servers.server("alpha"), "long", on_progress=on_progress)
    assert first_text(got) == "ok"
    assert news == [float(n) for n in range(200)]


async def test_what_a_legacy_server_asks_is_answered_at_once(legacy: FakeHttp) -> None:
    asked = [{"request": {"method": method}} for method in ("ping", "sampling/createMessage")]
    legacy.script.on_call = {"ask": [*asked, {"reply": text("ok")}]}
    async with running(http_entry(legacy)) as servers:
        assert first_text(await call(servers.server("alpha"), "ask")) == "ok"
    assert legacy.fake.answers == [{}, {"code": -32601, "message": "not offered by this client"}]


async def test_tools_with_bad_header_annotations_are_kept_back_alone(modern: FakeHttp) -> None:
    bad: list[Any] = [
        {"type": "string", "x-mcp-header": ""},
        {"type": "string", "x-mcp-header": "a b"},
        {"type": "string", "x-mcp-header": "a\r\nb"},
        {"type": "number", "x-mcp-header": "A"},
        {"type": "string", "x-mcp-header": 5},
        {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}},
    ]
    modern.script.tools = [
        tool("good"),
        *[
            {"name": f"bad{n}", "inputSchema": {"type": "object", "properties": {"p": schema}}}
            for n, schema in enumerate(bad)
        ],
    ]
    async with running(http_entry(modern)) as servers:
        fine = [item.name for item in servers.catalog.tools() if item.quarantine is None]
        assert fine == ["good"]
        assert len(servers.states()[0].quarantined) == 6
