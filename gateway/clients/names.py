"""Names of servers as the gateway takes them, for whatever a client calls them."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_DOUBLE: Final = re.compile(r"__+")
_LONGEST: Final = 40  # as `servers.<name>` in a configuration


def names(given: Iterable[str]) -> Mapping[str, str]:
    """Return a name of ours for each of a client's, unlike all others, the same wherever it can be.

    Names that are fine keep themselves, also where another one would have become the same.
    """
    wanted = list(given)
    made = {name: name for name in wanted if plain(name) == name}
    taken = {each.lower() for each in made}
    for name in wanted:
        if name in made:
            continue
        base, number = plain(name), 1
        found = base
        while found.lower() in taken:
            number += 1
            suffix = f"-{number}"
            found = base[: _LONGEST - len(suffix)].rstrip("_-") + suffix
        made[name] = found
        taken.add(found.lower())
    return {name: made[name] for name in wanted}


def plain(name: str) -> str:
    """Return the letters, digits, `-` and `_` of a name; `server` if there are none."""
    found = _DOUBLE.sub("_", _OTHER.sub("-", name)).strip("_-")[:_LONGEST].rstrip("_-")
    return found or "server"
