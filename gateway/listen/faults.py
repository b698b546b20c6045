"""Logs a fault of ours by type and place; its text may hold what a caller sent."""

import logging
import traceback

_log = logging.getLogger("gateway.listen")


def log_fault(where: str, error: BaseException) -> None:
    """Write one log record with the stack, and without the message of the exception."""
    stack = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s failed with %s\n%s", where, type(error).__name__, stack)
