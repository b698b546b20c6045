"""The ladder against the SDK's own, which is the oracle."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.inbound import find_duplicated_routing_header as duplicated

from gateway.listen.headers import HeaderView
from gateway.listen.ladder import ParamHeaders, asked_in, climb, cursor_of, in_order
from gateway.listen.manners import Manners
from gateway.listen.origin import OriginCheck
from gateway.listen.rpc import RpcError
from gateway.listen.strict import check_request
from gateway.types.json import Json, JsonObject
from tests.listen.house import META

LEVEL = "io.modelcontextprotocol/logLevel"
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


odd: st.SearchStrategy[Json] = st.sampled_from([None, True, 1, 1.0, "", "x", "2.0", [], {}, ["a"]])
odd_members = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "params._meta", "params.name", LEVEL]),
    odd,
    max_size=2,
)


@given(requests(), odd_members, st.sampled_from([None, "debug", "x"]))
def test_what_is_in_order_at_the_first_look_is_in_order(
    request: tuple[JsonObject, list[tuple[str, str]]],
    changes: dict[str, Json],
    level: str | None,
) -> None:
    message, headers = request
    params = message["params"]
    assert isinstance(params, dict)
    meta = params["_meta"]
    if isinstance(meta, dict):
        if level is not None:
            meta[LEVEL] = level
        if LEVEL in changes:
            meta[LEVEL] = changes[LEVEL]
    for name, value in changes.items():
        if name.startswith("params."):
            params[name.removeprefix("params.")] = value
        elif name != LEVEL:
            message[name] = value
    view = HeaderView([(n.encode(), v.encode("latin-1")) for n, v in headers])
    manner = Manners(OriginCheck()).of(view)
    if not (manner.is_served and view.is_plain):
        return
    found = in_order(message, view, manner.method, manner.named_by)
    event("in order" if found is not None else "not in order")
    if found is not None:
        assert check_request(message) is None
        assert climb(message, view) is None
        assert found == asked_in(message)


@pytest.mark.parametrize("level", [None, "debug"])
def test_a_usual_request_is_in_order_at_the_first_look(level: str | None) -> None:
    meta: JsonObject = {**META} if level is None else {**META, LEVEL: level}
    for method, named in (("tools/call", True), ("tools/list", False), ("prompts/get", True)):
        params: JsonObject = {"_meta": meta, **({"name": "a"} if named else {})}
        message: JsonObject = {"jsonrpc": "2.0", "id": "x", "method": method, "params": params}
        raw = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", method.encode())]
        view = HeaderView([*raw, (b"mcp-name", b"a")] if named else raw)
        manner = Manners(OriginCheck()).of(view)
        assert in_order(message, view, manner.method, manner.named_by) == asked_in(message)
        if named:
            other = HeaderView([*raw, (b"mcp-name", b"b")])
            assert in_order(message, other, manner.method, manner.named_by) is None


def test_a_name_that_is_written_as_base64_is_not_taken_by_the_letter() -> None:
    name = "=?base64?YQ==?="
    raw = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call")]
    view = HeaderView([*raw, (b"mcp-name", name.encode())])
    params: JsonObject = {"name": name, "_meta": META}
    message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert in_order(message, view, "tools/call", "name") is None
    assert climb(message, view) is not None


def test_a_good_request_climbs() -> None:
    message: JsonObject = {"method": "tools/call", "params": {"name": "a", "_meta": META}}
    raw = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call")]
    assert climb(message, HeaderView([*raw, (b"mcp-name", b"a")])) is None
    # Blanks around a value are not part of it (RFC 9110, 5.5).
    assert climb(message, HeaderView([*raw, (b"mcp-name", b" \ta ")])) is None


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
