"""Tables that say which member of an event becomes which member of another format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.types.json import Json, JsonObject

_NOTHING: Final[tuple[Json, ...]] = ("", None, [], {})


def same(value: Json) -> Json:
    """Return a value as it is."""
    return value


@dataclass(frozen=True, slots=True)
class Field:
    """A member of the other format, made of the first of some members that says anything."""

    to: str  # names with dots between
    of: tuple[str, ...]  # the same, in an event
    about: str = ""  # for people: what becomes of it on the way
    how: Callable[[Json], Json] = same  # None: it says nothing that fits


def mapped(event: JsonObject, fields: Sequence[Field]) -> tuple[JsonObject, frozenset[str]]:
    """Return what some fields make of an event, and which of its members are in that."""
    made: JsonObject = {}
    used: set[str] = set()
    for field in fields:
        for path in field.of:
            value = found(event, path)
            told = field.how(value) if value not in _NOTHING else None
            if told is not None:
                if put(made, field.to, told):
                    used.add(path)
                break
    return made, frozenset(used)


def found(event: JsonObject, path: str) -> Json:
    """Return a member, or None."""
    value: Json = event
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def put(made: JsonObject, path: str, value: Json) -> bool:
    """Set a member, and whatever it is in, unless it is there; return whether it was set."""
    *above, name = path.split(".")
    for each in above:
        inner = made.setdefault(each, {})
        if not isinstance(inner, dict):
            return False
        made = inner
    if name in made:
        return False
    made[name] = value
    return True


def rest(event: JsonObject, used: frozenset[str]) -> JsonObject:
    """Return an event without what was used, and without what says nothing."""
    return _rest(event, used, "")


def _rest(value: JsonObject, used: frozenset[str], under: str) -> JsonObject:
    left: JsonObject = {}
    for name, each in value.items():
        path = f"{under}{name}"
        if path in used or each in _NOTHING:
            continue
        is_open = isinstance(each, dict) and any(one.startswith(f"{path}.") for one in used)
        kept = _rest(each, used, f"{path}.") if is_open and isinstance(each, dict) else each
        if kept not in _NOTHING:
            left[name] = kept
    return left
