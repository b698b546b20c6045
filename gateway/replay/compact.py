"""Names that a replay has met, in 12 to 24 bytes each however long they are.

A log has as many runs as its gateway ever saw, so what is known of them is all of the memory that a
replay takes. A name is known by the 64 bits of Python's hash of it, whose key is made anew for each
process: of a million names, two are taken for one in one replay of thirty million, and nobody can
choose names for which it is otherwise.
"""

from array import array
from collections.abc import Hashable
from typing import Final

_BITS: Final = (1 << 64) - 1
_FEWEST: Final = 8  # places, a power of two


class Names:
    """A set of names; it can tell whether a name is in it, and how many are."""

    __slots__ = ("_many", "_places")

    def __init__(self) -> None:
        """Begin with none."""
        self._places = array("Q", bytes(8 * _FEWEST))  # 0: free
        self._many = 0

    def __len__(self) -> int:
        """How many there are."""
        return self._many

    def __contains__(self, name: Hashable) -> bool:
        """Whether a name is one of them."""
        return self._places[self._find(_digest(name))] != 0

    def add(self, name: Hashable) -> bool:
        """Add a name, and say whether it is a new one."""
        digest = _digest(name)
        at = self._find(digest)
        if self._places[at]:
            return False
        if 3 * self._many >= 2 * len(self._places):
            self._grow()
            at = self._find(digest)
        self._places[at] = digest
        self._many += 1
        return True

    def _find(self, digest: int) -> int:
        """Return the place of a name, or the free one where it belongs: there always is one."""
        places = self._places
        last = len(places) - 1
        at = digest & last
        while places[at] and places[at] != digest:
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        old = self._places
        self._places = array("Q", bytes(16 * len(old)))
        for digest in old:
            if digest:
                self._places[self._find(digest)] = digest


class Sums(Names):
    """Sums by name, in another eight bytes for each place."""

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self._sums = array("d", bytes(8 * _FEWEST))

    def of(self, name: Hashable) -> float:
        """Return the sum under a name, 0 where nothing was added."""
        return self._sums[self._find(_digest(name))]

    def take(self, name: Hashable, amount: float) -> None:
        """Add an amount under a name."""
        self.add(name)
        self._sums[self._find(_digest(name))] += amount

    def _grow(self) -> None:
        old = [*zip(self._places, self._sums, strict=True)]
        super()._grow()
        self._sums = array("d", bytes(8 * len(self._places)))
        for digest, amount in old:
            if digest:
                self._sums[self._find(digest)] = amount


def _digest(name: Hashable) -> int:
    return hash(name) & _BITS or 1
