"""Is an answer a result of its method at all? (MCP 2025-11-25 and 2026-07-28, server)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject, JsonPointer


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFault:
    """Where an answer isn't the result of its method, and what is wrong there."""

    pointer: JsonPointer
    problem: str


# Required members of the content blocks that the specification names; other types pass as they are.
_BLOCK_MEMBERS: dict[str, tuple[tuple[str, type], ...]] = {
    "text": (("text", str),),
    "image": (("data", str), ("mimeType", str)),
    "audio": (("data", str), ("mimeType", str)),
    "resource_link": (("uri", str),),
    "resource": (("resource", dict),),
}


def is_complete(result: JsonObject) -> bool:
    """Whether a result ends its request, and is no question, task or the like."""
    return result.get("resultType", "complete") == "complete"


def fault(result: JsonObject, method: Method = Method.CALL_TOOL) -> ShapeFault | None:
    """Return the first fault of a result, or None; unknown block types are no fault."""
    look = _LOOKS.get(method)
    return look(result) if look is not None else None


def _of_tool(result: JsonObject) -> ShapeFault | None:
    if "content" not in result and "structuredContent" not in result:
        return ShapeFault(pointer="", problem="neither `content` nor `structuredContent`")
    content = result.get("content", [])
    if not isinstance(content, list):
        return ShapeFault(pointer="/content", problem="not a list")
    if "isError" in result and not isinstance(result["isError"], bool):
        return ShapeFault(pointer="/isError", problem="not a boolean")
    for index, block in enumerate(content):
        if (  # as nearly all are
            isinstance(block, dict)
            and block.get("type") == "text"
            and isinstance(block.get("text"), str)
        ):
            continue
        problem = _block_fault(block)
        if problem is not None:
            return ShapeFault(pointer=f"/content/{index}", problem=problem)
    return None


def _block_fault(block: Json) -> str | None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return "a content block without `type`"
    kind = block["type"]
    for member, wanted in _BLOCK_MEMBERS.get(str(kind), ()):
        if not isinstance(block.get(member), wanted):
            return f"a `{kind}` block without `{member}`"
    return None


def _of_resource(result: JsonObject) -> ShapeFault | None:
    contents = result.get("contents")
    if not isinstance(contents, list):
        return ShapeFault(pointer="/contents", problem="no list of contents")
    for index, entry in enumerate(contents):
        problem = ""
        if not isinstance(entry, dict) or not isinstance(entry.get("uri"), str):
            problem = "contents without `uri`"
        elif not isinstance(entry.get("text", entry.get("blob")), str):
            problem = "contents without `text` or `blob`"
        if problem:
            return ShapeFault(pointer=f"/contents/{index}", problem=problem)
    return None


def _of_prompt(result: JsonObject) -> ShapeFault | None:
    messages = result.get("messages")
    if not isinstance(messages, list):
        return ShapeFault(pointer="/messages", problem="no list of messages")
    for index, message in enumerate(messages):
        place = f"/messages/{index}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return ShapeFault(pointer=place, problem="a message without `role`")
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            problem = _block_fault(block)
            if problem is not None:
                return ShapeFault(pointer=f"{place}/content", problem=problem)
    return None


def _of_completion(result: JsonObject) -> ShapeFault | None:
    completion = result.get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return ShapeFault(pointer="/completion/values", problem="no list of texts")
    return None


# Methods that are not here have results without members that anybody relies on.
_LOOKS: Final[Mapping[Method, Callable[[JsonObject], ShapeFault | None]]] = {
    Method.CALL_TOOL: _of_tool,
    Method.READ_RESOURCE: _of_resource,
    Method.GET_PROMPT: _of_prompt,
    Method.COMPLETE: _of_completion,
}
