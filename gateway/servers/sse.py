"""Event streams, read as the HTML standard says (server-sent events, parsing)."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
# One event, as servers write nearly all: at most a name, and data in one line that is not empty.
_USUAL = re.compile(rb"(?:event:[^\r\n]*\r?\n)?data:(?: |(?! ))([^\r\n]+)\r?\n\r?\n")


class EventTooLarge(Exception):
    """One event is larger than the cap; the stream can't be read any further."""


class StreamEvent(NamedTuple):
    """The data of one event as bytes, lines joined by LF, and the last id of the stream."""

    data: bytes
    last_id: str


class EventReader:
    """Turns pieces of a stream into events; pieces may split anything, even a letter."""

    __slots__ = ("_after_cr", "_cap", "_data", "_fresh", "_partial", "_size", "last_id", "retry_ms")

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._fresh = True
        self._after_cr = False
        self._partial: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self.last_id = ""
        self.retry_ms: int | None = None

    def feed(self, piece: bytes) -> Iterable[StreamEvent]:
        """Return the events that `piece` completes; raises EventTooLarge, maybe once asked for one.

        Most pieces are one event of the usual form, which needs no look at each line.
        """
        is_between = not (self._size or self._partial or self._data or self._after_cr)
        if is_between and len(piece) <= self._cap:
            found = _USUAL.fullmatch(piece)
            if found is not None:
                self._fresh = False
                return (StreamEvent(data=found[1], last_id=self.last_id),)
        return self._events(piece)

    def _events(self, piece: bytes) -> Iterator[StreamEvent]:
        if self._after_cr and piece:
            piece = piece.removeprefix(b"\n")
            self._after_cr = False
        if not piece:
            return
        self._after_cr = piece.endswith(b"\r")
        whole = piece.endswith((b"\n", b"\r"))
        lines = piece.splitlines()  # on bytes: CR, LF and CRLF only
        for index, line in enumerate(lines):
            self._grow(len(line))
            self._partial.append(line)
            if index == len(lines) - 1 and not whole:
                return
            event = self._line(b"".join(self._partial))
            self._partial.clear()
            if event is not None:
                yield event

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._cap:
            raise EventTooLarge

    def _line(self, line: bytes) -> StreamEvent | None:
        if self._fresh:
            self._fresh = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        if line.startswith(b":"):  # a comment: keep-alive, not part of an event
            self._size -= len(line)
            return None
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self.last_id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            self.retry_ms = int(value[:9])
        return None

    def _dispatch(self) -> StreamEvent | None:
        data, self._data, self._size = self._data, [], 0
        joined = b"\n".join(data)
        return StreamEvent(data=joined, last_id=self.last_id) if joined else None
