"""Keys that other programs use for what is called otherwise here, and what to do about each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.types.json import Json, JsonObject

_TOP: Final[Mapping[str, str]] = {
    "mcpServers": "write `servers`",
    "mcp_servers": "write `servers`",
    "upstreams": "write `servers`",
    "backends": "write `servers`",
    "auth": "write `identity`",
    "authentication": "write `identity`",
    "authorization": "write `identity`, and rules under `policies`",
    "bind": "write `listen.address`",
    "host": "write `listen.address`",
    "port": "write `listen.address`",
    "database": "write `store`",
}
_SERVER: Final[Mapping[str, str]] = {
    "transport": "write `type`, or leave it out",
    "transportType": "write `type`, or leave it out",
    "serverUrl": "write `url`",
    "httpUrl": "write `url`",
    "environment": "write `env`",
    "enabled": "write `disabled` with the opposite value",
    "autoApprove": "remove it; `policies` say what is allowed",
    "alwaysAllow": "remove it; `policies` say what is allowed",
    "trust": "remove it; `policies` say what is allowed",
    "auth": "give the server's own credential in `headers` or `env`, from a `${VAR}`",
    "oauth": "give the server's own credential in `headers`, from a `${VAR}`",
}
# A caller's token is meant for this gateway alone (MCP authorization, "token passthrough").
_PASSTHROUGH: Final = re.compile(
    r"pass_?-?through|(forward|pass|propagate)_?-?(auth|header|token)", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A key that isn't ours, where it stands, and the mend."""

    path: tuple[str, ...]
    message: str


def find(value: JsonObject) -> Iterator[ForeignKey]:
    """Yield the known foreign keys of a configuration."""
    yield from _below(value, (), _TOP)
    servers = value.get("servers")
    for name, entry in (servers if isinstance(servers, dict) else {}).items():
        yield from _below(entry, ("servers", name), _SERVER)


def without(value: JsonObject, keys: list[ForeignKey]) -> JsonObject:
    """Return a configuration without these keys, so that each is reported once."""
    for key in keys:
        value = _without(value, key.path)
    return value


def _without(value: JsonObject, path: tuple[str, ...]) -> JsonObject:
    first, *rest = path
    if not rest:
        return {key: item for key, item in value.items() if key != first}
    inner = value[first]
    return {**value, first: _without(inner, tuple(rest))} if isinstance(inner, dict) else value


def _below(value: Json, path: tuple[str, ...], mends: Mapping[str, str]) -> Iterator[ForeignKey]:
    for key in value if isinstance(value, dict) else ():
        if _PASSTHROUGH.search(key):
            mend = (
                "a caller's credential is never passed on; give the server its own in `headers`, "
                "from a `${VAR}`"
            )
        elif key in mends:
            mend = mends[key]
        else:
            continue
        yield ForeignKey(path=(*path, key), message=f"unknown key `{key}`; {mend}")
