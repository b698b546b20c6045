"""Places for requests under way: nobody gets more than a share of them."""

from collections.abc import Hashable


class Shares:
    """Counts what each owner holds; at most `most` each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, int] = {}

    def take(self, owner: Hashable) -> bool:
        """Take one more, or return False when the owner's share is used up."""
        held = self._held.get(owner, 0)
        if held >= self._most:
            return False
        self._held[owner] = held + 1
        return True

    def give_back(self, owner: Hashable) -> None:
        """Give one back; an owner that holds none is forgotten."""
        left = self._held[owner] - 1
        if left > 0:
            self._held[owner] = left
        else:
            del self._held[owner]

    def held(self, owner: Hashable) -> int:
        """Return how many the owner holds."""
        return self._held.get(owner, 0)
