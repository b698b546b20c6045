"""Exposed names: what agents call a tool, as a pure function of server alias and tool name.

A name stands for the same tool for ever: neither other tools nor the order of a list change it.
The catalog stores the map from exposed name to tool; nothing ever splits a name.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gateway.errors import ConfigurationError

SEPARATOR = "__"
LONGEST = 64  # what model APIs accept; many accept nothing but these signs either
LONGEST_TRANSPARENT = 128  # MCP 2026-07-28, server/tools
_SHORT_DIGEST = 8
_LONG_DIGEST = 24
_ALIAS = re.compile(r"[A-Za-z0-9_-]{1,40}")
_CLEAN = re.compile(r"[A-Za-z0-9_-]+")
_CLEAN_TRANSPARENT = re.compile(r"[A-Za-z0-9_.-]+")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
# A server could publish a name that is made up to look like another tool's altered one.
_LOOKS_ALTERED = re.compile(r"_(?:[0-9a-f]{8}|[0-9a-f]{24})$")
_LEAST_ROOM = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How names are made: `<server>__<tool>`, or unchanged for a single server."""

    longest: int = LONGEST
    host_prefix: int = 0  # signs that the host puts in front, taken off the longest
    transparent: bool = False

    def __post_init__(self) -> None:
        if self.room < _LEAST_ROOM:
            raise ConfigurationError(
                f"exposed names of at most {self.room} signs are too short; "
                f"allow at least {_LEAST_ROOM} beside the host's prefix"
            )

    @property
    def room(self) -> int:
        """The most signs that an exposed name has."""
        return (LONGEST_TRANSPARENT if self.transparent else self.longest) - self.host_prefix


Key: TypeAlias = tuple[str, str]  # server alias, original tool name


def expose(keys: Iterable[Key], naming: Naming) -> Mapping[Key, str]:
    """Give every tool a name of its own; the same set gives the same names in any order.

    A name that had to be altered ends in a digest of the original; should two of those be
    equal, both get a longer one.
    """
    wanted = sorted(set(keys))
    names = {key: _name(key, naming, _SHORT_DIGEST) for key in wanted}
    holders: dict[str, list[Key]] = {}
    for key, name in names.items():
        holders.setdefault(name, []).append(key)
    for name, sharing in holders.items():
        for key in sharing if len(sharing) > 1 else ():
            if name != _plain(key, naming):
                names[key] = _name(key, naming, _LONG_DIGEST)
    return names


def by_exposed_name(keys: Iterable[str], naming: Naming) -> Mapping[str, str]:
    """Return which `server.tool` of contracts and policies each exposed name stands for.

    A server alias holds no dot, so the first one ends it.
    """
    parts = {(server, tool): key for key in keys for server, _, tool in [key.partition(".")]}
    return {name: parts[pair] for pair, name in expose(parts, naming).items()}


def check_aliases(aliases: Sequence[str]) -> tuple[str, ...]:
    """Return why aliases can't be used as prefixes, one line each; empty when all can.

    With an alias that holds `__` or ends in `_`, two tools could have the same exposed name.
    """
    errors: list[str] = []
    for alias in aliases:
        if not _ALIAS.fullmatch(alias):
            errors.append(f"the server name `{alias}` is not 1 to 40 of A-Z a-z 0-9 _ -; rename it")
        elif SEPARATOR in alias or alias.endswith("_"):
            errors.append(
                f"the server name `{alias}` makes tool names ambiguous: it must not hold "
                f"`{SEPARATOR}` or end in `_`; rename it"
            )
    return tuple(errors)


def _plain(key: Key, naming: Naming) -> str:
    server, tool = key
    return tool if naming.transparent else f"{server}{SEPARATOR}{tool}"


def _name(key: Key, naming: Naming, digits: int) -> str:
    plain = _plain(key, naming)
    if digits == _SHORT_DIGEST and len(plain) <= naming.room and _is_clean(plain, naming):
        return plain
    digest = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{_OTHER.sub('_', plain)[: naming.room - digits - 1]}_{digest}"


def _is_clean(plain: str, naming: Naming) -> bool:
    if naming.transparent:  # one server, unchanged names: it could only deceive itself
        return _CLEAN_TRANSPARENT.fullmatch(plain) is not None
    return _CLEAN.fullmatch(plain) is not None and not _LOOKS_ALTERED.search(plain)
