"""All that the gateway adds, renames or makes anew: what `docs/reference/proxying.md` tells.

Everything that is not here has to arrive as the server sent it. `expected` turns a server's own
answer into what its caller must get; `plain` takes the additions off what the caller got.
"""

import json
from typing import Any, Final

from tests.matrix.fixtures import Json

# Each row of the table in the reference: where, and what.
ADDITIONS: Final[dict[str, str]] = {
    '_meta["weighbridge/outcome"]': "added to results: how the call ended, and its id",
    '_meta["weighbridge/untrusted"]': "added to results: which server their text comes from",
    '_meta["weighbridge/tool"]': "added to listed tools: server, effect, risk, overridden hints",
    '_meta["weighbridge/resource"]': "added to listed resources and templates",
    '_meta["weighbridge/prompt"]': "added to listed prompts",
    '_meta["weighbridge/server"]': "added to questions, and to the end of an elicitation: "
    "which server asks",
    '_meta["io.modelcontextprotocol/serverInfo"]': "the gateway; none for handshake callers",
    '_meta["io.modelcontextprotocol/subscriptionId"]': "that of the caller's own stream",
    'error.data["weighbridge/outcome"]': "added to a server's error with no data, or an object",
    'error.data["weighbridge/data"]': "holds other data of a write of which nobody knows",
    "name": "`server__name` for tools and prompts, unless `expose.transparent` is set",
    "uri": "`weighbridge://server/…` while two servers list the same URI",
    "annotations": "hints that play a call down are corrected",
    "inputSchema": "without the argument that the gateway fills in with a key "
    "(`idempotency.inject`)",
    "resultType": "`complete` where a stateless caller is owed one; none for handshake callers",
    "ttlMs": "`0` for stateless callers; none for handshake callers",
    "cacheScope": "`private` for stateless callers; none for handshake callers",
    "nextCursor": "the gateway's own; lists are ordered by name or URI",
    "content": "a text block with the structured content, where that stands alone or can't be sent",
    "structuredContent": "left out for handshake callers unless it is an object",
    "outputSchema": "left out for handshake callers where it admits more than objects; "
    "[loosened](policy.md) where policy may take something out of results",
    "requestState": "sealed to the caller and the request",
    "taskId": "sealed to the caller",
    "progressToken": "the caller's own; progress that does not rise is dropped",
    "message": "of `elicitation/create`: led by `server asks: `, unless `expose.transparent`",
}

_OWN: Final = "weighbridge/"
_INFO: Final = "io.modelcontextprotocol/serverInfo"
_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
_OF_THE_HOP: Final = ("resultType", "ttlMs", "cacheScope", "nextCursor")
_HOP_META: Final = ("progressToken", "traceparent", "tracestate")


def plain(value: Json) -> Json:
    """Return a result, item or error data without what either end of a hop adds to it."""
    kept = {key: each for key, each in value.items() if key not in _OF_THE_HOP}
    if "_meta" in kept:
        meta = {
            key: each
            for key, each in kept.pop("_meta").items()
            if not key.startswith(_OWN) and key not in (_INFO, _SUBSCRIPTION)
        }
        kept |= {"_meta": meta} if meta else {}
    return kept


def expected(result: Json, *, modern: bool) -> Json:
    """Return what a caller of an era gets of a server's result."""
    result = plain(result)
    if "structuredContent" not in result:
        return result
    structure, content = result["structuredContent"], result["content"]
    written = {"type": "text", "text": as_text(structure)}
    if not content:
        result = {**result, "content": [written]}
    if modern or isinstance(structure, dict):
        return result
    del result["structuredContent"]
    told = any(block.get("text") == written["text"] for block in content)
    return result if told else {**result, "content": [*content, written]}


def as_text(value: Any) -> str:
    """Write JSON as the gateway does, from the form that `exact` gives numbers."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for number in ("1", "0", "0.5"):
        real = number if "." in number else f"{number}.0"
        text = text.replace(f'"{number} (real)"', real)
    return text


def plain_error(error: Json) -> Json:
    """Return an error without the outcome that its data holds."""
    if type(error.get("data")) is not dict:
        return error
    data: Json = error["data"]
    if "weighbridge/data" in data:
        return {**error, "data": data["weighbridge/data"]}
    kept = {key: each for key, each in data.items() if not key.startswith(_OWN)}
    bare = {key: each for key, each in error.items() if key != "data"}
    return {**bare, "data": kept} if kept else bare


def item(definition: Json, *, server: str, member: str, modern: bool) -> Json:
    """Return what a caller of an era gets of a listed definition."""
    shown = plain(definition)
    if member == "name":
        shown["name"] = f"{server}__{shown['name']}"
    hints = shown.get("annotations", {})
    if "inputSchema" in shown and hints.get("readOnlyHint") is True:  # nobody has reviewed it
        shown["annotations"] = {**hints, "readOnlyHint": False}
    schema = shown.get("outputSchema", {"type": "object"})
    if not modern and schema.get("type") != "object":
        del shown["outputSchema"]
    return shown


def questions(asked: list[Json], server: str = "") -> list[Json]:
    """Return questions as they are put by a server, or as they are heard when `server` is empty."""
    return [{**each, "params": _of_question(each, server)} for each in asked]


def _of_question(asked: Json, server: str) -> Json:
    put: Json = asked.get("params") or {}
    if not server:
        return put
    meta: Json = put.get("_meta", {})
    shown: Json = {**put, "_meta": {**meta, f"{_OWN}server": server}}
    if asked["method"] == "elicitation/create":
        shown["message"] = f"{server} asks: {put['message']}"
    return shown


def params(received: Json) -> Json:
    """Return the params that a server got, without the keys of `_meta` that belong to the hop."""
    kept = {key: each for key, each in received.items() if key != "_meta"}
    meta = {
        key: each
        for key, each in received.get("_meta", {}).items()
        if key not in _HOP_META and not key.startswith("io.modelcontextprotocol/")
    }
    return {**kept, "_meta": meta} if meta else kept


def differences(wanted: Any, got: Any, place: str = "") -> list[str]:
    """Compare field by field, types included; return where two values differ, and how."""
    kinds = (wanted.__class__, got.__class__)
    if kinds == (dict, dict):
        return _of_objects(wanted, got, place)
    if kinds == (list, list) and len(wanted) == len(got):
        pairs = enumerate(zip(wanted, got, strict=True))
        return [each for n, pair in pairs for each in differences(*pair, f"{place}/{n}")]
    return (
        []
        if type(wanted) is type(got) and wanted == got
        else [f"{place}: {wanted!r} became {got!r}"]
    )


def _of_objects(wanted: Json, got: Json, place: str) -> list[str]:
    lost = [f"{place}/{key}: lost" for key in wanted if key not in got]
    added = [f"{place}/{key}: added {got[key]!r}" for key in got if key not in wanted]
    both = [key for key in wanted if key in got]
    inner = [each for key in both for each in differences(wanted[key], got[key], f"{place}/{key}")]
    return [*lost, *added, *inner]
