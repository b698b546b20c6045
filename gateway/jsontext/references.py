"""References in texts, such as `$args.customer_id`: how they are written, and where they are.

A name follows a dot; an index or any other key stands in brackets: `$result.items[0]["a b"]`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.errors import WeighbridgeError
from gateway.types.json import Json

ROOTS: Final = ("args", "result", "old", "op")
OF_OPERATION: Final = ("id", "key")  # what `$op` has

_STEP: Final = r'\.[A-Za-z_][A-Za-z0-9_]*|\[(?:0|[1-9][0-9]{0,8})\]|\["[^"\\\[\]]+"\]'
_TOKEN: Final = re.compile(
    rf"\$(?:(?P<dollar>\$)|(?P<root>[A-Za-z_][A-Za-z0-9_]*)(?P<steps>(?:{_STEP})*))?"
)
_STEPS: Final = re.compile(_STEP)


class BadReference(WeighbridgeError):
    """A text that is no text with references; one line with the mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A value by name: the root, and the keys and indexes on the way from there."""

    text: str  # as it was written
    root: str
    steps: tuple[str | int, ...] = ()


Parts: TypeAlias = tuple[str | Reference, ...]


def parse(text: str) -> Parts:
    """Split a text into plain parts, `$$` made a dollar sign, and references.

    Raises `BadReference` for a dollar sign that begins nothing.
    """
    parts: list[str | Reference] = []
    plain, at = "", 0
    for found in _TOKEN.finditer(text):
        plain += text[at : found.start()]
        at = found.end()
        if found["dollar"]:
            plain += "$"
            continue
        parts.extend([plain, _reference(found)])
        plain = ""
    parts.append(plain + text[at:])
    return tuple(part for part in parts if part) or ("",)


def references(value: Json) -> tuple[Reference, ...]:
    """Return every reference in a value, in order; raises `BadReference`."""
    return tuple(_references(value))


def _references(value: Json) -> Iterator[Reference]:
    match value:
        case str():
            yield from (part for part in parse(value) if isinstance(part, Reference))
        case dict():
            for member in value.values():
                yield from _references(member)
        case list():
            for member in value:
                yield from _references(member)
        case _:
            return


def _reference(found: re.Match[str]) -> Reference:
    text, root = found.group(), found["root"]
    if root not in ROOTS:
        raise BadReference(
            f"`{text}` is no reference: write `$args`, `$result`, `$old`, `$op.id` or `$op.key`, "
            "and `$$` for a dollar sign"
        )
    steps = tuple(map(_step, _STEPS.findall(found["steps"])))
    if root == "op" and steps not in {(name,) for name in OF_OPERATION}:
        raise BadReference(f"`{text}` is nothing of an operation: write `$op.id` or `$op.key`")
    return Reference(text=text, root=root, steps=steps)


def _step(text: str) -> str | int:
    if text.startswith("."):
        return text[1:]
    return text[2:-1].removesuffix('"') if text.startswith('["') else int(text[1:-1])
