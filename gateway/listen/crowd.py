"""Which connections have to go when too many are open: those of strangers that do nothing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import Scope

_INTRODUCE: Final = "weighbridge.introduce"  # key in an ASGI scope
STRANGER_S: Final = 5  # seconds that a stranger's connection may stay open between requests


@dataclass(slots=True)
class Standing:
    """What a connection may hope for."""

    idle_since: float | None  # seconds on the loop's clock; None while a request is under way
    is_known: bool = False  # a request on it had a credential that was accepted


class Guest(Protocol):
    """An open connection."""

    @property
    def standing(self) -> Standing:
        """What it may hope for."""
        ...

    def leave(self) -> None:
        """Close it now, and count it no more."""
        ...


def make_room(guests: Iterable[Guest], most: int) -> None:
    """Let idle connections go until fewer than `most` are left, those of strangers first.

    Whoever has been idle for the longest goes first. One with a request under way stays.
    """
    all_of_them = list(guests)
    excess = len(all_of_them) - most + 1
    if excess <= 0:
        return
    idle = [
        (guest.standing.is_known, guest.standing.idle_since, position)
        for position, guest in enumerate(all_of_them)
        if guest.standing.idle_since is not None
    ]
    for *_, position in sorted(idle)[:excess]:
        all_of_them[position].leave()


def let_introduce(scope: Scope, known: Callable[[], None]) -> None:
    """Let the application say that a request's credential was accepted."""
    scope[_INTRODUCE] = known


def introduce(scope: Scope) -> None:
    """Say that the credential of a request was accepted: its connection may stay."""
    known = scope.get(_INTRODUCE)
    if known is not None:
        known()
