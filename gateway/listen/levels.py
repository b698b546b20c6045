"""The levels of log messages, and whether a client wants one."""

from typing import Final

from gateway.types.json import Json, JsonObject

# RFC 5424, from the least to the most severe.
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_RANK: Final = {level: rank for rank, level in enumerate(LEVELS)}


def is_level(value: Json) -> bool:
    """Return whether the value names a level."""
    return isinstance(value, str) and value in _RANK


def reaches(params: JsonObject, threshold: str) -> bool:
    """Return whether a log message is at least as severe as the client asked for."""
    level = params.get("level")
    return isinstance(level, str) and _RANK.get(level, -1) >= _RANK.get(threshold, 0)
