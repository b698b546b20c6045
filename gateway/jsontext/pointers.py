"""JSON Pointers (RFC 6901), with `*` as a wildcard in patterns; no value is changed in place."""

import re
from collections.abc import Iterator

from gateway.types.json import Json, JsonPointer

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_BAD_ESCAPE = re.compile(r"~(?![01])")


def escape(token: str) -> str:
    """Return a key as it stands in a pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def tokens(pointer: JsonPointer) -> tuple[str, ...]:
    """Split a pointer into its unescaped tokens; `ValueError` if it isn't one."""
    if not pointer:
        return ()
    if pointer[0] != "/" or _BAD_ESCAPE.search(pointer):
        raise ValueError(f"`{pointer}` is not a JSON Pointer; write it like `/items/0/id`")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def get(value: Json, pointer: JsonPointer) -> Json:
    """Return the value at a pointer; `KeyError` if there is none."""
    for token in tokens(pointer):
        value = _child(value, token)
    return value


def _child(value: Json, token: str) -> Json:
    if isinstance(value, dict):
        return value[token]
    if isinstance(value, list):
        return value[_index(value, token)]
    raise KeyError(token)


def _index(items: list[Json], token: str) -> int:
    if _INDEX.fullmatch(token) and int(token) < len(items):
        return int(token)
    raise KeyError(token)


def walk(value: Json, pattern: JsonPointer) -> Iterator[tuple[JsonPointer, Json]]:
    """Yield pointer and value of each match, in order; `*` stands for any key or index."""
    yield from _walk(value, tokens(pattern), "")


def _walk(
    value: Json, rest: tuple[str, ...], pointer: JsonPointer
) -> Iterator[tuple[JsonPointer, Json]]:
    if not rest:
        yield pointer, value
        return
    token, deeper = rest[0], rest[1:]
    if token == "*":  # noqa: S105 - a wildcard
        if isinstance(value, dict):
            for key, member in value.items():
                yield from _walk(member, deeper, f"{pointer}/{escape(key)}")
        elif isinstance(value, list):
            for index, member in enumerate(value):
                yield from _walk(member, deeper, f"{pointer}/{index}")
        return
    try:
        child = _child(value, token)
    except KeyError:
        return
    yield from _walk(child, deeper, f"{pointer}/{escape(token)}")


def replace(value: Json, pointer: JsonPointer, new: Json) -> Json:
    """Return a copy with `new` at a pointer; only the containers on the way are copied.

    The last token may name a new key of an object; `KeyError` if anything else is missing.
    """
    return _replace(value, tokens(pointer), new)


def _replace(value: Json, rest: tuple[str, ...], new: Json) -> Json:
    if not rest:
        return new
    token, deeper = rest[0], rest[1:]
    if isinstance(value, dict):
        child = _replace(value[token], deeper, new) if deeper else new
        return {**value, token: child}
    if isinstance(value, list):
        index = _index(value, token)
        return [*value[:index], _replace(value[index], deeper, new), *value[index + 1 :]]
    raise KeyError(token)


def remove(value: Json, pointer: JsonPointer) -> Json:
    """Return a copy without the value at a pointer; later items of a list move up by one."""
    *parents, last = tokens(pointer) or ("",)
    if not pointer:
        raise KeyError(pointer)
    parent_pointer = "".join(f"/{escape(token)}" for token in parents)
    parent = get(value, parent_pointer)
    if isinstance(parent, dict):
        if last not in parent:
            raise KeyError(last)
        kept: Json = {key: member for key, member in parent.items() if key != last}
    elif isinstance(parent, list):
        index = _index(parent, last)
        kept = [*parent[:index], *parent[index + 1 :]]
    else:
        raise KeyError(last)
    return replace(value, parent_pointer, kept)
