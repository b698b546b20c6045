"""What a selection comes to in SQL: an index leads to what is rare, and a span holds the rest."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.store import queries, selection
from gateway.store.engine import Parameters, Row
from gateway.store.selection import Selection, Span
from gateway.store.store import Store
from tests.helpers.cases import NOW
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event


@pytest.mark.parametrize(
    ("wanted", "is_narrow"),
    [
        (Selection(), False),
        (Selection(tenants=("acme",)), False),
        (Selection(calls=("call_1",)), True),
        (Selection(runs=("run_1", "run_2")), True),
        (Selection(runs=("run_1", "")), False),  # most events are of no run
        (Selection(traces=("ab",)), True),
        (Selection(kinds=("admin",)), True),
        (Selection(kinds=("admin", "tool_call")), False),
        (Selection(decisions=("deny", "require_approval")), True),
        (Selection(decisions=("allow",)), False),
    ],
)
def test_what_an_index_leads_to_is_narrow(wanted: Selection, is_narrow: bool) -> None:
    assert wanted.is_narrow == is_narrow


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ({"method": "tools/call"}, True),
        ({"question": "elicitation/create", "method": "tools/call"}, False),
        ({"question": "", "method": "tools/call"}, True),
        ({"method": ["tools/call"]}, False),
        ({}, False),
    ],
)
def test_only_what_the_body_says_itself_counts(body: Any, fits: bool) -> None:
    assert Selection(methods=("tools/call",)).fits({"body": body}) == fits
    assert Selection().fits({"body": body})


def test_a_span_is_read_from_either_end() -> None:
    assert Span(1, 10).begun(4, newest_first=False) == (Span(1, 4), Span(5, 10))
    assert Span(1, 10).begun(4, newest_first=True) == (Span(7, 10), Span(1, 6))
    assert Span(1, 3).begun(4, newest_first=False)[1].is_empty
    assert Span(1, 3).begun(4, newest_first=True)[1].is_empty
    assert Span(1, 10).after(3, newest_first=False) == Span(4, 10)
    assert Span(1, 10).after(3, newest_first=True) == Span(1, 2)


class Explained:
    """Says how SQLite would find what is asked for, and finds nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.plans = list[str]()
        self._connection = connection

    def fetch(self, name: str, parameters: Parameters, *, where: str = "") -> list[Row]:
        text = queries.statements()[name].replace("{where}", where)
        found = self._connection.execute(f"EXPLAIN QUERY PLAN {text}", parameters)
        self.plans += [row[3] for row in found]
        return [Row({"first": 1, "last": 1})] if name == "span_of_events" else []


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (Selection(tenants=("acme",)), "sqlite_autoindex_events_1 (seq>? AND seq<?)"),
        (Selection(calls=("call_1",)), "events_by_call (call_id=?)"),
        (Selection(runs=("run_1",)), "events_of_run (run_id=? AND seq>? AND seq<?)"),
        (Selection(traces=("ab",)), "events_by_trace (trace_id=?)"),
        (Selection(kinds=("approval",)), "events_of_people (seq>? AND seq<?)"),
        (Selection(decisions=("deny",)), "events_refused (seq>? AND seq<?)"),
    ],
)
def test_an_index_leads_to_it(wanted: Selection, index: str, tmp_path: Path) -> None:
    Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN).close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        told: Any = Explained(connection)
        selection.within(told, wanted, Span(1, 20_000), 500, newest_first=False)
        assert f"SEARCH events USING INDEX {index}" in told.plans
        selection.span(told, Selection(since=NOW))
        covering = "SEARCH events USING COVERING INDEX events_by_time (at>?)"
        assert told.plans[-1] == covering


async def test_a_span_has_the_first_and_the_last_of_a_time(store: Store) -> None:
    hours = (5, 1, 9, 3)
    store.events.append([an_event(at=NOW + timedelta(hours=hour)) for hour in hours])
    await store.events.kept()

    async def of(**fields: Any) -> Span:
        wanted = Selection(**fields)
        return await store.events.read(lambda read: selection.span(read, wanted))

    assert await of() == Span(1, 4)
    assert await of(since=NOW + timedelta(hours=3)) == Span(1, 4)
    assert await of(until=NOW + timedelta(hours=4)) == Span(2, 4)
    assert await of(since=NOW + timedelta(hours=6)) == Span(3, 3)
    assert (await of(since=NOW + timedelta(hours=10))).is_empty
    assert await of(first=2, last=3) == Span(2, 3)
