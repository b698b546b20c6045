"""Which values an expression may read, told from its text: it reaches none but by a name of ours.

A path that is written out, such as `args.lines[0].iban`, reads what is at it and inside of it. When
a step is computed, the whole of what stands before it counts as read. A name in a comment or text
is none, and a local name that looks like one of ours counts as it: a path too many is a question
more, never a wrong answer.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from gateway.types.values import value

Path: TypeAlias = tuple[str, ...]
"""`("args", "iban")`: a variable of expressions, and the steps into its value."""

_ROOTS: Final = frozenset({"args", "run", "resource", "tool", "now", "request", "identity"})
_TOKEN: Final = re.compile(
    r"""(?P<comment>//[^\n]*)"""
    r'''|(?P<text>[rRbB]{0,2}(?:"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))'''
    r"""|(?P<name>[A-Za-z_]\w*|`[^`]*`)"""
    r"""|(?P<number>\d[\w]*(?:\.\d\w*)?)"""
    r"""|(?P<other>\S)""",
    re.DOTALL,
)


@value
class Reference:
    """One place that is read; `is_test` where only its presence is asked for, as by `has`."""

    path: Path
    is_test: bool = False


@lru_cache(maxsize=4096)
def references(text: str) -> tuple[Reference, ...]:
    """Return every place that an expression may read."""
    tokens = [
        (match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "comment"
    ]
    return tuple(
        _reference(tokens, at)
        for at, (kind, said) in enumerate(tokens)
        if kind == "name" and said in _ROOTS
    )


def read(text: str, unknown: Iterable[Path]) -> tuple[Path, ...]:
    """Return the unknown places that an expression may read from."""
    return _read(text, tuple(unknown))


@lru_cache(maxsize=16_384)  # of calls of one tool, the same places are unknown
def _read(text: str, unknown: tuple[Path, ...]) -> tuple[Path, ...]:
    found = references(text)
    return tuple(place for place in unknown if any(_overlap(place, each.path) for each in found))


def may_be_left_out(text: str, place: Path) -> bool:
    """Whether the value breaks an expression wherever it is read, once it is left out.

    What is true or false even so is that whatever the value: errors are absorbed only by what
    decides without them. It does not hold where the presence is asked for, or a value around it.
    """
    return all(
        len(each.path) >= len(place) and not (each.is_test and each.path == place)
        for each in references(text)
        if _overlap(place, each.path)
    )


def _overlap(left: Path, right: Path) -> bool:
    shared = min(len(left), len(right))
    return left[:shared] == right[:shared]


def _reference(tokens: list[tuple[str, str]], at: int) -> Reference:
    path, place = [tokens[at][1]], at + 1
    while (step := _step(tokens, place)) is not None:
        name, place = step
        path.append(name)
    before = [said for _, said in tokens[max(0, at - 2) : at]]
    is_test = before == ["has", "("] and _at(tokens, place)[1] == ")"
    return Reference(path=tuple(path), is_test=is_test)


def _step(tokens: list[tuple[str, str]], place: int) -> tuple[str, int] | None:
    """Return the name of a step that is written out, and the place after it."""
    _, sign = _at(tokens, place)
    kind, said = _at(tokens, place + 1)
    if sign == "." and kind == "name" and _at(tokens, place + 2)[1] != "(":
        return said.strip("`"), place + 2
    if sign == "[" and _at(tokens, place + 2)[1] == "]":
        if kind == "number":
            return said, place + 3
        if kind == "text" and said[0] in "\"'" and "\\" not in said:
            return said.strip(said[0]), place + 3
    return None


def _at(tokens: list[tuple[str, str]], place: int) -> tuple[str, str]:
    return tokens[place] if place < len(tokens) else ("", "")
