"""Definitions of tools in a file: what `tools/list` gave, of one server or of several.

Taken is a result as servers and MCP Inspector give it (`{"tools": […]}`), the JSON-RPC message
around it, the list alone, and an object that has one of these for each server.
"""

from collections.abc import Collection, Mapping
from typing import Final, TypeAlias

from gateway import jsontext
from gateway.errors import FileError, JsonError
from gateway.types.json import Json, JsonObject

Definitions: TypeAlias = Mapping[str, JsonObject]
"""What a server publishes, by the name of the tool there."""

MAX_BYTES: Final = 16 << 20
_SHAPES: Final = (
    'write what `tools/list` gives, `{"tools": [...]}`, or an object with one for each server'
)


def read(data: bytes, *, file: str) -> Mapping[str, Definitions]:
    """Return what a file has by server; `""` where it names none. Raises FileError."""
    if len(data) > MAX_BYTES:
        raise FileError(f"larger than {MAX_BYTES} bytes", file=file)
    try:
        value = jsontext.parse_exactly(data)  # values as servers send them: the pins are the same
    except JsonError as error:
        raise FileError(f"no JSON: {error}", file=file) from None
    listed = _listed(value, file)
    if listed is not None:
        return {"": listed}
    if not isinstance(value, dict) or not value:
        raise FileError(f"no definitions of tools in it; {_SHAPES}", file=file)
    found: dict[str, Definitions] = {}
    for server, each in value.items():
        of_server = _listed(each, file)
        if of_server is None:
            raise FileError(f"`{server[:64]}` has no list of tools; {_SHAPES}", file=file)
        found[server] = of_server
    return found


def placed(
    published: Mapping[str, Definitions],
    *,
    file: str,
    servers: Collection[str],
    known: Collection[str],
    mend: str = "",
) -> Mapping[str, Definitions]:
    """Return the same with the server of a list that names none; `mend` is how to name it.

    It is the only one of the configuration, or the only one with a contract (`known`, by
    `server.name`) for one of its tools. Raises FileError where that can't be told.
    """
    if "" not in published:
        return published
    names = published[""]
    owners = {key.partition(".")[0] for key in known if key.partition(".")[2] in names}
    candidates = set(servers) if len(servers) == 1 else owners
    if len(candidates) != 1:
        why = (
            f"`{'`, `'.join(sorted(candidates))}` have tools of these names"
            if candidates
            else ("no server has a contract for one of its tools")
        )
        raise FileError(
            f"names no server, and {why}; {mend or f'write `SERVER={file}`'}", file=file
        )
    return {candidates.pop(): names}


def _listed(value: Json, file: str) -> Definitions | None:
    """Return the tools of one list by name, or None for what is no list of tools."""
    if isinstance(value, dict) and "jsonrpc" in value and isinstance(value.get("result"), dict):
        value = value["result"]
    if isinstance(value, dict) and isinstance(value.get("tools"), list):
        if value.get("nextCursor"):
            raise FileError("one page of several; write the tools of all pages", file=file)
        value = value["tools"]
    if not isinstance(value, list):
        return None
    found: dict[str, JsonObject] = {}
    for at, each in enumerate(value):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(name, str) or not name:
            raise FileError(f"tool {at + 1} of its list has no `name`", file=file)
        if found.get(name, each) != each:
            raise FileError(f"has `{name[:64]}` twice, in two forms", file=file)
        found[name] = each
    return found
