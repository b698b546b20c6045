"""Tables for people."""

import io

from gateway.demo.table import WIDTH, Cell, Column, Printer, Tone, is_coloured

_COLUMNS = (Column(head="who", width=6), Column(head="what", width=10))


def _printed(*, coloured: bool = False) -> tuple[io.StringIO, Printer]:
    out = io.StringIO()
    return out, Printer(out, coloured)


def test_a_row_keeps_its_columns_whatever_is_in_them() -> None:
    out, printer = _printed()
    printer.head(_COLUMNS)
    printer.row(_COLUMNS, [Cell(text="acme"), Cell(text="a long text here")])
    lines = out.getvalue().splitlines()
    assert lines == ["who     what", "-" * WIDTH, "acme    a long t.."]


def test_colours_appear_when_asked_for_and_do_not_count_as_width() -> None:
    out, printer = _printed(coloured=True)
    printer.row(_COLUMNS, [Cell(text="acme", tone=Tone.GOOD), Cell(text="x")])
    assert out.getvalue() == "\x1b[32macme  \x1b[0m  x\n"


def test_without_colours_no_escape_is_written() -> None:
    out, printer = _printed()
    printer.line("denied", Tone.REFUSED)
    assert out.getvalue() == "denied\n"


def test_escapes_in_a_servers_text_are_shown_and_not_obeyed() -> None:
    out, printer = _printed()
    printer.below("\x1b[2Jgone", indent=2)
    printer.row(_COLUMNS, [Cell(text="\x1b[2J"), Cell(text="\u202ex")])
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


def test_a_text_below_a_row_wraps_within_the_width() -> None:
    out, printer = _printed()
    printer.below("word " * 60, indent=12)
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert all(line.startswith(" " * 12) and len(line) <= WIDTH for line in lines)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_and_for_those_who_want_them() -> None:
    assert is_coloured(Terminal(), {"TERM": "xterm"})
    assert is_coloured(Terminal(), {"NO_COLOR": ""})  # no-color.org: present and not empty
    assert not is_coloured(Terminal(), {"NO_COLOR": "1"})
    assert not is_coloured(Terminal(), {"TERM": "dumb"})
    assert not is_coloured(io.StringIO(), {})
