"""Which revision to speak: `server/discover` is asked first, `initialize` is the way back.

Anything but positive evidence of the stateless era leads to `initialize`; an outage is no
evidence of either (MCP 2026-07-28, basic/lifecycle, compatibility).
"""

import asyncio
from typing import assert_never

from gateway.protocol.words import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSION,
    SERVER_KEY,
    UNSUPPORTED_VERSION,
)
from gateway.results import marks
from gateway.servers.connection import (
    CLIENT_INFO,
    ConnectFault,
    Connection,
    NotMcp,
    Reply,
    Spoken,
    modern_meta,
)
from gateway.servers.entry import Entry, Protocol
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Failure, Rejected, Undelivered

# Ends of `server/discover` that say nothing about the era: trying `initialize` would only double
# the load on a server in trouble.
_OUTAGE = frozenset(
    {Failure.UNAVAILABLE, Failure.CLOSED, Failure.UNAUTHORIZED, Failure.RATE_LIMITED}
)


async def negotiate(connection: Connection, entry: Entry, *, deadline: float) -> Spoken:
    """Settle the revision with a server; raises ConnectFault. `deadline` is on the loop's clock."""
    if entry.protocol is Protocol.LEGACY:
        spoken = await initialize(connection, entry, deadline=deadline)
    elif entry.protocol is Protocol.MODERN:
        spoken = await _modern_only(connection, entry, deadline)
    else:
        spoken = await _either(connection, entry, deadline)
    connection.adopt(spoken)
    return spoken


async def _modern_only(connection: Connection, entry: Entry, deadline: float) -> Spoken:
    reply = await _discover(connection, MODERN_VERSION, deadline)
    spoken = _discovered(reply)
    if spoken is None:
        raise fault(entry, "server/discover", reply)
    return spoken


async def _either(connection: Connection, entry: Entry, deadline: float) -> Spoken:
    now = asyncio.get_running_loop().time()
    probe_end = min(deadline, now + entry.timeouts.probe_s)
    reply = await _discover(connection, MODERN_VERSION, probe_end)
    if _names(reply, MODERN_VERSION):  # it was refused all the same: once more
        reply = await _discover(connection, MODERN_VERSION, deadline)
    spoken = _discovered(reply)
    if spoken is not None:
        return spoken
    if isinstance(reply, Undelivered) and reply.failure in _OUTAGE:
        raise fault(entry, "server/discover", reply)
    if _only_other_versions(reply):
        raise fault(entry, "server/discover", reply)
    try:
        return await initialize(connection, entry, deadline=deadline)
    except _Modern:  # a slow server was asked twice, and took the first question
        return await _modern_only(connection, entry, deadline)


async def initialize(connection: Connection, entry: Entry, *, deadline: float) -> Spoken:
    """Do the handshake of the older era; raises ConnectFault."""
    params: JsonObject = {
        "protocolVersion": HANDSHAKE_VERSIONS[-1],
        "capabilities": connection.declared.capabilities,
        "clientInfo": CLIENT_INFO,
    }
    reply = await connection.exchange("initialize", params, deadline=deadline)
    if not isinstance(reply, Delivered):
        if isinstance(reply, Rejected) and reply.code == UNSUPPORTED_VERSION:
            raise _Modern(fault(entry, "initialize", reply).message, slow=True)
        raise fault(entry, "initialize", reply)
    version = reply.result.get("protocolVersion")
    if not isinstance(version, str) or version not in HANDSHAKE_VERSIONS:
        raise ConnectFault(
            f"`{entry.name}` speaks a protocol version that this gateway does not", slow=True
        )
    spoken = Spoken(
        era=Era.LEGACY,
        version=version,
        capabilities=_object(reply.result.get("capabilities")),
        server=_server_name(reply.result.get("serverInfo")),
    )
    connection.adopt(spoken)
    await connection.notify("notifications/initialized")
    level = connection.declared.log_level
    if level and spoken.logs:  # a server that refuses it logs at a level of its own
        await connection.exchange("logging/setLevel", {"level": level}, deadline=deadline)
    return spoken


class _Modern(ConnectFault):
    """`initialize` was refused by a server of the stateless era."""


async def _discover(connection: Connection, version: str, deadline: float) -> Reply:
    params: JsonObject = {"_meta": modern_meta(version)}
    return await connection.exchange("server/discover", params, deadline=deadline)


def _discovered(reply: Reply) -> Spoken | None:
    if not isinstance(reply, Delivered):
        return None
    offered = reply.result.get("supportedVersions")
    if not isinstance(offered, list) or MODERN_VERSION not in offered:
        return None
    return Spoken(
        era=Era.MODERN,
        version=MODERN_VERSION,
        capabilities=_object(reply.result.get("capabilities")),
        server=_server_name(_object(reply.result.get("_meta")).get(SERVER_KEY)),
    )


def _names(reply: Reply, version: str) -> bool:
    """Whether a refusal of the version lists that very version as supported."""
    if not isinstance(reply, Rejected) or reply.code != UNSUPPORTED_VERSION:
        return False
    supported = _object(reply.data).get("supported")
    return isinstance(supported, list) and version in supported


def _only_other_versions(reply: Reply) -> bool:
    """Whether a server says that it speaks revisions of which this gateway knows none."""
    if not isinstance(reply, Rejected) or reply.code != UNSUPPORTED_VERSION:
        return False
    supported = _object(reply.data).get("supported")
    known = (*HANDSHAKE_VERSIONS, MODERN_VERSION)
    return isinstance(supported, list) and not any(version in known for version in supported)


def fault(entry: Entry, method: str, reply: Reply) -> ConnectFault:
    """Say why a server can't be used, from how it ended one of the first requests."""
    match reply:
        case Undelivered():
            slow = reply.failure in (Failure.UNAUTHORIZED, Failure.MALFORMED)
            return ConnectFault(reply.detail, failure=reply.failure, slow=slow)
        case NotMcp():
            return ConnectFault(reply.detail, slow=reply.status < 500)
        case Rejected():
            return ConnectFault(
                f"`{entry.name}` refused `{method}` with error {reply.code} and says: "
                f"{marks.quoted(reply.message)}",
                slow=True,
            )
        case Delivered():
            return ConnectFault(f"`{entry.name}` does not speak {MODERN_VERSION}", slow=True)
        case _:
            assert_never(reply)


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _server_name(info: Json) -> str:
    name = _object(info).get("name")
    return name[:100] if isinstance(name, str) else ""
