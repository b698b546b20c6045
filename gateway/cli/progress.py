"""A bar on a terminal for what takes long; nothing where nobody looks."""

import sys
from dataclasses import dataclass
from typing import Final, TextIO

_WIDTH: Final = 30
_CLEAR: Final = "\r\x1b[K"


@dataclass(slots=True)
class Bar:
    """Draws on standard error, unless that is no terminal or it is to be quiet."""

    is_quiet: bool = False
    stream: TextIO | None = None
    _drawn: str = ""

    def show(self, share: float, words: str) -> None:
        """Say how much of all is done, from 0 to 1, and what that is in words."""
        stream = self.stream or sys.stderr
        if self.is_quiet or not stream.isatty():
            return
        done = round(_WIDTH * share)
        drawn = f"[{'#' * done}{'.' * (_WIDTH - done)}] {share:4.0%}  {words}"
        if drawn != self._drawn:
            self._drawn = drawn
            stream.write(f"{_CLEAR}{drawn}")
            stream.flush()

    def end(self) -> None:
        """Take it away, so that what follows has the line for itself."""
        if self._drawn:
            stream = self.stream or sys.stderr
            stream.write(_CLEAR)
            stream.flush()
            self._drawn = ""
