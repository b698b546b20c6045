"""Hashes of the events that this process has just committed, for the next checkpoint.

Whoever writes an event has its bytes at hand. A checkpoint that takes its hash from here need not
read it again, and commits to what was written: a row that was changed since then contradicts it.
"""

import threading
from collections.abc import Sequence
from itertools import islice
from typing import Final

from gateway.events import tree
from gateway.store.turns import give_way

MOST: Final = 1 << 15  # hashes that are kept, some 3 MB; of more the oldest go
_AT_ONCE: Final = 64  # events that are hashed in one go: a tenth of a millisecond


class FreshLeaves:
    """Leaf hashes of one run of events without a gap; added by one thread, taken by another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = False
        self._after = 0  # the number of the event before the first
        self._hashes: list[bytes] = []

    @property
    def last(self) -> int:
        """The number of the newest event whose hash is known; 0 if there was none yet."""
        with self._lock:
            return self._after + len(self._hashes)

    def begin(self, after: int) -> int:
        """Return the number behind which hashes are known, if they begin further on; else 0."""
        with self._lock:
            return self._after if self._hashes and self._after > after else 0

    def want(self) -> None:
        """Have hashes kept from now on: there is somebody who makes checkpoints."""
        self._wanted = True

    def cut(self, last: int) -> None:
        """Forget the hashes behind a number: it is the log's last, and others are about to come.

        There are some where the database was put back to an earlier state.
        """
        with self._lock:
            if self._after + len(self._hashes) > last:
                del self._hashes[max(0, last - self._after) :]

    def add(self, first: int, bodies: Sequence[str]) -> None:
        """Keep the hashes of committed events, whose numbers begin at `first`."""
        if not self._wanted:
            return
        left, hashes = iter(bodies), list[bytes]()
        while piece := [body.encode() for body in islice(left, _AT_ONCE)]:
            hashes += tree.leaf_hashes(piece)
            give_way()
        with self._lock:
            if first != self._after + len(self._hashes) + 1:  # others have written in between
                self._after, self._hashes = first - 1, []
            self._hashes += hashes
            over = len(self._hashes) - MOST
            if over > 0:
                del self._hashes[:over]
                self._after += over

    def take(self, after: int, last: int, most: int) -> list[bytes]:
        """Return the hashes of up to `most` events behind a number and up to another.

        An empty list if that of the first is not known; those before it are forgotten.
        """
        with self._lock:
            at = after - self._after
            if not 0 <= at < len(self._hashes):
                return []
            del self._hashes[:at]
            self._after = after
            return self._hashes[: min(most, max(0, last - after))]
