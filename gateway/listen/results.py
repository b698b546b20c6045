"""Era-neutral results in the form that each protocol era wants."""

from typing import Final

from gateway import jsontext
from gateway.listen.gate import Page, ServerInfo
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Listed

SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
# What a caller gets depends on who asks and on policy, which may change at any time: never fresh,
# never shared. So a hint of a server's own never passes.
_UNCACHED: Final[JsonObject] = {"ttlMs": 0, "cacheScope": "private"}
_COMPLETE: Final = "complete"
_INPUT_REQUIRED: Final = "input_required"


class ModernResults:
    """Results for 2026-07-28: `resultType`, and the gateway's own name in `_meta`."""

    def __init__(self, info: ServerInfo, *, versions: list[Json]) -> None:
        self._info: JsonObject = {"name": info.name, "version": info.version}
        self._instructions = info.instructions
        self._versions = versions

    def discover(self, capabilities: JsonObject) -> JsonObject:
        """Return the result of `server/discover`."""
        return self.stamp(
            {
                "supportedVersions": [*self._versions],
                "capabilities": capabilities,
                "instructions": self._instructions,
                **_UNCACHED,
            }
        )

    def stamp(self, result: JsonObject, method: Method = Method.CALL_TOOL) -> JsonObject:
        """Return the result with its type; a downstream's own server info is replaced by ours.

        Only `resources/read` has to say how long it may be kept. A question can't be kept at all.
        """
        meta = result.get("_meta")
        finished: JsonObject = {
            **result,
            "_meta": {**meta, SERVER_INFO_KEY: self._info}
            if isinstance(meta, dict)
            else {SERVER_INFO_KEY: self._info},
        }
        kind = finished.setdefault("resultType", _COMPLETE)
        if kind == _INPUT_REQUIRED:
            for hint in _UNCACHED:
                finished.pop(hint, None)
        elif method is Method.READ_RESOURCE or "ttlMs" in finished or "cacheScope" in finished:
            finished.update(_UNCACHED)
        return finished

    def listed(self, kind: Listed, page: Page) -> JsonObject:
        """Return a page of a list."""
        return self.stamp({**_listed(kind, page.items, page.next_cursor), **_UNCACHED})


def legacy_result(result: JsonObject) -> JsonObject:
    """Return a result for the handshake era, in which structured content has to be an object.

    Anything else moves, as JSON, into a text block, unless a block with that text is there. A
    `resultType` shows that a server of the stateless era wrote the result; then that era's other
    members go with it, and what it says of itself in `_meta`: the handshake told who answers.
    Without one, equal names are a server's own additions and stay.
    """
    if "resultType" in result:
        result = _without_stateless(result)
    if "structuredContent" not in result or isinstance(result["structuredContent"], dict):
        return result
    text = jsontext.dump(result["structuredContent"]).decode()
    changed = {key: value for key, value in result.items() if key != "structuredContent"}
    content = result.get("content")
    blocks: list[Json] = [*content] if isinstance(content, list) else []
    if not any(isinstance(block, dict) and block.get("text") == text for block in blocks):
        blocks.append({"type": "text", "text": text})
    changed["content"] = blocks
    return changed


_STATELESS_ONLY: Final = frozenset({"resultType", *_UNCACHED})


def _without_stateless(result: JsonObject) -> JsonObject:
    kept = {key: value for key, value in result.items() if key not in _STATELESS_ONLY}
    meta = kept.get("_meta")
    if isinstance(meta, dict) and SERVER_INFO_KEY in meta:
        rest = {key: value for key, value in meta.items() if key != SERVER_INFO_KEY}
        del kept["_meta"]
        kept |= {"_meta": rest} if rest else {}
    return kept


def legacy_listed(kind: Listed, page: Page) -> JsonObject:
    """Return a page of a list for the handshake era.

    An output schema that admits more than objects is left out: clients of that era would reject
    the very results that `legacy_result` has to change.
    """
    items = page.items
    if kind is Listed.TOOLS:
        items = [_without_open_output(tool) for tool in items]
    return _listed(kind, items, page.next_cursor)


def legacy_capabilities(offers: JsonObject) -> JsonObject:
    """Return what the handshake announces: extensions belong to the stateless era."""
    return {name: value for name, value in offers.items() if name != "extensions"}


def _without_open_output(tool: JsonObject) -> JsonObject:
    schema = tool.get("outputSchema")
    if schema is None or (isinstance(schema, dict) and schema.get("type") == "object"):
        return tool
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _listed(kind: Listed, items: list[JsonObject], next_cursor: str | None) -> JsonObject:
    listed: JsonObject = {kind.value: [*items]}
    if next_cursor is not None:
        listed["nextCursor"] = next_cursor
    return listed
