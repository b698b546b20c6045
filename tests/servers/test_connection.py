"""Words that both transports share."""

from copy import deepcopy
from typing import Any

import pytest

from gateway.servers.connection import CLIENT_INFO, Spoken, answer_to, outcome_of, stamp
from gateway.types.calls import Era
from gateway.types.operations import Delivered, Failure, Rejected, Undelivered

MODERN = Spoken(era=Era.MODERN, version="2026-07-28")
LEGACY = Spoken(era=Era.LEGACY, version="2025-11-25")


@pytest.mark.parametrize("spoken", [MODERN, LEGACY, None])
@pytest.mark.parametrize("token", [7, None])
@pytest.mark.parametrize("own", [{"own": 1}, None])
@pytest.mark.parametrize("trace", ["00-a-b-01", ""])
def test_a_request_says_of_this_hop_what_there_is_to_say(
    spoken: Spoken | None, token: int | None, own: Any, trace: str
) -> None:
    given: Any = {"name": "x"} | ({"_meta": own} if own else {})
    before = deepcopy(given)
    stamped = stamp(given, spoken, token, {"roots": {}}, "info", traceparent=trace)
    assert given == before
    modern: Any = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
        "io.modelcontextprotocol/logLevel": "info",
    }
    wanted: dict[str, Any] = dict(own or {})
    if trace:
        wanted["traceparent"] = trace
    if spoken is MODERN:
        wanted.update(modern)
    if token is not None:
        wanted["progressToken"] = token
    assert stamped == ({"name": "x", "_meta": wanted} if wanted else {"name": "x"})


def test_the_modern_era_stamps_every_request_and_leaves_the_given_object_alone() -> None:
    given: Any = {"name": "x", "_meta": {"own": 1}}
    stamped: Any = stamp(given, MODERN, 7)
    assert given == {"name": "x", "_meta": {"own": 1}}
    assert stamped["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert stamped["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}
    assert stamped["_meta"]["own"] == 1
    assert stamped["_meta"]["progressToken"] == 7


def test_the_legacy_era_stamps_a_progress_token_only() -> None:
    assert stamp({"a": 1}, LEGACY, None) == {"a": 1}
    assert stamp({"a": 1}, LEGACY, 3) == {"a": 1, "_meta": {"progressToken": 3}}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"result": {"content": []}}, Delivered),
        ({"error": {"code": 1, "message": "m"}}, Rejected),
        ({"error": {"code": True, "message": "m"}}, Undelivered),
        ({"error": {"code": 1, "message": "m"}, "result": {}}, Undelivered),
        ({"error": None}, Undelivered),
        ({"result": "x"}, Undelivered),
        ({}, Undelivered),
        ({"result": {"resultType": "future"}}, Undelivered),
        ({"result": {"resultType": 5}}, Undelivered),
    ],
)
def test_a_response_is_a_result_an_error_or_malformed(message: Any, kind: type) -> None:
    got = outcome_of(message, server="a", size=1, modern=True)
    assert isinstance(got, kind)
    if isinstance(got, Undelivered):
        assert got.failure is Failure.MALFORMED


@pytest.mark.parametrize(
    ("kind", "modern", "capabilities", "passes"),
    [
        ("complete", True, {}, True),
        ("complete", False, {}, True),
        ("task", False, {"extensions": {}}, False),
        ("input_required", False, {"elicitation": {}}, False),
        ("input_required", True, {}, False),
        ("input_required", True, {"extensions": {}}, False),
        ("input_required", True, {"elicitation": {}}, True),
        ("input_required", True, {"roots": {}}, True),
        ("task", True, {"elicitation": {}}, False),
        ("task", True, {"extensions": {}}, True),
        ("com.example/other", True, {"extensions": {}}, True),
        (5, True, {"extensions": {}}, False),
        (None, False, {}, False),
    ],
)
def test_a_result_that_is_not_complete_passes_only_where_the_request_declared_it(
    kind: Any, modern: bool, capabilities: Any, passes: bool
) -> None:
    message: Any = {"result": {"resultType": kind}}
    got = outcome_of(message, server="a", size=1, modern=modern, capabilities=capabilities)
    assert isinstance(got, Delivered) is passes


def test_a_request_declares_what_its_caller_can_do_and_nothing_of_the_gateway() -> None:
    stamped: Any = stamp({}, MODERN, None, {"elicitation": {"form": {}}}, "debug")
    meta = stamped["_meta"]
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}}}
    assert meta["io.modelcontextprotocol/logLevel"] == "debug"
    assert stamp({}, LEGACY, None, {"elicitation": {}}, "debug") == {}


def test_pings_are_answered_and_everything_else_is_refused() -> None:
    assert answer_to({"id": "a", "method": "ping"}) == {"jsonrpc": "2.0", "id": "a", "result": {}}
    refused: Any = answer_to({"id": 1, "method": "roots/list"})
    assert refused["error"]["code"] == -32601


@pytest.mark.parametrize("number", ["x" * 257, None, True, 1.5, [1], {"a": 1}])
def test_a_request_with_an_id_that_is_none_gets_no_answer(number: Any) -> None:
    assert answer_to({"id": number, "method": "ping"}) is None
