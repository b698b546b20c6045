import io

import pytest

from gateway.cli.progress import Bar, busy


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_how_far_it_is_and_then_nothing_is_left() -> None:
    stream = Terminal()
    bar = Bar(stream=stream)
    bar.show(0.5, "1,000 calls")
    bar.show(0.5, "1,000 calls")
    assert stream.getvalue() == f"\r\x1b[K[{'#' * 15}{'.' * 15}]  50%  1,000 calls"
    bar.end()
    bar.end()
    assert stream.getvalue().endswith("1,000 calls\r\x1b[K")


def test_pipes_and_programs_are_shown_nothing() -> None:
    pipe, quiet = io.StringIO(), Terminal()
    for bar in (Bar(stream=pipe), Bar(stream=quiet, is_quiet=True)):
        bar.show(0.1, "x")
        bar.end()
    assert (pipe.getvalue(), quiet.getvalue()) == ("", "")


def test_what_takes_long_is_said_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with busy("looking") as bar:
        bar.count(249, "calls")
        bar.count(250, "calls")
    assert stream.getvalue() == "\r\x1b[Klooking\r\x1b[K250 calls\r\x1b[K"


def test_a_dumb_terminal_is_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    Bar(stream=stream).say("looking")
    assert stream.getvalue() == ""
