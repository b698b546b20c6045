"""Faults of expressions in our words: the engine's own speak of its insides."""

import re
from collections.abc import Collection

_OVERLOAD = re.compile(r"found no matching overload for '([^']*)' applied to '(.*)'")
_NAME = re.compile(r"no name `[^`]*` here")


def phrase(message: str, known: Collection[str]) -> str:
    """Say a fault in words that help; `known` are the names that the expression may use."""
    if wrong := _OVERLOAD.match(message):
        operator = wrong[1].strip("_").replace("?_:", "? :").removeprefix("@")
        return f"`{operator}` doesn't work on `{wrong[2]}`; convert them, as by `string(…)`"
    if message.startswith("Syntax error: "):
        said = message.removeprefix("Syntax error: ").partition(" expecting ")[0]
        quoted = said.replace("'", "`")
        return f"can't be read from here on: {quoted}; complete or correct it"
    if known and _NAME.fullmatch(message):
        return f"{message}; known are {_roots(known)}"
    return message[:1].lower() + message[1:]


def _roots(known: Collection[str]) -> str:
    """Name what an expression may begin with; `actor.*` has several names below it."""
    roots = {f"{each.partition('.')[0]}{'.*' if '.' in each else ''}" for each in known}
    return ", ".join(f"`{each}`" for each in sorted(roots))
