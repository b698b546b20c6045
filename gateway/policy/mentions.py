"""What expressions speak of: their words and numbers, and the names that they are held against.

Texts, not a syntax tree: the engine gives none away. What is found serves to make requests that
come close to where an expression changes its mind, so a word too many costs a request, no more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeVar

from gateway.types.json import Json

_T = TypeVar("_T")
_TOKEN: Final = re.compile(
    r"""(?P<raw>[rR](?:"[^"]*"|'[^']*'))"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)"
    r"|(?P<other>\S)"
)
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What one expression, or several together, speak of; each thing once, in order."""

    words: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    names: frozenset[str] = frozenset()  # `args.amount`, `identity.tenant`, `run.fields.x`
    calls: frozenset[str] = frozenset()  # functions and methods by their own name, and `+`
    arguments: tuple[str, ...] = ()  # of the call, those at the top
    fields: tuple[str, ...] = ()  # of the run, as a host or result tells them
    said: tuple[str, ...] = ()  # of the run, as a model tells them
    patterns: tuple[str, ...] = ()  # what `matches` is called with
    moments: tuple[datetime, ...] = ()  # with what `duration` says around them

    def speaks_of(self, *names: str) -> bool:
        """Say whether one of these names, or something under it, is mentioned."""
        return any(
            each == name or each.startswith(name + ".") for each in self.names for name in names
        )


def together(found: Iterable[Mentions]) -> Mentions:
    """Return what several expressions speak of."""
    every = tuple(found)
    return Mentions(
        words=_once(word for each in every for word in each.words),
        numbers=_once(number for each in every for number in each.numbers),
        names=frozenset[str]().union(*(each.names for each in every)),
        calls=frozenset[str]().union(*(each.calls for each in every)),
        arguments=_once(name for each in every for name in each.arguments),
        fields=_once(name for each in every for name in each.fields),
        said=_once(name for each in every for name in each.said),
        patterns=_once(pattern for each in every for pattern in each.patterns),
        moments=_once(moment for each in every for moment in each.moments),
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> Mentions:
    tokens = [(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text)]
    words = [(at, _unquoted(kind, said)) for at, (kind, said) in enumerate(tokens) if _quoted(kind)]
    names = [re.sub(r"\s", "", said) for kind, said in tokens if kind == "name"]
    called = {
        re.sub(r"\s", "", said).rpartition(".")[2]
        for (kind, said), (_, after) in pairwise(tokens)
        if kind == "name" and after == "("
    }
    indexed = tuple(_indexed(tokens))
    return Mentions(
        words=_once(word for _, word in words),
        numbers=_once(_numbers(tokens)),
        names=frozenset(names) | {f"{name}.{key}" for name, key in indexed},
        calls=frozenset([*called, *("+" for each in tokens if each == ("other", "+"))]),
        arguments=_once(_under("args", names, indexed)),
        fields=_once(_under("run.fields", names, indexed)),
        said=_once(_under("run.said", names, indexed)),
        patterns=tuple(word for at, word in words if _is_given(tokens, at, "matches")),
        moments=_once(_moments(tokens, words)),
    )


def mentions(text: str, sets: Mapping[str, Sequence[Json]] | None = None) -> Mentions:
    """Read an expression; the values of the sets that it names count as its own words."""
    read = _read(text)
    named = [name for name in (sets or {}) if f"sets.{name}" in read.names]
    if not named:
        return read
    values = [value for name in named for value in (sets or {})[name]]
    numbers = tuple(
        value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    )
    texts = tuple(value for value in values if isinstance(value, str))
    return together((read, Mentions(words=texts, numbers=numbers)))


def parts(text: str) -> tuple[str, ...]:
    """Return what an expression joins by `and` and `or`; what a function is given stays whole."""
    found: list[str] = []
    groups: list[bool] = []  # of the open brackets, whether they are mere grouping
    start, before = 0, ""
    for match in _TOKEN.finditer(text):
        sign = match.group()
        if sign in ("(", "["):
            # After a name, or what comes out of a call, it is something else.
            groups.append(sign == "(" and not re.search(r"[\w)\]]\Z", before))
        elif sign in (")", "]") and groups:
            groups.pop()
        elif sign in ("&", "|") and sign == before and all(groups):
            found.append(text[start : match.start() - 1])
            start = match.end()
        before = sign
    return tuple(part.strip() for part in (*found, text[start:]) if part.strip())


def _quoted(kind: str) -> bool:
    return kind in ("raw", "text")


def _unquoted(kind: str, said: str) -> str:
    if kind == "raw":
        return said[2:-1]
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), said[1:-1])


def _numbers(tokens: Sequence[tuple[str, str]]) -> Iterator[int | float]:
    for at, (kind, said) in enumerate(tokens):
        if kind != "number":
            continue
        number = float(said) if any(each in said for each in ".eE") else int(said)
        yield number
        if at and tokens[at - 1][1] == "-":  # a sign or a difference: nobody can tell
            yield -number


def _indexed(tokens: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what is taken out of a map by a text: `args["a-b"]`, `"a-b" in args`."""
    for at, (kind, said) in enumerate(tokens):
        if not _quoted(kind):
            continue
        if at > 1 and tokens[at - 1][1] == "[" and tokens[at - 2][0] == "name":
            yield re.sub(r"\s", "", tokens[at - 2][1]), _unquoted(kind, said)
        if at + 2 < len(tokens) and tokens[at + 1][1] == "in":
            yield re.sub(r"\s", "", tokens[at + 2][1]), _unquoted(kind, said)


def _under(root: str, names: Iterable[str], indexed: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name in names:
        if name.startswith(root + "."):
            yield name.removeprefix(root + ".").partition(".")[0]
    yield from (key for name, key in indexed if name == root)


def _is_given(tokens: Sequence[tuple[str, str]], at: int, function: str) -> bool:
    """Whether a word is the first operand of a function, or the only one of a method."""
    if at < 2 or tokens[at - 1][1] != "(":
        return False
    kind, said = tokens[at - 2]
    return kind == "name" and re.sub(r"\s", "", said).rpartition(".")[2] == function


def _moments(
    tokens: Sequence[tuple[str, str]], words: Sequence[tuple[int, str]]
) -> Iterator[datetime]:
    spans = [
        span for at, word in words if _is_given(tokens, at, "duration") for span in _span(word)
    ]
    for at, word in words:
        if not _is_given(tokens, at, "timestamp"):
            continue
        try:
            moment = datetime.fromisoformat(word)
        except ValueError:
            continue
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        yield aware.astimezone(UTC)
        for span in spans:
            yield aware.astimezone(UTC) + span
            yield aware.astimezone(UTC) - span


def _span(word: str) -> Iterator[timedelta]:
    parts = _SPAN.findall(word)
    if parts:
        yield timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in parts))


def _once(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))
