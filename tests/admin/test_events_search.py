"""What is typed into the search of events."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest
from starlette.datastructures import QueryParams

from gateway.admin.events_search import Cursor, cursor, moment, read

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def test_every_field_is_a_condition() -> None:
    found = read(
        QueryParams("actor=sam&tool=pay.refund&decision=deny&status=denied&rule=r&code=c"), NOW
    )
    wanted = found.wanted
    assert (wanted.actors, wanted.tools, wanted.rules) == (("sam",), ("pay.refund",), ("r",))
    assert wanted.codes == ("c",)
    assert (wanted.decisions, wanted.statuses, wanted.kinds) == (("deny",), ("denied",), ())
    assert dict(parse_qsl(found.query))["tool"] == "pay.refund"
    assert read(QueryParams(""), NOW).is_any


@pytest.mark.parametrize(
    ("query", "name", "said"),
    [
        ("decision=dance", "decision", "is none of"),
        ("kind=x", "kind", "model_turn"),
        ("since=soon", "since", "neither a time"),
        ("until=99999999999d", "until", "neither a time"),
        (f"tool={'x' * 301}", "tool", "300 characters"),
        ("since=1h&until=2h", "until", "not later"),
    ],
)
def test_what_makes_no_sense_is_named_and_kept(query: str, name: str, said: str) -> None:
    found = read(QueryParams(query), NOW)
    assert said in found.faults[name]
    assert found.given[name]


def test_times_are_in_utc_or_an_age() -> None:
    assert moment("", NOW) is None
    assert moment("24h", NOW) == NOW - timedelta(days=1)
    assert moment("2026-11-29T09:00", NOW) == NOW - timedelta(days=1)
    assert moment("2026-11-29T10:00+01:00", NOW) == NOW - timedelta(days=1)


@pytest.mark.parametrize("page", ["", "x.y", "-1.z", "9" * 30, "1²"])
def test_a_cursor_of_nobodys_begins_anew(page: str) -> None:
    assert cursor(QueryParams({"page": page})) == Cursor()
    assert cursor(QueryParams("page=17.abc")) == Cursor(at=17, mark="abc")
