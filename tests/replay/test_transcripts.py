import json
from typing import Any

import pytest

from gateway.errors import FileError
from gateway.replay import transcripts
from gateway.replay.transcripts import Proposed

FOUND = Proposed(name="crm__find", arguments={"id": 1}, id="c1")
PLAIN = Proposed(name="crm__find", arguments={"id": 1})
ARGUMENTS = '{"id": 1}'
CHAT: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "crm__find", "arguments": ARGUMENTS}}
    ],
}
OLD_CHAT = {
    "role": "assistant",
    "function_call": {"name": "crm__find", "arguments": ARGUMENTS},
}
RESPONSE = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "crm__find",
    "arguments": ARGUMENTS,
}
BLOCK = {"type": "tool_use", "id": "c1", "name": "crm__find", "input": {"id": 1}}
CLAUDE = {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, BLOCK]}
USER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]}


def read(*values: object) -> tuple[Proposed, ...]:
    data = "\n".join(map(json.dumps, values)).encode()
    return transcripts.read(data, file="f")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([{"role": "user", "content": "hi"}, CHAT, {"role": "tool", "content": "{}"}], FOUND),
        ({"model": "m", "messages": [CHAT]}, FOUND),
        ({"object": "chat.completion", "choices": [{"message": CHAT}]}, FOUND),
        ([OLD_CHAT], PLAIN),
        ([RESPONSE, {"type": "function_call_output", "call_id": "c1", "output": "x"}], FOUND),
        ({"object": "response", "output": [{"type": "reasoning"}, RESPONSE]}, FOUND),
        ({"type": "mcp_call", "name": "crm__find", "arguments": ARGUMENTS, "id": "c1"}, FOUND),
        ([CLAUDE, USER], FOUND),
        ({"type": "message", "role": "assistant", "content": [BLOCK]}, FOUND),
        ({"type": "assistant", "message": CLAUDE}, FOUND),
        ({"type": "mcp_tool_use", "id": "c1", "name": "crm__find", "input": {"id": 1}}, FOUND),
        ([{"name": "crm__find", "arguments": {"id": 1}}], PLAIN),
        (
            {"method": "tools/call", "params": {"name": "crm__find", "arguments": {"id": 1}}},
            PLAIN,
        ),
    ],
)
def test_calls_are_found_in_what_every_provider_writes(value: object, found: Proposed) -> None:
    assert read(value) == (found,)


def test_one_value_may_stand_on_each_line_and_what_is_there_again_counts_once() -> None:
    other = {"name": "crm__note"}
    assert read(CLAUDE, USER, CLAUDE, other, other) == (
        FOUND,
        Proposed(name="crm__note", arguments={}),
        Proposed(name="crm__note", arguments={}),
    )


@pytest.mark.parametrize("given", ["[1]", "{", '{"a": NaN}', '{"a": 1, "a": 2}', 7])
def test_arguments_that_are_no_object_are_none(given: object) -> None:
    (found,) = read({**RESPONSE, "arguments": given})
    assert found.arguments is None


@pytest.mark.parametrize("given", ["", None, "{}"])
def test_no_arguments_are_an_empty_object(given: object) -> None:
    (found,) = read({**RESPONSE, "arguments": given})
    assert found.arguments == {}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no calls of tools in it"),
        (b"{", "f:1:1: no JSON"),
        (b'{"role": "user"}', "no calls of tools in it"),
        (b"[1, 2]", "no calls of tools in it"),
        (b'{"name": "a"}\n{', "f:2:1: no JSON"),
        (b"[" * 40 + b'{"name":"a"}' + b"]" * 40, "no calls of tools in it"),
        (b" " * (transcripts.MAX_BYTES + 1), "larger than"),
        (b'{"name":"a"}\n' * (transcripts.MOST_CALLS + 1), "more than 1000 calls"),
        (b"{}\n" * (transcripts.MOST_LINES + 1), "more than 50000 lines"),
        (b'{"name":"a","name":"b"}', "f:1:1: no JSON: duplicate key"),
        (b'{"name":"a"}\n{"name":"b","arguments":{"c":1,"c":2}}', "f:2:1: no JSON: duplicate key"),
    ],
)
def test_what_holds_no_calls_is_refused_with_its_place(data: bytes, said: str) -> None:
    with pytest.raises(FileError, match=said):
        transcripts.read(data, file="f")
