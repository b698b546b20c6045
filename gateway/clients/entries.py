"""One server as a client has it written down: what of it the gateway can run, or why it can't."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from gateway.clients.kinds import CODEX, Client
from gateway.config.servers import is_own_header
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

_COMMON: Final = frozenset({"type", "transport", "command", "args", "env", "cwd", "url", "headers"})
_KNOWN: Final = _COMMON | {"disabled", "enabled"}
_CODEX: Final = frozenset(
    {
        "bearer_token_env_var",
        "env_http_headers",
        "env_vars",
        "http_headers",
        "startup_timeout_sec",
        "tool_timeout_sec",
    }
)
# What the gateway has no way to do, so that the server would not work behind it.
_BOUND: Final[Mapping[str, str]] = {
    "oauth": "logs in by OAuth, which the client does",
    "auth": "logs in by OAuth, which the client does",
    "headersHelper": "gets its headers from a program of the client's",
    "envFile": "reads an `envFile`; move its values into `env` to take the server over",
    "dev": "is started again by the editor while it is worked on",
}
_STREAMABLE: Final = frozenset({"http", "streamable-http", "streamablehttp", "streamable_http"})
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)

Texts: TypeAlias = Mapping[str, str]


@value
class Entry:
    """A server in the client's own words: references are not resolved, secrets still in it.

    `variables`, `header_variables` and `bearer_variable` name what the client takes from its own
    environment; `ignored` are keys that mean something to the client alone.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Texts
    cwd: str = ""
    url: str = ""
    headers: Texts
    variables: tuple[str, ...] = ()
    header_variables: Texts
    bearer_variable: str = ""
    start_timeout_s: float | None = None
    timeout_s: float | None = None
    ignored: tuple[str, ...] = ()


@value
class Left:
    """A server that stays in the client, and why."""

    name: str
    reason: str


class _Unusable(Exception):
    """The entry can't be taken over; says why."""


def read(name: str, given: Json, client: Client) -> Entry | Left:
    """Read an entry; one that the gateway can't stand before is left where it is."""
    if not isinstance(given, dict):
        return Left(name=name, reason="is no map of keys")
    try:
        return _entry(name, given, client)
    except _Unusable as error:
        return Left(name=name, reason=str(error))


def is_ours(name: str, given: Json) -> bool:
    """Whether an entry is a gateway of ours: started as one, or reached where one listens."""
    if not isinstance(given, dict):
        return False
    command, args, url = given.get("command"), given.get("args"), given.get("url")
    words = [each for each in args if isinstance(each, str)] if isinstance(args, list) else []
    if isinstance(command, str):
        is_command = PurePosixPath(command).name == "weighbridge"
        is_module = words[:2] == ["-m", "gateway"]
        return (is_command or is_module or "weighbridge" in words) and "stdio" in words
    return name == "weighbridge" and isinstance(url, str)


def _entry(name: str, given: JsonObject, client: Client) -> Entry:
    if given.get("disabled") is True or given.get("enabled") is False:
        raise _Unusable("is switched off")
    for key, reason in _BOUND.items():
        if given.get(key) not in (None, False, "", {}):
            raise _Unusable(reason)
    command, url = _text(given, "command"), _text(given, "url")
    _check_transport(given, command, url)
    known = _KNOWN | _CODEX if client is CODEX else _KNOWN
    env = _texts(given, "env")
    bad = next((each for each in env if not _VARIABLE.fullmatch(each)), None)
    if bad is not None:
        raise _Unusable(f"has `{bad[:60]}` in `env`, which is no name of a variable")
    headers: Texts = _texts(given, "http_headers" if client is CODEX else "headers") if url else {}
    own = {each for each in headers if is_own_header(each)}  # of each connection, so not needed
    return Entry(
        name=name,
        command=command,
        args=_list(given, "args") if command else (),
        env=env if command else {},
        cwd=_text(given, "cwd") if command else "",
        url=url,
        headers={key: each for key, each in headers.items() if key not in own},
        variables=_variables(given) if command else (),
        header_variables=_texts(given, "env_http_headers") if url else {},
        bearer_variable=_text(given, "bearer_token_env_var") if url else "",
        start_timeout_s=_seconds(given, "startup_timeout_sec") if client is CODEX else None,
        timeout_s=_seconds(given, "tool_timeout_sec") if client is CODEX else None,
        ignored=tuple(sorted((given.keys() - known) | own)),
    )


def _check_transport(given: JsonObject, command: str, url: str) -> None:
    kind = given.get("type", given.get("transport"))
    said = kind.lower() if isinstance(kind, str) else ""
    is_sse = said == "sse" or (not said and url.partition("?")[0].rstrip("/").endswith("/sse"))
    if is_sse:
        raise _Unusable("speaks SSE, a withdrawn transport; ask it for its Streamable HTTP `url`")
    if bool(command) == bool(url):
        raise _Unusable("has `command` and `url`" if command else "has no `command` and no `url`")
    if said and said != "stdio" and said not in _STREAMABLE:
        raise _Unusable(f"has `type: {said[:40]}`, which the gateway does not speak")
    if said and (said == "stdio") != bool(command):
        raise _Unusable(f"has `type: {said[:40]}`, which contradicts the rest of it")
    if url and not url.startswith(("http://", "https://", "${")):
        raise _Unusable("has a `url` that is none of `http://` or `https://`")


def _text(given: JsonObject, key: str) -> str:
    found = given.get(key)
    if found is None:
        return ""
    if not isinstance(found, str) or "\0" in found:
        raise _Unusable(f"has a `{key}` that is no text")
    return found


def _list(given: JsonObject, key: str) -> tuple[str, ...]:
    found = given.get(key)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise _Unusable(f"has `{key}` that are no list")
    return tuple(_plain(each, key) for each in found)


def _texts(given: JsonObject, key: str) -> Texts:
    found = given.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _Unusable(f"has `{key}` that is no map of keys")
    return {name: _plain(each, key) for name, each in found.items() if each is not None}


def _plain(found: Json, key: str) -> str:
    """Return a text; clients take numbers and switches for one."""
    match found:
        case bool():
            return "true" if found else "false"
        case int() | float():
            return str(found)
        case str() if "\0" not in found:
            return found
        case _:
            raise _Unusable(f"has `{key}` with something else than texts")


def _variables(given: JsonObject) -> tuple[str, ...]:
    """Return the variables that Codex lets through: names, or maps with one."""
    found = given.get("env_vars")
    listed = found if isinstance(found, list) else []
    names = [each.get("name") if isinstance(each, dict) else each for each in listed]
    if not all(isinstance(each, str) and _VARIABLE.fullmatch(each) for each in names):
        raise _Unusable("has `env_vars` that are no names of variables")
    return tuple(str(each) for each in names)


def _seconds(given: JsonObject, key: str) -> float | None:
    found = given.get(key)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    return float(found) if 0 < found <= 86400 else None
