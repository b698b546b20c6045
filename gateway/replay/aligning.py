"""Which call of one list stands for which of another: the way that keeps most in order."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from gateway.types.values import value

_A = TypeVar("_A")
_B = TypeVar("_B")


@value
class Pair:
    """A place in each of two lists; None where the other one has nothing like it there."""

    old: int | None
    new: int | None
    is_moved: bool = False  # the same on both sides, out of order


def aligned(
    old: Sequence[_A], new: Sequence[_B], likeness: Callable[[_A, _B], float]
) -> tuple[Pair, ...]:
    """Return pairs in the order of the new list, with what it lacks where that was.

    `likeness` is 1 for two that are the same, 0 for two that have nothing in common. What is the
    same and left over on both sides has moved.
    """
    kept = _in_order(old, new, likeness)
    spare = set(range(len(old))) - {at for at, _ in kept}
    moved: dict[int, int] = {}
    for there in sorted(set(range(len(new))) - {there for _, there in kept}):
        here = next((at for at in sorted(spare) if likeness(old[at], new[there]) >= 1), None)
        if here is not None:
            moved[there] = here
            spare.remove(here)
    pairs: list[Pair] = []
    of_new = {there: at for at, there in kept}
    reached = 0
    for there in range(len(new)):
        at = of_new.get(there)
        if at is not None:
            pairs += (Pair(old=each, new=None) for each in range(reached, at) if each in spare)
            reached = at + 1
            pairs.append(Pair(old=at, new=there))
        elif there in moved:
            pairs.append(Pair(old=moved[there], new=there, is_moved=True))
        else:
            pairs.append(Pair(old=None, new=there))
    pairs += (Pair(old=each, new=None) for each in range(reached, len(old)) if each in spare)
    return tuple(pairs)


def _in_order(
    old: Sequence[_A], new: Sequence[_B], likeness: Callable[[_A, _B], float]
) -> list[tuple[int, int]]:
    """Return the pairs in order that are most alike in sum."""
    width = len(new) + 1
    best = [[0.0] * width for _ in range(len(old) + 1)]
    for at in range(len(old) - 1, -1, -1):
        row, below = best[at], best[at + 1]
        for there in range(len(new) - 1, -1, -1):
            most = max(below[there], row[there + 1])
            alike = likeness(old[at], new[there])
            row[there] = max(most, below[there + 1] + alike) if alike else most
    found: list[tuple[int, int]] = []
    at = there = 0
    while at < len(old) and there < len(new):
        alike = likeness(old[at], new[there])
        if alike and best[at][there] == best[at + 1][there + 1] + alike:
            found.append((at, there))
            at, there = at + 1, there + 1
        elif best[at][there] == best[at + 1][there]:
            at += 1
        else:
            there += 1
    return found
