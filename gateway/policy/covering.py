"""Choices that bring every two values of different dimensions together, instead of all products.

The way of one value at a time (in-parameter-order, Lei and Tai 1998), without its last polish: a
few rows too many cost less than to look for them.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import Final, TypeAlias

Row: TypeAlias = tuple[int, ...]  # for each dimension the number of one of its values

_FREE: Final = -1
_WORD: Final = (1 << 64) - 1
_MOST_CANDIDATES: Final = 16


class Chance:
    """Numbers without an order that anybody sees, the same for a seed (splitmix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def below(self, size: int) -> int:
        """Return the next number below a size."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _WORD
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return (mixed ^ (mixed >> 31)) % size


def rows(sizes: Sequence[int], *, seed: int, most: int) -> list[Row]:
    """Return choices over dimensions of these sizes: every one while that is at most `most`.

    Else every pair of values is in some row, as far as `most` rows go. The same sizes and seed
    give the same rows.
    """
    if not all(sizes) or most <= 0:
        return []
    open_ = [axis for axis, size in enumerate(sizes) if size > 1]
    made = _rows(tuple(sizes[axis] for axis in open_), seed, most)
    found = [[0] * len(sizes) for _ in made]
    for whole, row in zip(found, made, strict=True):
        for axis, value in zip(open_, row, strict=True):
            whole[axis] = value
    return [tuple(row) for row in found]


@lru_cache(maxsize=256)  # rules of one target leave about the same room
def _rows(sizes: tuple[int, ...], seed: int, most: int) -> list[Row]:
    if prod(sizes) <= most:
        return list(product(*map(range, sizes)))
    return list(_pairs(sizes, Chance(seed)))[:most]


def _pairs(sizes: Sequence[int], chance: Chance) -> Iterator[Row]:
    order = sorted(range(len(sizes)), key=lambda each: -sizes[each])
    first, second = order[0], order[1]
    table: list[list[int]] = []
    for left, right in product(range(sizes[first]), range(sizes[second])):
        row = [_FREE] * len(sizes)
        row[first], row[second] = left, right
        table.append(row)
    known = [first, second]
    for added in order[2:]:
        _extend(table, known, added, sizes)
        known.append(added)
    for row in table:
        yield tuple(
            chance.below(size) if value == _FREE else value
            for value, size in zip(row, sizes, strict=True)
        )


def _extend(table: list[list[int]], known: Sequence[int], added: int, sizes: Sequence[int]) -> None:
    """Give every row a value of one more dimension, and add rows for pairs that are left."""
    left = {
        (value, other, sibling)
        for value in range(sizes[added])
        for other in known
        for sibling in range(sizes[other])
    }
    for at, row in enumerate(table):
        best, met = 0, -1
        for step in range(min(sizes[added], _MOST_CANDIDATES)):
            value = (at + step) % sizes[added]  # so that none is preferred
            gained = sum((value, other, row[other]) in left for other in known)
            if gained > met:
                best, met = value, gained
        row[added] = best
        left.difference_update((best, other, row[other]) for other in known)
    for value, other, sibling in sorted(left):
        for row in table:
            if row[other] in (sibling, _FREE) and row[added] in (value, _FREE):
                row[other], row[added] = sibling, value
                break
        else:
            row = [_FREE] * len(sizes)
            row[other], row[added] = sibling, value
            table.append(row)


def pairs_of(row: Row) -> frozenset[tuple[int, int, int, int]]:
    """Return the pairs of values that one row brings together."""
    return frozenset(
        (left, row[left], right, row[right]) for left, right in combinations(range(len(row)), 2)
    )
