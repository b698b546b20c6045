"""HTTP headers that go to a server: the protocol's, and its entry's own; never a caller's."""

from gateway.protocol import mirroring
from gateway.protocol.words import METHOD_HEADER, NAME_HEADER, SESSION_HEADER, VERSION_HEADER
from gateway.servers.entry import Entry
from gateway.types.json import JsonObject

# What an entry can't set: these say what the request is, and must be true.
_RESERVED = frozenset(
    {
        METHOD_HEADER,
        NAME_HEADER,
        VERSION_HEADER,
        SESSION_HEADER,
        "accept",
        "accept-encoding",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)

# Which member of the params is mirrored; a task is named by its id (SEP-2663).
_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}


def of_entry(entry: Entry) -> dict[str, str]:
    """Return what every POST to this server carries.

    Encodings other than identity are not asked for: a small body could grow without bound.
    """
    own = {name: value for name, value in entry.headers.items() if name.lower() not in _RESERVED}
    return own | {
        "accept": "application/json, text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }


def of_request(method: str, params: JsonObject, version: str) -> dict[str, str]:
    """Return the headers of the stateless era that mirror the body (MCP 2026-07-28, transports)."""
    headers = {VERSION_HEADER: version, METHOD_HEADER: method}
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers[NAME_HEADER] = mirroring.encoded(name)
    return headers
