import io
import logging

import pytest

from gateway.events.logs import RedactingFilter
from gateway.events.redact import Redactor

REDACTOR = Redactor(lambda _: b"key").with_secrets(["MARK1-secret"])


@pytest.fixture
def output() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def logger(output: io.StringIO) -> logging.Logger:
    handler = logging.StreamHandler(output)
    handler.addFilter(RedactingFilter(REDACTOR))
    logger = logging.Logger("part")
    logger.addHandler(handler)
    return logger


def test_secrets_in_messages_and_their_arguments_are_hidden(
    logger: logging.Logger, output: io.StringIO
) -> None:
    """case: OBS-01"""
    logger.info("header %s and %s", "MARK1-secret", {"apiKey": "MARK4x"})
    assert output.getvalue() == "header [redacted:secret] and {'apiKey': '[redacted:assigned]'}\n"


def test_secrets_in_tracebacks_are_hidden(logger: logging.Logger, output: io.StringIO) -> None:
    """case: OBS-01"""
    try:
        raise ValueError("refused MARK1-secret")
    except ValueError:
        logger.exception("failed", stack_info=True)
    assert "MARK1-secret" not in output.getvalue()
    assert "ValueError: refused [redacted:secret]" in output.getvalue()


def test_a_message_that_can_not_be_formatted_is_not_shown(
    logger: logging.Logger, output: io.StringIO
) -> None:
    logger.info("%d MARK1-secret", "x")
    assert output.getvalue() == "a log message from `part` could not be formatted\n"
