"""Log lines of a running gateway: on standard error, without secrets, hidden characters shown."""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager

from gateway.config.load import Loaded
from gateway.events.logs import RedactingFilter
from gateway.events.redact import Redactor
from gateway.results import marks
from gateway.types.workers import Worker


class _Line(logging.Formatter):
    """What a server made up can't move the cursor of a terminal, or pose as a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; whatever has further lines, a traceback as a rule, is indented."""
        return "\n  ".join(map(marks.visible, super().format(record).splitlines()))


class _Ear(logging.Handler):
    """Keeps what is said, for whoever tells it in its own way."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take down the message alone."""
        self.heard.append(record.getMessage())


@contextmanager
def heard(loaded: Loaded) -> Generator[list[str]]:
    """Collect warnings, masked like log lines, for a command that is no running gateway.

    Without it, logging prints them as they are: what a server made up, and in its own shape.
    """
    ear, root = _Ear(), logging.getLogger()
    ear.addFilter(_masking(loaded))
    root.addHandler(ear)
    try:
        yield ear.heard
    finally:
        root.removeHandler(ear)


def _masking(loaded: Loaded) -> RedactingFilter:
    # A log has no tenant: personal values are masked without a digest that could be compared.
    return RedactingFilter(Redactor(lambda tenant: tenant.encode(), loaded.secrets))


def set_up(loaded: Loaded, *, level: int = logging.INFO, worker: Worker | None = None) -> None:
    """Send log records to standard error, with everything the configuration keeps secret masked.

    Where several workers write there, each line says whose it is.
    """
    handler = logging.StreamHandler(sys.stderr)
    whose = f" (worker {worker})" if worker is not None else ""
    handler.setFormatter(_Line(f"%(asctime)s %(levelname)s %(name)s{whose}: %(message)s"))
    handler.addFilter(_masking(loaded))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # Libraries tell their own story at INFO, one line a request; a warning of theirs is news.
    for name in (
        "mcp",
        "sse_starlette",
        "httpx2",
        "httpcore2",
        "uvicorn",
        "asyncio",
        "aiohttp",
        "opentelemetry",
    ):
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
