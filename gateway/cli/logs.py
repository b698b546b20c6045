"""Log lines of a running gateway: on standard error, without secrets, hidden characters shown."""

import logging
import sys

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


def set_up(loaded: Loaded, *, level: int = logging.INFO, worker: Worker | None = None) -> None:
    """Send log records to standard error, with everything the configuration keeps secret masked.

    Where several workers write there, each line says whose it is.
    """
    handler = logging.StreamHandler(sys.stderr)
    whose = f" (worker {worker})" if worker is not None else ""
    handler.setFormatter(_Line(f"%(asctime)s %(levelname)s %(name)s{whose}: %(message)s"))
    # A log has no tenant: personal values are masked without a digest that could be compared.
    handler.addFilter(RedactingFilter(Redactor(lambda tenant: tenant.encode(), loaded.secrets)))
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
