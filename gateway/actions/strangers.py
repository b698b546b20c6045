"""Names in a question that no event has: a slip of the hand looks like an empty answer."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Protocol, TypeVar

from gateway.store import selection
from gateway.store.engine import Transaction
from gateway.store.event_rows import column
from gateway.store.selection import Selection
from gateway.types.values import value

_T = TypeVar("_T")
_FIRST: Final = 2_000  # events that are looked at for names that are there: most are in the newest
_WIDTH: Final = 20_000  # and then at a time
_MOST: Final = 1_000_000  # in all
_KNOWN: Final = 10_000  # names of a kind that are held for guesses
_ALL: Final[Mapping[str, str]] = {"tenants": "tenant", "actors": "actor", "tools": "tool"}


class Log(Protocol):
    """Where the events are; raises StoreUnavailable."""

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what reads, in one transaction."""
        ...


@value
class Stranger:
    """A name that is asked for, and that none of the events has."""

    what: str  # `tenant`, `actor` or `tool`
    name: str
    near: str = ""  # a name of that kind that there is
    among: int = 0  # the newest events that were looked at; 0: all that are in the store

    @property
    def said(self) -> str:
        """What there is to say of it, as one line."""
        events = "event in the store" if not self.among else f"of the newest {self.among:,} events"
        head = "no" if not self.among else "none"
        guess = f"; did you mean `{self.near}`?" if self.near else ""
        return f"{head} {events} names the {self.what} `{self.name}`{guess}"


async def strangers(
    log: Log, wanted: Selection, known: Mapping[str, Iterable[str]] | None = None
) -> tuple[Stranger, ...]:
    """Return the tenants, actors and tools of a question that no event names.

    What somebody asked of the log counts for nothing: who asks for a name is in the log with it.
    `known` has names by kind, such as tools under contract, that are none whatever the log says.
    Raises StoreUnavailable.
    """
    given = {field: [*filter(None, getattr(wanted, field))] for field in _ALL}
    seen = {field: {*(known or {}).get(field, ())} for field in _ALL}
    newest = last = (await log.read(partial(selection.span, wanted=Selection()))).last
    width = _FIRST
    while last > 0 and newest - last < _MOST and any(_missing(given, seen).values()):
        first = max(1, last - width + 1)
        work = partial(selection.names, first=first, last=last)
        for field, names in (await log.read(work)).items():
            if len(seen[field]) < _KNOWN:
                seen[field] |= names
            else:
                seen[field] |= names & {column(each) for each in given[field]}
        last, width = first - 1, _WIDTH
    among = newest - last if last > 0 else 0
    return tuple(
        Stranger(what=_ALL[field], name=name, near=_near(name, seen[field]), among=among)
        for field, names in _missing(given, seen).items()
        for name in names
    )


def _missing(given: Mapping[str, list[str]], seen: Mapping[str, set[str]]) -> dict[str, list[str]]:
    return {
        field: [name for name in names if column(name) not in seen[field]]
        for field, names in given.items()
    }


def _near(name: str, seen: set[str]) -> str:
    return next(iter(difflib.get_close_matches(name, sorted(seen), n=1)), "")
