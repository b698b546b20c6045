"""What was made of an object, remembered for as long as the very same object comes again."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


def by_identity(most: int) -> Callable[[Callable[[_T], _R]], Callable[[_T], _R]]:
    """Remember the results of a function of one immutable object, for up to `most` objects.

    Where a cache by value would take the hash of many fields for each look, which costs more than
    what it saves.
    """

    def remembering(make: Callable[[_T], _R]) -> Callable[[_T], _R]:
        known: dict[int, tuple[_T, _R]] = {}  # the object is held, so its id is nobody else's

        @wraps(make)
        def remembered(one: _T) -> _R:
            try:
                return known[id(one)][1]
            except KeyError:
                pass
            made = make(one)
            if len(known) >= most:
                known.clear()
            known[id(one)] = (one, made)
            return made

        return remembered

    return remembering
