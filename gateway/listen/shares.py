"""Places for requests under way: nobody gets more than a share of them."""

from collections import Counter
from collections.abc import Hashable


class Shares:
    """Counts what each owner holds; at most `most` each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[Hashable] = Counter()

    def take(self, owner: Hashable) -> bool:
        """Take one more, or return False when the owner's share is used up."""
        if self._held[owner] >= self._most:
            return False
        self._held[owner] += 1
        return True

    def give_back(self, owner: Hashable) -> None:
        """Give one back; an owner that holds none is forgotten."""
        self._held[owner] -= 1
        if self._held[owner] <= 0:
            del self._held[owner]

    def held(self, owner: Hashable) -> int:
        """Return how many the owner holds."""
        return self._held.get(owner, 0)
