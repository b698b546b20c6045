"""Rows that come one after the other, however many: as a table, as CSV or as lines of JSON."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from gateway.actions import spreadsheets
from gateway.cli import output
from gateway.types.json import JsonObject

_MEASURED: Final = 200  # rows after which the widths of a table are settled

Put = Callable[[str], object]
"""Takes text, with its line ends."""


class Rows(Protocol):
    """Where rows go."""

    def add(self, cells: Sequence[str]) -> None:
        """Take one row."""
        ...

    def end(self) -> None:
        """Say that there are no more."""
        ...


class Table:
    """Columns for people, as wide as what the first rows hold, cut to the terminal."""

    def __init__(self, headers: Sequence[str], put: Put) -> None:
        self._put = put
        self._waiting: list[list[str]] = [list(headers)]
        self._widths: list[int] = []
        is_seen = sys.stdout.isatty()
        self._width = shutil.get_terminal_size((120, 24)).columns if is_seen else None

    def add(self, cells: Sequence[str]) -> None:
        """Take one row; what it holds stays on one line."""
        row = [output.on_one_line(cell) for cell in cells]
        if self._widths:
            self._write(row)
            return
        self._waiting.append(row)
        if len(self._waiting) > _MEASURED:
            self.end()

    def end(self) -> None:
        """Write what still waits for its widths."""
        if not self._widths:
            self._widths = [max(map(len, column)) for column in zip(*self._waiting, strict=True)]
        waiting, self._waiting = self._waiting, []
        for row in waiting:
            self._write(row)

    def _write(self, row: Sequence[str]) -> None:
        pairs = zip(row, self._widths, strict=True)
        text = "  ".join(cell.ljust(size) for cell, size in pairs).rstrip()
        is_long = self._width is not None and len(text) > self._width
        self._put(f"{text[: (self._width or 0) - 1]}…\n" if is_long else f"{text}\n")


class Csv:
    """Lines for spreadsheets; the first has the names of the columns."""

    def __init__(self, headers: Sequence[str], put: Put) -> None:
        self._put = put
        put(spreadsheets.line(headers))

    def add(self, cells: Sequence[str]) -> None:
        """Take one row."""
        self._put(spreadsheets.line(cells))

    def end(self) -> None:
        """Nothing waits."""


SHEETS: Final[Mapping[str, Callable[[Sequence[str], Put], Rows]]] = {"table": Table, "csv": Csv}
"""What has columns."""


def json_line(value: JsonObject) -> str:
    """Return a value on a line of its own."""
    return output.json_line(value) + "\n"


def put(text: str) -> None:
    """Write to standard output; `flush` has to follow."""
    sys.stdout.write(text)


def flush() -> None:
    """Hand on what was written; a pipe that nobody reads any more ends the command here."""
    sys.stdout.flush()
