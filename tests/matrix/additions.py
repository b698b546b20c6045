"""All that the gateway adds, renames or makes anew: what `docs/reference/proxying.md` tells.

Everything that is not here has to arrive as the server sent it. `expected` turns a server's own
answer into what its caller must get; `plain` takes the additions off what the caller got.
"""

import json
from typing import Any, Final

from tests.matrix.fixtures import Json

# Each row of the table in the reference: where, and what.
ADDITIONS: Final[dict[str, str]] = {
    '_meta["weighbridge/outcome"]': "of every result",
    '_meta["weighbridge/untrusted"]': "of every result of a server",
    '_meta["weighbridge/tool"]': "of every listed tool",
    '_meta["weighbridge/resource"]': "of every listed resource and template",
    '_meta["weighbridge/prompt"]': "of every listed prompt",
    '_meta["io.modelcontextprotocol/serverInfo"]': "the gateway's own",
    '_meta["io.modelcontextprotocol/subscriptionId"]': "the caller's own",
    'error.data["weighbridge/outcome"]': "of a server's error, where data is absent or an object",
    "name": "of tools and prompts: `server__name`",
    "annotations": "hints that play a call down",
    "resultType": "`complete` for stateless callers only",
    "ttlMs": "never fresh",
    "cacheScope": "never shared",
    "nextCursor": "the gateway's own pages",
    "content": "a text where there is none, or where the era has no room for the structure",
    "outputSchema": "left out for handshake callers where it admits more than objects",
    "requestState": "sealed",
    "taskId": "sealed",
    "progressToken": "the caller's own",
    "params": "of a question, left out for handshake callers where they are empty",
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


def questions(asked: list[Json]) -> list[Json]:
    """Return questions with the params that may be left out."""
    return [{**each, "params": each.get("params") or {}} for each in asked]


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
    return [] if type(wanted) is type(got) and wanted == got else [f"{place}: {wanted!r} became {got!r}"]


def _of_objects(wanted: Json, got: Json, place: str) -> list[str]:
    lost = [f"{place}/{key}: lost" for key in wanted if key not in got]
    added = [f"{place}/{key}: added {got[key]!r}" for key in got if key not in wanted]
    both = [key for key in wanted if key in got]
    inner = [each for key in both for each in differences(wanted[key], got[key], f"{place}/{key}")]
    return [*lost, *added, *inner]
