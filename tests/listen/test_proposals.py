"""From the params of a call to a proposal."""

import pytest

from gateway.clock import SystemClock
from gateway.listen.callers import ModernHttpCaller
from gateway.listen.proposals import Envelope, propose
from gateway.listen.rpc import RpcError
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import Json, JsonObject
from tests.listen.house import a_principal

CALLER = ModernHttpCaller(push=lambda _: None, token=None)


def _proposed(
    params: JsonObject, input_error: str = "", method: Method = Method.CALL_TOOL
) -> ProposedCall | RpcError:
    envelope = Envelope(
        principal=a_principal("ada"),
        request_id=7,
        input_error=input_error,
        trace_header="00-a",
        idempotency_key="k1",
        run_header="run_1",
    )
    return propose(method, params, envelope, CALLER, SystemClock())


def test_what_the_transport_knows_is_in_the_proposal() -> None:
    call = _proposed({"name": "t", "arguments": {"a": 1}, "_meta": {"k": 2}})
    assert isinstance(call, ProposedCall)
    assert (call.name, call.arguments, call.meta) == ("t", {"a": 1}, {"k": 2})
    assert (call.request_id, call.trace_header, call.input_error) == ("7", "00-a", "")
    assert (call.idempotency_key, call.run_header) == ("k1", "run_1")


@pytest.mark.parametrize("params", [{"name": "t"}, {"name": "t", "arguments": None}])
def test_absent_arguments_are_none(params: JsonObject) -> None:
    call = _proposed(params)
    assert isinstance(call, ProposedCall)
    assert call.arguments == {}


@pytest.mark.parametrize("arguments", [[1], "x", 0, False])
def test_arguments_that_are_no_object_are_left_to_the_pipeline(arguments: Json) -> None:
    call = _proposed({"name": "t", "arguments": arguments})
    assert isinstance(call, ProposedCall)
    assert call.input_error == "`arguments` must be an object"


@pytest.mark.parametrize("params", [{}, {"name": ""}, {"name": 1}, {"name": "t", "_meta": []}])
def test_a_request_that_names_no_tool_is_malformed(params: JsonObject) -> None:
    error = _proposed(params)
    assert isinstance(error, RpcError)
    assert error.code == -32602
