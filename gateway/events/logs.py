"""Keeps secrets out of log records, whoever writes them."""

import logging

from gateway.events.redact import Redactor


class RedactingFilter(logging.Filter):
    """Redacts message and traceback of every record; put it on handlers, not on loggers.

    A handler's filters see the records of all loggers below it, libraries' included.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record in place; a message that can't be formatted is dropped, not shown."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = f"a log message from `{record.name}` could not be formatted"
        record.msg = self._redactor.text(message)
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redactor.text(record.exc_text)
        record.exc_info = None
        if record.stack_info:
            record.stack_info = self._redactor.text(record.stack_info)
        return True
