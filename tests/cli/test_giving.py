"""The forms in which events are given out."""

from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from gateway.actions import columns
from gateway.cli import giving
from gateway.events.envelope import to_bytes
from gateway.store.events import StoredEvent
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event


def given(form: str, *names: str, **changes: Any) -> list[str]:
    said = list[str]()
    giver = giving.giver(form, names, said.append)
    event = an_event(id="e1", **changes)
    giver.give(StoredEvent(seq=3, body=to_bytes(event, ORIGIN)))
    giver.end()
    return "".join(said).splitlines()


def test_people_see_times_to_their_second_and_spreadsheets_all_of_them() -> None:
    assert given("table", "seq", "time")[1] == "3    2026-11-30T09:00:00"
    assert given("csv", "seq", "time")[1] == "3,2026-11-30T09:00:00.000000Z"


def test_a_program_gets_the_whole_event_with_its_number() -> None:
    (line,) = given("json")
    assert line.startswith('{"seq":3,"v":1,"id":"e1"')


def ran(*words: str) -> Result:
    @click.command()
    @giving.form_options("table", "json", "csv")
    def command(form: str | None, as_json: bool, as_csv: bool) -> None:
        click.echo(giving.form_of(form, as_json=as_json, as_csv=as_csv))

    return CliRunner().invoke(command, words)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ((), "table"),
        (("--json",), "json"),
        (("--csv",), "csv"),
        (("--format", "csv"), "csv"),
        (("--format", "json", "--json"), "json"),
    ],
)
def test_a_form_is_named_in_either_way(words: tuple[str, ...], form: str) -> None:
    assert ran(*words).output == f"{form}\n"


def test_two_forms_are_a_wrong_call() -> None:
    done = ran("--json", "--csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "weighbridge: name one form: `--format`, `--json` or `--csv`\n"


def test_spreadsheets_have_all_columns_and_people_the_usual_ones() -> None:
    assert giving.columns_of("", "csv", []) == tuple(columns.COLUMNS)
    assert giving.columns_of("", "table", ["run"]) == columns.OF_RUNS
    assert giving.columns_of("seq, tool", "csv", []) == ("seq", "tool")


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("seq,colour", "csv", "there is no column `colour`; there are seq, time"),
        ("seq", "json", "`--columns` is for tables and CSV"),
    ],
)
def test_a_column_that_cant_be_is_a_wrong_call(
    text: str, form: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        giving.columns_of(text, form, [])
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)
