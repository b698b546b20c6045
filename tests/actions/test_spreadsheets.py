"""CSV that any reader reads back, and that no spreadsheet and no terminal obeys."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.actions.spreadsheets import line


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_cells_stand_between_commas_and_in_quotes_where_they_must() -> None:
    assert line(["a", 'say "no", then', " b", ""]) == 'a,"say ""no"", then"," b",\r\n'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1"])
def test_no_cell_begins_like_a_formula(text: str) -> None:
    ((cell,),) = read(line([text]))
    assert cell.startswith("'")


@pytest.mark.parametrize(
    "text", ["a;=1+1", "a; -1", 'a;"=1+1"', ';"" @b', "a;b;+1", "=1;=1", "a;\t=1"]
)
def test_no_formula_begins_where_a_spreadsheet_splits_by_semicolons(text: str) -> None:
    written = line(["x", text, "y"])
    assert written.startswith('x,"')
    for cell in written.split(";"):
        assert not cell.lstrip(' "').startswith(("=", "+", "-", "@"))


def test_a_semicolon_stands_in_quotes_and_is_the_same() -> None:
    assert line(["a;b", "c"]) == '"a;b",c\r\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\r\nand\ta tab", "two\\u{a}lines\\u{d}\\u{a}and\\u{9}a tab"),
        ("\x1b[31mred", "\\u{1b}[31mred"),
        ("\u202egnp.exe", "\\u{202e}gnp.exe"),
        ("a\x85b\u2028c", "a\\u{85}b\\u{2028}c"),
    ],
)
def test_what_hides_is_shown_and_a_row_stays_on_its_line(text: str, shown: str) -> None:
    assert read(line(["before", text, "after"])) == [["before", shown, "after"]]


@given(st.lists(st.text(), min_size=1))
def test_whatever_is_in_the_cells_a_row_is_one_line_with_as_many_cells(cells: list[str]) -> None:
    written = line(cells)
    assert written.endswith("\r\n")
    assert len(written[:-2].splitlines()) <= 1
    if cells != [""]:
        (row,) = read(written)
        assert len(row) == len(cells)
