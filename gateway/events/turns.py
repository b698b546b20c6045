"""What an event keeps of a model's turn: who answered, how much, and digests; never a text."""

from collections.abc import Callable, Sequence
from typing import Final

from gateway.types.json import Json, JsonObject

_NAME: Final = 128
_MOST: Final = 100  # messages, and tool calls, of one turn
# As clients spell them: MCP names no member for token counts (2025-11-25, client/sampling).
_TOKENS: Final = {
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
}


def described(
    request: JsonObject,
    result: JsonObject | None,
    *,
    digest: Callable[[Json], str],
    text: Callable[[str], str],
) -> JsonObject:
    """Return the members about one `sampling/createMessage`; `text` redacts, `digest` is keyed."""
    answer = result or {}
    said: JsonObject = {
        "model": text(_text(answer.get("model"))[:_NAME]),
        "stop_reason": text(_text(answer.get("stopReason"))[:_NAME]),
        "messages": [_message(message, digest) for message in _list(request.get("messages"))],
        "tool_calls": [
            {
                "name": text(_text(block.get("name"))[:_NAME]),
                "id": text(_text(block.get("id"))[:_NAME]),
            }
            for block in _blocks(answer.get("content"))
            if isinstance(block, dict) and block.get("type") == "tool_use"
        ],
        **_usage(answer),
    }
    maximum = request.get("maxTokens")
    if type(maximum) is int and maximum >= 0:
        said["max_tokens"] = maximum
    if "systemPrompt" in request:
        said["system_digest"] = digest(request["systemPrompt"])
    if "content" in answer:
        said["output_digest"] = digest(answer["content"])
    return said


def _message(message: Json, digest: Callable[[Json], str]) -> JsonObject:
    said = message if isinstance(message, dict) else {}
    role = said.get("role")
    known = role if role in ("user", "assistant") else ""
    return {"role": known, "digest": digest(said.get("content"))}


def _usage(answer: JsonObject) -> JsonObject:
    meta = answer.get("_meta")
    places = (answer, meta if isinstance(meta, dict) else {})
    found: JsonObject = {}
    for place in places:
        usage = place.get("usage")
        for name, spellings in _TOKENS.items():
            for spelling in spellings if isinstance(usage, dict) else ():
                count = usage.get(spelling) if isinstance(usage, dict) else None
                if type(count) is int and count >= 0:
                    found.setdefault(name, count)
    return found


def _blocks(content: Json) -> Sequence[Json]:
    return _list(content) if isinstance(content, list) else [content]


def _list(value: Json) -> Sequence[Json]:
    return value[:_MOST] if isinstance(value, list) else ()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
