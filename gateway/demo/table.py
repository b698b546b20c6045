"""Tables for people: fixed columns, at most 108 characters wide, coloured on a terminal only."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TextIO

from gateway.results import marks

WIDTH: Final = 108
_RESET: Final = "\x1b[0m"


def is_coloured(out: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether colours are welcome: on a terminal, unless it is a dumb one or `NO_COLOR` is set."""
    return out.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Tone(StrEnum):
    """What a colour means; the value is its ANSI sequence."""

    GOOD = "\x1b[32m"
    REFUSED = "\x1b[33m"
    WRONG = "\x1b[1;31m"
    FAINT = "\x1b[2m"
    HEAD = "\x1b[1m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its header and its width in characters."""

    head: str
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One text in a row, and its tone."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Printer:
    """Writes rows as they come, and pushes each out at once so that a reader can follow."""

    out: TextIO
    coloured: bool

    def line(self, text: str = "", tone: Tone | None = None) -> None:
        """Write one line of text; hidden characters in it are made visible."""
        self.out.write(self._painted(marks.visible(text), tone) + "\n")
        self.out.flush()

    def head(self, columns: Sequence[Column]) -> None:
        """Write the headers and a rule below them."""
        self.row(columns, [Cell(text=column.head, tone=Tone.HEAD) for column in columns])
        self.line("-" * WIDTH, Tone.FAINT)

    def row(self, columns: Sequence[Column], cells: Sequence[Cell]) -> None:
        """Write one row; a text that is too long for its column is cut with two dots."""
        parts = [
            self._painted(_fitted(cell.text, column.width), cell.tone)
            for column, cell in zip(columns, cells, strict=True)
        ]
        self.out.write("  ".join(parts).rstrip() + "\n")
        self.out.flush()

    def below(self, text: str, indent: int, tone: Tone | None = None) -> None:
        """Write a text of any length below a row, wrapped and indented."""
        for line in textwrap.wrap(marks.visible(text), WIDTH - indent, break_on_hyphens=False):
            self.line(" " * indent + line, tone)

    def _painted(self, text: str, tone: Tone | None) -> str:
        return f"{tone.value}{text}{_RESET}" if self.coloured and tone is not None else text


def _fitted(text: str, width: int) -> str:
    shown = marks.visible(text)
    return shown.ljust(width) if len(shown) <= width else f"{shown[: width - 2]}.."
