"""What the HTTP server's own log lets through."""

import asyncio
import logging
from types import TracebackType

from gateway.listen.quiet import Quiet

Info = tuple[type[BaseException], BaseException, TracebackType | None]


def record(text: str, error: BaseException | None = None) -> logging.LogRecord:
    info: Info | None = (type(error), error, error.__traceback__) if error is not None else None
    return logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, text, (), info)


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


def test_one_record_of_a_kind_passes_in_a_minute_and_counts_the_others() -> None:
    now = 0.0
    quiet = Quiet(lambda: now)
    assert [quiet.filter(record("Exceeded")) for _ in range(4)] == [True, False, False, False]
    assert quiet.filter(record("Invalid"))
    now = 61.0
    late = record("Exceeded")
    assert quiet.filter(late)
    assert late.getMessage() == "Exceeded (3 more like it in the last minutes)"


def test_a_client_that_leaves_is_no_news() -> None:
    quiet = Quiet(lambda: 0.0)
    closed = RuntimeError("unable to perform operation on <TCPTransport>; the handler is closed")
    assert not quiet.filter(record("Exception in ASGI application\n", closed))
    assert not quiet.filter(record("Exception in ASGI application\n", ConnectionResetError()))


def test_requests_that_the_end_of_a_stop_cuts_off_are_told_by_one_line_and_no_traceback() -> None:
    quiet = Quiet(lambda: 0.0)
    cut = asyncio.CancelledError("Task cancelled, timeout graceful shutdown exceeded")
    assert not quiet.filter(record("Exception in ASGI application\n", cut))
    assert quiet.filter(record("Cancel 3 running task(s), timeout graceful shutdown exceeded"))


def test_faults_of_two_kinds_are_both_news() -> None:
    quiet = Quiet(lambda: 0.0)
    faults = [raised(ValueError("a")), raised(KeyError("b")), raised(KeyError("c"))]
    passed = [quiet.filter(record("Exception in ASGI application\n", one)) for one in faults]
    assert passed == [True, True, False]
