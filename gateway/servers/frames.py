"""Line framing: bytes in pieces become whole lines, in bounded memory and linear time."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_KEPT = 512  # bytes of each end of an oversized line that are kept to find its id

# The id of a response, where it can't be anything else: first in the object, or last.
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*[,}]')
_ID_LAST = re.compile(
    rb'[}\]"a-z0-9]\s*,\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line longer than the cap: its size, and the id that it answers if that can be told."""

    size: int
    answers: int | None


def id_in(head: bytes, tail: bytes) -> int | None:
    """Find the id that a damaged or oversized response answers, or None when it can't be told.

    Only the very ends of the message are looked at: an `"id"` elsewhere may belong to data.
    """
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    return int(found[1]) if found else None


class LineFrames:
    """Collects pieces until a line feed; only LF separates, as JSON may hold any other sign."""

    __slots__ = ("_cap", "_head", "_pieces", "_size", "_tail")

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._pieces: list[bytes] = []
        self._size = 0
        self._head = b""
        self._tail = b""

    def feed(self, data: bytes) -> Iterable[bytes | Oversized]:
        """Return the lines that `data` completes, without their line feed."""
        size = len(data) - 1
        if not self._size and 0 <= size <= self._cap and data.find(b"\n") == size:
            return (data[:size],)  # one whole line, as most pieces are
        return self._ended(data)

    def _ended(self, data: bytes) -> Iterator[bytes | Oversized]:
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield self._take()
        if rest:
            self._add(rest)

    def _add(self, piece: bytes) -> None:
        before = self._size
        self._size += len(piece)
        if self._size <= self._cap:
            self._pieces.append(piece)
            return
        if before <= self._cap:  # the cap is passed here: keep the ends only
            kept = b"".join(self._pieces)
            self._head = (kept + piece[:_KEPT])[:_KEPT]
            self._tail = kept[-_KEPT:]
            self._pieces.clear()
        self._tail = (self._tail + piece[-_KEPT:])[-_KEPT:]

    def _take(self) -> bytes | Oversized:
        size, self._size = self._size, 0
        if size > self._cap:
            return Oversized(size=size, answers=id_in(self._head, self._tail))
        line = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        return line
