"""How answers are written, in each of their forms."""

import pytest

from gateway.cli import answering
from gateway.cli.answering import Period
from gateway.store.selection import Selection
from gateway.types.json import Json, JsonObject

ROW: JsonObject = {
    **{"time": "2026-11-30T09:00:00.000000Z", "revision": "sha256:" + "a" * 64, "n": 3},
    **{"diff": "-old\n+new\x1b[2J", "more": "hidden"},
}
NAMES = ("time", "revision", "n", "diff", "more")


def written(form: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    answering.write(form, NAMES, [ROW])
    return capsys.readouterr().out.splitlines()


def test_of_a_table_times_and_ids_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    assert written("table", capsys)[1].split()[:3] == ["2026-11-30T09:00:00", "a" * 12, "3"]


def test_a_difference_is_shown_below_a_line_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = written("table", capsys)
    assert lines[-2:] == ["-old", "+new\\u{1b}[2J"]


def test_programs_get_everything_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = written("json", capsys)
    assert line.startswith('{"time":"2026-11-30T09:00:00.000000Z","revision":"sha256:aaa')
    assert written("csv", capsys)[1].split(",")[1] == "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("a", "a"),
        (True, "yes"),
        (False, "no"),
        (3, "3"),
        (["a", 1], "a, 1"),
        ({"a": [1]}, '{"a":[1]}'),
    ],
)
def test_a_value_is_a_text_in_a_cell(value: Json, cell: str) -> None:
    assert answering.cell(value) == cell


def test_a_period_is_what_was_typed() -> None:
    period = Period(tenants=("acme",), since="", until="")
    assert period.wanted == Selection(tenants=("acme",))
    assert period.asked == {"tenant": ["acme"], "since": "", "until": ""}
    assert (period.tenant, Period(tenants=("a", "b")).tenant, Period().tenant) == ("acme", "", "")
