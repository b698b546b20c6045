"""Era-neutral results in the form that each protocol era wants."""

from typing import Final

from gateway import jsontext
from gateway.listen.gate import ServerInfo, ToolPage
from gateway.types.json import Json, JsonObject

SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
# A list depends on who asks and on policy, which may change at any time: never fresh, never shared.
_UNCACHED: Final[JsonObject] = {"ttlMs": 0, "cacheScope": "private"}


class ModernResults:
    """Results for 2026-07-28: `resultType`, and the gateway's own name in `_meta`."""

    def __init__(self, info: ServerInfo, *, versions: list[Json]) -> None:
        self._info: JsonObject = {"name": info.name, "version": info.version}
        self.discover = self.stamp(
            {
                "supportedVersions": versions,
                "capabilities": {"tools": {"listChanged": True}},
                "instructions": info.instructions,
                **_UNCACHED,
            }
        )

    def stamp(self, result: JsonObject) -> JsonObject:
        """Return the result as complete; a downstream's own server info is replaced by ours."""
        meta = result.get("_meta")
        stamped: JsonObject = {**meta} if isinstance(meta, dict) else {}
        stamped[SERVER_INFO_KEY] = self._info
        return {**result, "resultType": "complete", "_meta": stamped}

    def tools(self, page: ToolPage) -> JsonObject:
        """Return a page of `tools/list`."""
        return self.stamp({**_listed(page.tools, page.next_cursor), **_UNCACHED})


def legacy_result(result: JsonObject) -> JsonObject:
    """Return a tool result for a revision in which structured content has to be an object.

    Anything else moves, as JSON, into a text block, unless a block with that text is there.
    """
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


def legacy_tools(page: ToolPage) -> JsonObject:
    """Return a page of `tools/list` for the handshake era.

    An output schema that admits more than objects is left out: clients of that era would reject
    the very results that `legacy_result` has to change.
    """
    return _listed([_without_open_output(tool) for tool in page.tools], page.next_cursor)


def _without_open_output(tool: JsonObject) -> JsonObject:
    schema = tool.get("outputSchema")
    if schema is None or (isinstance(schema, dict) and schema.get("type") == "object"):
        return tool
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _listed(tools: list[JsonObject], next_cursor: str | None) -> JsonObject:
    listed: JsonObject = {"tools": [*tools]}
    if next_cursor is not None:
        listed["nextCursor"] = next_cursor
    return listed
