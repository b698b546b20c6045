"""Is an answer a tool result at all? (MCP 2025-11-25 and 2026-07-28, server/tools)."""

from dataclasses import dataclass

from gateway.types.json import Json, JsonObject, JsonPointer


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFault:
    """Where an answer isn't a tool result, and what is wrong there."""

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


def fault(result: JsonObject) -> ShapeFault | None:
    """Return the first fault of a tool result, or None; unknown block types are no fault."""
    if "content" not in result and "structuredContent" not in result:
        return ShapeFault(pointer="", problem="neither `content` nor `structuredContent`")
    content = result.get("content", [])
    if not isinstance(content, list):
        return ShapeFault(pointer="/content", problem="not a list")
    if not isinstance(result.get("isError", False), bool):
        return ShapeFault(pointer="/isError", problem="not a boolean")
    for index, block in enumerate(content):
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
