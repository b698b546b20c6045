"""HTTP headers that go to a server: the protocol's, and its entry's own; never a caller's."""

from collections.abc import Mapping

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)

from gateway.servers.entry import Entry
from gateway.types.json import Json, JsonObject

SESSION = "mcp-session-id"

# What an entry can't set: these say what the request is, and must be true.
_RESERVED = frozenset(
    {
        MCP_METHOD_HEADER,
        MCP_NAME_HEADER,
        MCP_PROTOCOL_VERSION_HEADER,
        SESSION,
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
    **NAME_BEARING_METHODS,
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}

HeaderMap = Mapping[tuple[str, ...], str]  # argument path → token of its `Mcp-Param-` header


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
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    return headers


def mirrored(tool_map: HeaderMap, arguments: JsonObject) -> dict[str, str]:
    """Return the `Mcp-Param-*` headers of a call; unsafe values are encoded."""
    return mcp_param_headers(tool_map, arguments) if tool_map else {}


def map_of(input_schema: Json) -> HeaderMap:
    """Return which arguments of a tool are mirrored; only for schemas without a fault."""
    return x_mcp_header_map(input_schema)


def fault_of(input_schema: Json) -> str | None:
    """Return why a tool's `x-mcp-header` annotations can't be used, or None."""
    return find_invalid_x_mcp_header(input_schema)
