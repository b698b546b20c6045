"""What is printed can't be told apart from what the gateway says, unless it is escaped."""

import json

import pytest

from gateway.cli import output
from gateway.types.json import Json

NAME = "x\r2026-11-29 forged\n\x1b[2J\u202e\x9b\ttail"
SHOWN = r"x\u{d}2026-11-29 forged\u{a}\u{1b}[2J\u{202e}\u{9b}\u{9}tail"


def test_a_name_stays_in_its_cell(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["seq", "tool"], [["1", NAME], ["2", "fine"]])
    assert capsys.readouterr().out.splitlines()[1:] == [f"1    {SHOWN}", "2    fine"]


def test_a_name_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.one_line(f"`{NAME}` ok")
    assert capsys.readouterr().out == f"`{SHOWN}` ok\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_json_for_a_terminal_says_the_same_without_hidden_characters(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"name": NAME + "\U000e0041\u200b", "plain": "řeč 🎉"}
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    output.as_json_line({**event})
    line = capsys.readouterr().out.removesuffix("\n")
    assert json.loads(line) == event
    assert line.isprintable() is terminal
    assert "řeč 🎉" in line


@pytest.mark.parametrize("terminal", [True, False])
def test_a_json_document_for_a_terminal_holds_nothing_that_it_obeys(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Json] = [{NAME: NAME + "\U000e0041\u200b\u2028\x85", "plain": "řeč 🎉"}, {}, []]
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    output.as_json([*found])
    text = capsys.readouterr().out.removesuffix("\n")
    assert json.loads(text) == found
    assert ("\n  " in text) is terminal
    assert all(line.isprintable() for line in text.split("\n")) is terminal
    assert "řeč 🎉" in text
