"""Places for calls that are held for a decision: few of all that a gateway serves at once.

A held call takes up a place for requests like any other, for minutes. Without a bound of their own
the held ones of two agents would leave none for anybody else.
"""

from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

_K = TypeVar("_K", bound=Hashable)

MOST: Final = 64
_SHARE: Final = 4  # nobody gets more than a quarter of the places
_MOST_OF_ONE_REQUEST: Final = 4  # retries and sub-agents; more callers of one call only wait


@dataclass(slots=True, kw_only=True)
class Places:
    """Counts the calls that are held: at most `most`, a quarter of one owner, four of a request."""

    most: int = MOST
    _taken: int = 0
    _owners: Counter[Hashable] = field(default_factory=Counter[Hashable])
    _requests: Counter[str] = field(default_factory=Counter[str])

    @contextmanager
    def take(self, owner: Hashable, approval_id: str) -> Generator[bool]:
        """Keep a place for as long as the block runs, however it ends; False: none was free."""
        share = max(1, self.most // _SHARE)
        is_free = (
            self._taken < self.most
            and self._owners[owner] < share
            and self._requests[approval_id] < _MOST_OF_ONE_REQUEST
        )
        if not is_free:
            yield False
            return
        self._taken += 1
        self._owners[owner] += 1
        self._requests[approval_id] += 1
        try:
            yield True
        finally:
            self._taken -= 1
            _give_back(self._owners, owner)
            _give_back(self._requests, approval_id)


def _give_back(counts: Counter[_K], key: _K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
