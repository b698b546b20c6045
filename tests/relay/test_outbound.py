"""Outbound: what a server is sent for each method."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.relay.outbound import Outbounds, forwardable
from gateway.types.calls import Era, Method
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Kind
from tests.helpers.cases import a_call, a_case, a_contract, a_tool
from tests.relay.callers import Asked

MADE = Outbounds(timeout_s=30)


def sent(method: Method, params: JsonObject, *, era: Era = Era.MODERN, **tool: Any) -> JsonObject:
    call = replace(a_call("exposed"), caller=Asked(era=era), method=method, params=params)
    return MADE(a_case(call=call, tool=a_tool(**tool), arguments={"a": 1}), "").params


def test_unknown_members_are_the_servers_to_read() -> None:
    """case: RPC-10"""
    params: JsonObject = {"name": "x", "arguments": {}, "task": {"ttl": 1}, "com.example/y": [1.0]}
    assert sent(Method.CALL_TOOL, params) == {
        "name": "find",
        "arguments": {"a": 1},
        "task": {"ttl": 1},
        "com.example/y": [1.0],
    }


@pytest.mark.parametrize("method", [Method.READ_RESOURCE, Method.SUBSCRIBE])
def test_a_resource_is_read_under_its_servers_own_uri(method: Method) -> None:
    params: JsonObject = {"uri": "weighbridge://crm/a", "k": 1}
    assert sent(method, params, name="file:///a", kind=Kind.RESOURCE) == {
        "uri": "file:///a",
        "k": 1,
    }


@pytest.mark.parametrize("is_safe", [True, False])
def test_a_write_may_be_cancelled_by_the_word_of_its_contract_alone(is_safe: bool) -> None:
    tool = a_tool()
    contract = a_contract(tool, idempotency=Idempotency(is_cancel_safe=is_safe))
    case = a_case(tool=tool, contract=contract, effect=Effect.WRITE, arguments={})
    assert MADE(case, "").may_cancel is is_safe


def test_a_prompt_without_arguments_is_asked_for_without() -> None:
    assert sent(Method.GET_PROMPT, {"name": "x"}, kind=Kind.PROMPT) == {"name": "find"}
    given = sent(Method.GET_PROMPT, {"name": "x", "arguments": {}}, kind=Kind.PROMPT)
    assert given == {"name": "find", "arguments": {"a": 1}}


def test_a_completion_names_the_servers_own_prompt_or_template() -> None:
    of_prompt: JsonObject = {"ref": {"type": "ref/prompt", "name": "x", "t": 1}, "argument": {}}
    assert sent(Method.COMPLETE, of_prompt, kind=Kind.PROMPT)["ref"] == {
        "type": "ref/prompt",
        "name": "find",
        "t": 1,
    }
    of_uri: JsonObject = {"ref": {"type": "ref/resource", "uri": "x"}, "argument": {}}
    assert sent(Method.COMPLETE, of_uri, kind=Kind.RESOURCE, name="db:///{t}")["ref"] == {
        "type": "ref/resource",
        "uri": "db:///{t}",
    }


def test_answers_to_questions_pass_only_where_there_are_rounds() -> None:
    params: JsonObject = {"name": "x", "inputResponses": {"q": {}}, "requestState": "s"}
    assert "inputResponses" in sent(Method.CALL_TOOL, params)
    assert sent(Method.CALL_TOOL, params, era=Era.LEGACY) == {"name": "find", "arguments": {"a": 1}}


def test_questions_never_go_to_servers() -> None:
    with pytest.raises(ValueError, match="goes to clients"):
        sent(Method.SAMPLE, {})


_NAMES = st.sampled_from(
    [
        *("progressToken", "traceparent", "tracestate", "baggage", "com.example/k", "", "k"),
        *("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"),
        *("io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/logLevel"),
        *("io.modelcontextprotocol/x", "weighbridge/run", "io.modelcontextprotocol", "Baggage"),
    ]
)


@given(st.dictionaries(_NAMES, st.integers()))
def test_what_belongs_to_one_hop_is_told_by_each_key_alone(meta: JsonObject) -> None:
    """A look at all keys at once says the same as one at each."""
    one_by_one = [forwardable({key: each, "com.example/k": 0}) for key, each in meta.items()]
    kept = {key for each in one_by_one for key in each} & meta.keys()
    assert forwardable(meta) == {key: each for key, each in meta.items() if key in kept}


def test_what_a_server_is_sent_is_its_own_to_change() -> None:
    assert forwardable({}) is not forwardable({})
    first = sent(Method.CALL_TOOL, {"name": "x", "arguments": {}})
    assert first is not sent(Method.CALL_TOOL, {"name": "x", "arguments": {}})
