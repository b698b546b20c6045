"""What is said of a run that was played."""

import json
from pathlib import Path

import pytest

from gateway.cli import playing
from gateway.replay.tape import Tape
from tests.helpers.tapes import a_take
from tests.replay.test_tape import missed, played, wanted


def a_tape() -> Tape:
    """Return a tape of which one call was played, one missed, and one is left."""
    tape = Tape("run_1", [a_take("call_1", 1), a_take("call_2", 2)])
    played(tape, wanted())
    missed(tape, wanted({"id": "i-9"}))
    return tape


def test_people_are_told_what_was_played_missed_and_left() -> None:
    first, miss, left = playing.lines(a_tape())
    assert first == ("playback of run_1: 1 of 2 recorded calls played, 1 missed, 1 never asked for")
    assert miss.startswith("missed           run_1 has no call of `crm__find` with these arguments")
    assert left == "never asked for  call_2 of `crm__find`"


def test_of_many_lines_people_are_told_how_many_more_there_are() -> None:
    tape = Tape("run_1", [a_take(f"call_{number}", number) for number in range(30)])
    told = playing.lines(tape)
    assert len(told) == 22
    assert told[-1] == "and 10 more; see `--report`"


def test_a_miss_is_exit_code_1_and_the_report_has_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    with pytest.raises(SystemExit) as ended:
        playing.conclude(a_tape(), report, as_json=True)
    assert ended.value.code == 1
    assert json.loads(report.read_text()) == json.loads(capsys.readouterr().out)


def test_over_stdio_the_summary_leaves_the_output_to_the_host(
    capsys: pytest.CaptureFixture[str],
) -> None:
    playing.conclude(Tape("run_1", []), None, as_json=False, to_stderr=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("playback of run_1: 0 of 0 recorded calls played")


def test_a_report_that_cannot_be_written_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        playing.conclude(Tape("run_1", []), tmp_path / "no/report.json", as_json=False)
    assert "can't be written: no such file or directory" in capsys.readouterr().err
