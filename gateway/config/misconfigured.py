"""Server entries that name a variable without a value: kept, never used."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from gateway.config.expand import Missing, Path
from gateway.config.settings import Settings
from gateway.types.json import Json, JsonObject

Missings: TypeAlias = "tuple[Missing, ...]"

_SERVER_DEPTH: Final = 3  # servers, its name, a key
# Valid in their places, and leading nowhere (RFC 6761, 6.4).
_URL: Final = "https://misconfigured.invalid/"
_TEXT: Final = "misconfigured"


def server_of(path: Path) -> str | None:
    """Return the name of the server whose entry a place belongs to, None for any other place."""
    if len(path) >= _SERVER_DEPTH and path[0] == "servers" and isinstance(path[1], str):
        return path[1]
    return None


def by_server(missing: Iterable[Missing]) -> Mapping[str, Missings]:
    """Return what each server misses."""
    found: dict[str, Missings] = {}
    for gap in missing:
        if (name := server_of(gap.path)) is not None:
            found[name] = (*found.get(name, ()), gap)
    return found


def stand_in(value: JsonObject, missing: Mapping[str, Missings]) -> JsonObject:
    """Return the file's value with harmless values in the gaps, so that the rest is validated."""
    filled: Json = value
    for gap in (gap for gaps in missing.values() for gap in gaps):
        filled = _fill(filled, gap.path)
    return filled if isinstance(filled, dict) else value


def mark(settings: Settings, missing: Mapping[str, Missings]) -> Settings:
    """Return the settings with the servers that miss something marked and emptied."""
    servers = {
        name: entry.without_values(_reason(missing[name])) if name in missing else entry
        for name, entry in settings.servers.items()
    }
    return settings.model_copy(update={"servers": servers})


def _reason(gaps: Missings) -> str:
    return ", ".join(dict.fromkeys(gap.reason for gap in gaps))


def _fill(value: Json, path: Path) -> Json:
    key, rest = path[0], path[1:]
    match value, key:
        case dict(), str() if key in value and rest:
            return {**value, key: _fill(value[key], rest)}
        case dict(), "url":
            return {**value, key: _URL}
        case dict(), "command":
            return {**value, key: _TEXT}
        case dict(), str():
            return {name: item for name, item in value.items() if name != key}
        case list(), int():
            return [
                (_fill(item, rest) if rest else _TEXT) if index == key else item
                for index, item in enumerate(value)
            ]
        case _:
            return value
