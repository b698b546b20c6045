"""What a server says passes as it was said, through real pipes and sockets."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from gateway import jsontext
from gateway.servers.supervisor import Server
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Failure, Rejected
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import EVERYTHING, Script, record_of
from tests.helpers.fleets import Listener, call, failed, http_entry, running, send, stdio_entry

RESULT = (
    '{"content":[{"type":"hologram","depth":[1,1.0,-0.0],"_meta":{"x":null}},'
    '{"type":"text","text":"é \\u0000 \\ud83d\\ude00","annotations":{"own":true}}],'
    '"structuredContent":null,"isError":false,"vendor":{"big":123456789012345678901234567890,'
    '"exact":0.1234567890123456789012345678901,"one":1,"float":1.0},"_meta":{"a/b":[{}]}}'
)
ERROR = '{"code":-31999,"message":"own","data":{"big":12345678901234567890,"list":[null,1.0]}}'
Start: TypeAlias = Callable[..., Any]


@pytest.fixture(params=["stdio-legacy", "stdio-modern", "http-legacy", "http-modern", "sse-modern"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Start:
    kind, era = request.param.split("-")

    @asynccontextmanager
    async def started(answer: str) -> AsyncGenerator[tuple[Server, Callable[[str], list[Any]]]]:
        line = '{"jsonrpc":"2.0","id":$ID,' + answer + "}"
        step: Any = {"sse": [f"data: {line}\n\n"]} if kind == "sse" else {"raw": line}
        methods = ("prompts/get", "resources/read", "completion/complete", "tasks/get")
        script = Script(
            eras=[era],
            capabilities=EVERYTHING,
            on_call={"*": [step]},
            on_method={method: [step] for method in methods},
        )
        if kind == "stdio":
            async with running(stdio_entry(script, tmp_path)) as servers:
                yield servers.server("alpha"), record_of(tmp_path, "alpha").calls  # type: ignore[misc]
        else:
            with FakeHttp(script) as fake:
                async with running(http_entry(fake)) as servers:
                    yield servers.server("alpha"), fake.calls  # type: ignore[misc]

    return started


def _same(one: Json, other: Json) -> bool:
    """Whether two values are equal, numbers of one kind and members in order: 1 is not 1.0."""
    match one, other:
        case dict(), dict():
            return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case _:
            return type(one) is type(other) and repr(one) == repr(other)


async def test_every_member_and_digit_of_a_result_passes(start: Start) -> None:
    expected = jsontext.parse_result(RESULT.encode())
    async with start(f'"result":{RESULT}') as (alpha, _):
        got = await call(alpha)
    assert isinstance(got, Delivered)
    assert _same(got.result, expected)
    vendor: Any = got.result["vendor"]
    assert vendor["big"] == 123456789012345678901234567890
    assert vendor["exact"] == Decimal("0.1234567890123456789012345678901")
    assert b'"structuredContent":null' in jsontext.dump(got.result)


async def test_a_servers_own_error_passes_with_code_and_data(start: Start) -> None:
    async with start(f'"error":{ERROR}') as (alpha, _):
        got = await call(alpha)
    assert isinstance(got, Rejected)
    assert (got.code, got.message) == (-31999, "own")
    assert _same(got.data, {"big": 12345678901234567890, "list": [None, 1.0]})


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        (Method.GET_PROMPT, {"name": "grüß", "own": 1}, "=?base64?Z3LDvMOf?="),
        (Method.READ_RESOURCE, {"uri": "x://1", "_meta": {"own": {"n": 10**30}}}, "x://1"),
        (Method.COMPLETE, {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}}, None),
        (Method.GET_TASK, {"taskId": "t-1"}, "t-1"),
    ],
)
async def test_requests_of_every_method_arrive_whole_and_are_named_in_the_headers(
    start: Start, method: Method, params: JsonObject, name: str | None
) -> None:
    async with start(f'"result":{RESULT}') as (alpha, calls):
        got = await send(
            alpha, method, params, traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01"
        )
        (message,) = calls(method)
        era = alpha.state.era
    assert isinstance(got, Delivered)
    assert "vendor" in got.result
    given = {key: value for key, value in message["params"].items() if key != "_meta"}
    assert given == {key: value for key, value in params.items() if key != "_meta"}
    own: Any = params.get("_meta", {})
    assert own.items() <= message["params"]["_meta"].items()
    assert message["params"]["_meta"]["traceparent"].startswith("00-1")
    if "headers" in message and era == "modern":
        assert message["headers"]["mcp-method"] == method
        assert message["headers"].get("mcp-name") == name


@pytest.mark.parametrize(
    ("kind", "capabilities", "passes"),
    [
        ("input_required", {"elicitation": {}}, {"modern"}),
        ("input_required", {}, set[str]()),
        ("task", {"extensions": {"io.modelcontextprotocol/tasks": {}}}, {"modern"}),
        ("task", {"elicitation": {}}, set[str]()),
        ("complete", {}, {"modern", "legacy"}),
    ],
)
async def test_a_result_of_another_type_passes_only_where_it_was_declared(
    start: Start, kind: str, capabilities: JsonObject, passes: set[str]
) -> None:
    result = f'{{"resultType":"{kind}","requestState":"s","inputRequests":{{"a":{{"x":1}}}}}}'
    async with start(f'"result":{result}') as (alpha, _):
        got = await call(alpha, capabilities=capabilities, lane="ada", ear=Listener())
        era = alpha.state.era
    if era in passes:
        assert isinstance(got, Delivered)
        assert got.result == {
            "resultType": kind,
            "requestState": "s",
            "inputRequests": {"a": {"x": 1}},
        }
    else:
        assert failed(got).failure is Failure.MALFORMED
