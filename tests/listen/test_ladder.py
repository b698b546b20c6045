"""The ladder against the SDK's own, which is the oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.inbound import find_duplicated_routing_header as duplicated

from gateway.listen.ladder import HeaderView, ParamHeaders, accepts, climb, cursor_of, is_json
from gateway.listen.rpc import RpcError
from gateway.types.json import Json, JsonObject
from tests.listen.house import META

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

versions = st.sampled_from(["2026-07-28", "2025-11-25", "2099-01-01", ""])
methods = st.sampled_from(["tools/call", "tools/list", "prompts/get", "resources/read", "x"])
names = st.sampled_from(["a", "b", "=?base64?YQ==?=", "=?base64?!?=", "é"])


@st.composite
def requests(draw: st.DrawFn) -> tuple[JsonObject, list[tuple[str, str]]]:
    meta: JsonObject = {}
    if draw(st.integers(0, 9)):
        meta[VERSION_KEY] = draw(st.one_of(versions, st.none(), st.just(3)))
    if draw(st.integers(0, 9)):
        meta["io.modelcontextprotocol/clientCapabilities"] = {}
    params: JsonObject = {"_meta": draw(st.sampled_from([meta, meta, meta, None]))}
    for key in ("name", "uri"):
        if draw(st.booleans()):
            params[key] = draw(names)
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": draw(methods), "params": params}
    headers: list[tuple[str, str]] = []
    for name, values in (
        ("mcp-protocol-version", versions),
        ("mcp-method", methods),
        ("mcp-name", names),
    ):
        headers += [(name, draw(values)) for _ in range(draw(st.sampled_from([0, 1, 1, 1, 1, 2])))]
    return message, headers


@given(requests())
def test_every_verdict_is_the_sdks(request: tuple[JsonObject, list[tuple[str, str]]]) -> None:
    message, headers = request
    view = HeaderView([(n.encode(), v.encode("latin-1")) for n, v in headers])
    ours = climb(message, view)
    if duplicated(headers) is not None:
        assert ours is not None
        assert ours.code == -32020
        return
    theirs = classify_inbound_request(message, headers=dict(headers))
    if isinstance(theirs, InboundLadderRejection):
        assert ours is not None
        assert ours.code == theirs.code
        if ours.data is not None:
            assert ours.data == theirs.data
    else:
        assert ours is None


def test_a_good_request_climbs() -> None:
    message: JsonObject = {"method": "tools/call", "params": {"name": "a", "_meta": META}}
    raw = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call")]
    assert climb(message, HeaderView([*raw, (b"mcp-name", b"a")])) is None
    # Blanks around a value are not part of it (RFC 9110, 5.5).
    assert climb(message, HeaderView([*raw, (b"mcp-name", b" \ta ")])) is None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"application/json", (True, False)),
        (b"text/event-stream", (False, True)),
        (b"*/*", (True, True)),
        (b"APPLICATION/JSON ; q=1, text/*", (True, True)),
        (b"", (False, False)),
        (b"application/jsonp", (False, False)),
    ],
)
def test_accept_is_read_by_media_range(header: bytes, expected: tuple[bool, bool]) -> None:
    assert accepts(header) == expected


def test_a_content_type_is_json_or_it_is_not() -> None:
    assert is_json(b"Application/JSON; charset=utf-8")
    assert not is_json(b"application/json-patch+json")
    assert not is_json(b"")


def test_schemas_are_looked_through_once_and_by_identity() -> None:
    rules = ParamHeaders(remembered=1)
    plain: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}
    marked: JsonObject = {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    for _ in range(2):
        assert rules.refuse(plain, {"a": "x"}, []) is None
        refusal = rules.refuse(marked, {"a": "x"}, [])
        assert refusal is not None
        assert refusal.code == -32020
        assert rules.refuse(marked, {"a": "x"}, [(b"mcp-param-a", b"x")]) is None
    twice = [(b"mcp-param-a", b"x"), (b"mcp-param-a", b"x")]
    assert rules.refuse(marked, {"a": "x"}, twice) is not None


@pytest.mark.parametrize("cursor", [None, "x"])
def test_a_cursor_is_text_or_absent(cursor: Json) -> None:
    assert cursor_of({"cursor": cursor}) == cursor
    assert isinstance(cursor_of({"cursor": 1}), RpcError)


@pytest.mark.parametrize(
    ("lines", "key"),
    [([], None), ([b""], ""), ([b' "k1"\t'], '"k1"'), ([b"k1", b"k2"], "k1, k2")],
)
def test_a_hosts_key_is_read_as_it_came_and_two_are_a_list(
    lines: list[bytes], key: str | None
) -> None:
    view = HeaderView([(b"idempotency-key", line) for line in lines])
    assert view.idempotency_key == key


@pytest.mark.parametrize(
    ("lines", "run"),
    [([], ""), ([b" run_1\t"], "run_1"), ([b"run_1", b"run_2"], "run_1, run_2")],
)
def test_the_run_is_read_from_the_header_that_names_it_and_two_are_no_name(
    lines: list[bytes], run: str
) -> None:
    raw = [(b"x-run-id", line) for line in lines]
    assert HeaderView(raw, b"x-run-id").run == run
    assert HeaderView(raw, b"x-other").run == ""
    assert HeaderView([(b"", b"run_1")]).run == ""
