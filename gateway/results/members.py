"""The members that MCP defines for results, for those of which only what is named may leave."""

import re
from collections.abc import Mapping
from typing import Final

from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject

_PREFIX: Final = "io.modelcontextprotocol/"
_RELATED_TASK: Final = f"{_PREFIX}related-task"
# Every hop says these for itself: one that a server said never reaches a caller.
_REMADE: Final = (f"{_PREFIX}serverInfo", f"{_PREFIX}subscriptionId", "weighbridge/")

# Both revisions of tasks: with `ttl` and `pollInterval`, and with the unit in the name.
_TASK: Final = frozenset(
    {"taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttl", "ttlMs"}
    | {"pollInterval", "pollIntervalMs", "inputRequests", "requestState", "result", "error"}
)
_OF_METHOD: Final[Mapping[Method, frozenset[str]]] = {
    Method.CALL_TOOL: frozenset({"content", "structuredContent", "isError"}),
    Method.READ_RESOURCE: frozenset({"contents", "ttlMs", "cacheScope"}),
    Method.GET_PROMPT: frozenset({"description", "messages"}),
    Method.COMPLETE: frozenset({"completion"}),
    Method.GET_TASK: _TASK,
    Method.UPDATE_TASK: _TASK,
    Method.CANCEL_TASK: _TASK,
}
_OF_TYPE: Final[Mapping[Json, frozenset[str]]] = {
    "input_required": frozenset({"inputRequests", "requestState"}),
    "task": _TASK,
}

BLOCK: Final = frozenset({"type", "text", "annotations"})
DOCUMENT: Final = frozenset({"uri", "mimeType", "text", "annotations"})
MESSAGE: Final = frozenset({"role", "content"})
_KINDS: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})
_AUDIENCE: Final = frozenset({"user", "assistant"})
_MOMENT: Final = re.compile(r"[0-9T:Z.+-]{1,40}")
PROSE: Final = ("description", "statusMessage")  # members of results that are a server's words


def of_result(result: JsonObject, method: Method) -> frozenset[str]:
    """Return the members that a result of the method has, if it is of the type that it says."""
    kind = result.get("resultType")
    own = _OF_TYPE.get(kind) if isinstance(kind, str) else None
    return (own or _OF_METHOD.get(method, frozenset())) | {"resultType"}


def needed(name: str, value: Json) -> Json:
    """Return as much of a key of `_meta` as the protocol can't do without; None for nothing."""
    if name != _RELATED_TASK or not isinstance(value, dict):
        return None
    task = value.get("taskId")
    return {"taskId": task} if isinstance(task, str) else None


def annotations(given: JsonObject) -> JsonObject:
    """Return what the protocol defines of annotations, and only in its own words."""
    kept: JsonObject = {}
    for name, each in given.items():
        match name, each:
            case "audience", list():
                kept[name] = [one for one in each if one in _AUDIENCE]
            case "priority", int() | float():
                kept[name] = each
            case "lastModified", str() if _MOMENT.fullmatch(each):
                kept[name] = each
            case _:
                continue
    return kept


def kind(block: JsonObject) -> str:
    """Return the type of a content block as it is told: one of the protocol's, or none."""
    said = block.get("type")
    return f"`{said}` block" if isinstance(said, str) and said in _KINDS else "block"


def is_remade(name: str) -> bool:
    """Whether a key of `_meta` is made anew on the way to the caller."""
    return name.startswith(_REMADE)
