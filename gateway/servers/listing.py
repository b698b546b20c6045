"""What tools a server publishes: all pages within limits, and each tool vetted by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.contracts.pins import pin
from gateway.contracts.schemas import compile_tool
from gateway.errors import JsonError, SchemaError
from gateway.servers import headers
from gateway.servers.connection import ConnectFault, Connection
from gateway.servers.entry import Entry
from gateway.servers.handshake import fault
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered
from gateway.types.tools import Quarantine

_LONGEST_NAME = 512  # MCP asks for 128 at most; a server's own name is never altered towards it


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One tool as a server published it; quarantined when it can't be enforced."""

    name: str
    definition: JsonObject
    pin: str
    quarantine: Quarantine | None = None
    mirrors: headers.HeaderMap = field(default_factory=dict[tuple[str, ...], str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A whole tools/list; `faults` names entries that aren't even tools with a name."""

    tools: tuple[Listed, ...]
    faults: tuple[str, ...] = ()


async def fetch(connection: Connection, entry: Entry, *, deadline: float) -> list[Json]:
    """Return the entries of all pages; raises ConnectFault when the list has no end or limit."""
    caps, found, seen, size = entry.caps, list[Json](), set[str](), 0
    params: JsonObject = {}
    for _ in range(caps.pages):
        reply = await connection.call("tools/list", params, deadline=deadline, is_read=True)
        if not isinstance(reply, Delivered):
            raise fault(entry, "tools/list", reply)
        page, cursor = reply.result.get("tools"), reply.result.get("nextCursor")
        if not isinstance(page, list):
            raise ConnectFault(f"`{entry.name}` answered tools/list without a list of tools")
        found += page
        size += reply.size
        if len(found) > caps.tools:
            raise ConnectFault(f"`{entry.name}` publishes more than {caps.tools} tools", slow=True)
        if size > caps.list_bytes:
            raise ConnectFault(
                f"the tools of `{entry.name}` take more than {caps.list_bytes} bytes", slow=True
            )
        if not isinstance(cursor, str):
            return found
        if cursor in seen:
            raise ConnectFault(f"`{entry.name}` repeats a page of its tools/list", slow=True)
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ConnectFault(
        f"the tools/list of `{entry.name}` has more than {caps.pages} pages", slow=True
    )


def vet(entries: Sequence[Json], known: Mapping[str, Listed], *, mirrors: bool) -> Listing:
    """Judge each entry by itself: one bad definition takes no other tool along.

    `known` are earlier verdicts by pin: an unchanged tool isn't compiled again. `mirrors` says
    that arguments go into headers, so that annotations have to be right.
    """
    tools: dict[str, Listed] = {}
    faults: list[str] = []
    for index, definition in enumerate(entries):
        name = definition.get("name") if isinstance(definition, dict) else None
        if not isinstance(definition, dict) or not isinstance(name, str) or not name:
            faults.append(f"entry {index} of the list is no tool with a name")
        elif len(name) > _LONGEST_NAME:
            faults.append(f"the name of entry {index} is longer than {_LONGEST_NAME} characters")
        elif name not in tools:
            tools[name] = _vetted(name, definition, known, mirrors)
        elif tools[name].definition != definition:
            tools[name] = _quarantined(name, definition, "published twice, in two forms")
    return Listing(tools=tuple(tools[name] for name in sorted(tools)), faults=tuple(faults))


def _vetted(
    name: str, definition: JsonObject, known: Mapping[str, Listed], mirrors: bool
) -> Listed:
    try:
        digest = pin(definition)
    except JsonError as error:
        return _quarantined(name, definition, error.message, error.pointer)
    if digest in known and known[digest].name == name and known[digest].definition == definition:
        return known[digest]
    try:
        compile_tool(definition)
    except SchemaError as error:
        return _quarantined(name, definition, error.message, error.pointer, digest)
    except Exception:
        return _quarantined(name, definition, "the schemas can't be read", "", digest)
    schema = definition.get("inputSchema")
    wrong = headers.fault_of(schema) if mirrors else None
    if wrong is not None:
        return _quarantined(name, definition, wrong, "/inputSchema", digest)
    return Listed(
        name=name,
        definition=definition,
        pin=digest,
        mirrors=headers.map_of(schema) if mirrors else {},
    )


def _quarantined(
    name: str, definition: JsonObject, reason: str, pointer: str = "", digest: str = ""
) -> Listed:
    return Listed(
        name=name,
        definition=definition,
        pin=digest,
        quarantine=Quarantine(reason=reason[:300], pointer=pointer),
    )
