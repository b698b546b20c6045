"""How a request is laid out in a terminal."""

import pytest

from gateway.cli import sheet
from gateway.cli.sheet import cells, laid_out, wrapped
from tests.helpers.approvals import an_approval

AT = 1_795_910_400_000_000  # 2026-11-29T00:00:00Z


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_but_the_first_of_a_value_stands_behind_a_bar(width: int) -> None:
    first, *others = laid_out("amount", "9" * 500, width)
    assert first.startswith("  amount ")
    assert others
    assert all(line.startswith(" " * 26 + "┆ 9") for line in others)
    assert all(cells(line) < width or width == 40 for line in (first, *others))


def test_nothing_is_lost_where_it_is_wrapped() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(300)) + "e\u0301" * 30 + "x" * 100
    parts = [*wrapped(text, 31)]
    assert "".join(parts) == text
    assert all(cells(part) <= 31 for part in parts)


def test_wide_characters_take_two_cells_and_marks_on_letters_none() -> None:
    assert (cells("ab"), cells("中文"), cells("e\u0301"), cells("")) == (2, 4, 1, 0)


def test_a_long_label_has_lines_of_its_own_and_can_not_push_its_value_away() -> None:
    lines = [*laid_out("k" * 100, "value", 80)]
    assert "".join(line.strip() for line in lines[:-1]) == "k" * 100
    assert lines[-1] == " " * 26 + "value"


def test_an_empty_value_still_has_its_line() -> None:
    assert [*laid_out("note", "", 80)] == ["  note"]


def test_a_requester_who_has_gone_away_is_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    sheet.show_standing(an_approval(left_at=AT, decide_by=AT), (), ())
    shown = capsys.readouterr().out
    assert "Requester               disconnected at 2026-11-29 00:00 UTC; the request" in shown
    sheet.show_standing(an_approval(decide_by=AT), (), ())
    assert "disconnected" not in capsys.readouterr().out
