"""Model turns."""

from gateway.events import turns
from gateway.types.json import Json, JsonObject


def described(request: JsonObject, result: JsonObject | None) -> JsonObject:
    return turns.described(request, result, digest=digest, text=lambda text: text)


def digest(value: Json) -> str:
    return f"<{value}>"


def test_an_answer_is_described_by_model_reason_counts_and_digests() -> None:
    asked: JsonObject = {
        "messages": [{"role": "user", "content": "hi"}],
        "systemPrompt": "s",
        "maxTokens": 9,
    }
    said: JsonObject = {
        "model": "m",
        "stopReason": "endTurn",
        "content": "yes",
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }
    assert described(asked, said) == {
        "model": "m",
        "stop_reason": "endTurn",
        "messages": [{"role": "user", "digest": "<hi>"}],
        "tool_calls": [],
        "input_tokens": 4,
        "output_tokens": 2,
        "max_tokens": 9,
        "system_digest": "<s>",
        "output_digest": "<yes>",
    }


def test_proposed_tool_calls_are_named_without_their_input() -> None:
    use: JsonObject = {"type": "tool_use", "name": "find", "id": "u1", "input": {"q": "x"}}
    said = described({}, {"content": [{"type": "text", "text": "t"}, use]})
    assert said["tool_calls"] == [{"name": "find", "id": "u1"}]


def test_members_of_a_wrong_type_are_left_out() -> None:
    asked: JsonObject = {"messages": "x", "maxTokens": -1}
    said = described(asked, {"model": 7, "usage": {"inputTokens": "4"}, "_meta": []})
    assert said == {"model": "", "stop_reason": "", "messages": [], "tool_calls": []}


def test_a_message_of_a_wrong_form_is_still_counted() -> None:
    assert described({"messages": [3, {"role": "boss"}]}, None)["messages"] == [
        {"role": "", "digest": "<None>"},
        {"role": "", "digest": "<None>"},
    ]
