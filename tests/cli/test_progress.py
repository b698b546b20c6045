import io

from gateway.cli.progress import Bar


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
