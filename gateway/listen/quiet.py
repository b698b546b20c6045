"""Keeps what clients do to the HTTP server from flooding the log."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

_EVERY_S: Final = 60.0
# The server writes to a connection that has just been closed: a client left, nothing failed.
_LEFT: Final = ("handler is closed", "closing transport")


class Quiet(logging.Filter):
    """Lets one record of each text pass in a minute, and says how many it stood for.

    Texts of the HTTP server are constants, so there are few. `monotonic` gives seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._monotonic = monotonic
        self._seen: dict[str, tuple[float, int]] = {}  # when one passed, how many did not since

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is news."""
        if _is_no_fault(record):
            return False
        text = str(record.msg).strip()
        # A fault of ours is one of its own by where it came from.
        key = f"{text} {_origin(record)}"
        now = self._monotonic()
        passed, held = self._seen.get(key, (now - _EVERY_S, 0))
        if now - passed < _EVERY_S:
            self._seen[key] = (passed, held + 1)
            return False
        self._seen[key] = (now, 0)
        record.msg = f"{text} ({held} more like it in the last minutes)" if held else text
        return True


def _is_no_fault(record: logging.LogRecord) -> bool:
    """Whether a client left, or a request was cut off by the end of a stop, which is told once."""
    error = record.exc_info[1] if record.exc_info else None
    return isinstance(error, ConnectionError | asyncio.CancelledError) or (
        isinstance(error, RuntimeError) and any(text in str(error) for text in _LEFT)
    )


def _origin(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(error).__name__} {place}"
