"""A line on a terminal for what takes long; nothing where nobody looks."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from gateway.config.environment import environ

_WIDTH: Final = 30
_CLEAR: Final = "\r\x1b[K"
_OFTEN: Final = 250  # things counted, after which it is said how many there are


@dataclass(slots=True)
class Bar:
    """Draws on standard error, unless that is no terminal or it is to be quiet."""

    is_quiet: bool = False
    stream: TextIO | None = None
    _drawn: str = ""

    def show(self, share: float, words: str) -> None:
        """Say how much of all is done, from 0 to 1, and what that is in words."""
        done = round(_WIDTH * share)
        self.say(f"[{'#' * done}{'.' * (_WIDTH - done)}] {share:4.0%}  {words}")

    def say(self, words: str) -> None:
        """Say what is going on, where nobody knows how much of it there is."""
        stream = self.stream or sys.stderr
        if self.is_quiet or words == self._drawn or not _is_drawn_on(stream):
            return
        self._drawn = words
        stream.write(f"{_CLEAR}{words}")
        stream.flush()

    def count(self, number: int, words: str) -> None:
        """Say how many there are so far, now and then."""
        if number % _OFTEN == 0:
            self.say(f"{number:,} {words}")

    def end(self) -> None:
        """Take it away, so that what follows has the line for itself."""
        if self._drawn:
            stream = self.stream or sys.stderr
            stream.write(_CLEAR)
            stream.flush()
            self._drawn = ""


@contextmanager
def busy(words: str = "", *, is_quiet: bool = False) -> Generator[Bar]:
    """Say what is going on until it is over, however it ends."""
    bar = Bar(is_quiet=is_quiet)
    if words:
        bar.say(words)
    try:
        yield bar
    finally:
        bar.end()


def _is_drawn_on(stream: TextIO) -> bool:
    """Whether a line can be drawn anew there: on a terminal that isn't a dumb one."""
    return stream.isatty() and environ().get("TERM") != "dumb"
