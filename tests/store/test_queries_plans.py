"""No statement about operations reads the whole table to find a few rows, on either engine."""

import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

import psycopg
import pytest

from gateway.store import events as log
from gateway.store import queries
from gateway.store.engine import Engine
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter, conditions

Connect = Callable[..., Engine]
Explain = Callable[[str], str]

# How many rows these read is in their nature: one counts them all.
_WHOLE = {"count_operations"}
_CHANGES = re.compile(r"^(SELECT|UPDATE|DELETE)")
_SINCE = datetime(2026, 11, 30, tzinfo=UTC)
_LISTS = {
    "all": OperationFilter(),
    "of a usual state": OperationFilter(state="succeeded"),
    "under way": OperationFilter(state="dispatching"),
    "of an unusual state": OperationFilter(state="indeterminate"),
    "of a tenant": OperationFilter(tenant="acme"),
    "of a tenant since a time": OperationFilter(tenant="acme", since=_SINCE),
    "of a user": OperationFilter(user="ann"),
    "since a time": OperationFilter(since=_SINCE),
    "whose check failed": OperationFilter(verification="failed"),
}
_OF_OPERATIONS = {
    name: text
    for name, text in queries.statements().items()
    if re.search(r"\b(FROM|UPDATE) operations\b", text)
    and _CHANGES.match(text)
    and "{where}" not in text
    and name not in _WHOLE
}
_ASKED = _OF_OPERATIONS | {
    f"list {name}": queries.statements()["list_operations"].replace(
        "{where}", conditions(wanted)[0]
    )
    for name, wanted in _LISTS.items()
}


@pytest.fixture
def explain(store_url: str, connect: Connect) -> Explain:
    """Says how an engine finds the rows of a statement; nothing is carried out."""
    with connect().reading():  # the tables are there now
        pass
    if store_url.startswith("sqlite"):
        return lambda text: _of_sqlite(store_url.removeprefix("sqlite:///"), text)
    return lambda text: _of_postgres(store_url, text)


def _of_sqlite(path: str, text: str) -> str:
    names = dict.fromkeys(re.findall(r":([a-z_]+)", text), 0)
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {text}", names).fetchall()
    finally:
        connection.close()
    return "\n".join(str(row[3]) for row in rows)


def _of_postgres(url: str, text: str) -> str:
    listed = r"jsonb_array_elements_text(CAST(\1 AS jsonb)) AS each(value)"
    text = re.sub(r"json_each\((:[a-z_]+)\)", listed, text)  # as `queries.psycopg_form` has it
    # Without values, as a prepared statement is planned; of an empty table it would read it all.
    nulls = re.sub(r"(?<![:\w]):([a-z_]+)", "NULL", text)
    number = iter(range(1, 100))
    places = re.sub(r"(?<![:\w]):([a-z_]+)", lambda _: f"${next(number)}", text)
    count = nulls.count("NULL")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        connection.execute(f"PREPARE asked AS {places}".encode())
        values = f"({', '.join(['NULL'] * count)})" if count else ""
        rows = connection.execute(f"EXPLAIN EXECUTE asked{values}".encode()).fetchall()
    return "\n".join(str(row[0]) for row in rows)


@pytest.mark.parametrize("name", _ASKED)
def test_a_statement_about_operations_finds_its_rows_by_an_index(
    name: str, explain: Explain
) -> None:
    plan = explain(_ASKED[name])
    assert "operations" in plan
    assert not re.search(r"Seq Scan|SCAN operations(?! USING)", plan), plan


@pytest.mark.parametrize(
    ("name", "index"),
    [("forget_operations", "operations_ended"), ("forget_outcomes", "operations_told")],
)
def test_what_is_let_go_of_is_found_by_its_time(name: str, index: str, explain: Explain) -> None:
    plan = explain(_ASKED[name])
    if "SEARCH" in plan:  # an empty table leaves PostgreSQL the choice among indexes
        assert re.search(rf"USING INDEX {index} \(state=\? AND \w+>\? AND \w+<\?\)", plan), plan


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("list under way", "operations_by_lease"),
        ("list of an unusual state", "operations_unusual (state=?)"),
        ("list whose check failed", "operations_unverified (verification=?)"),
    ],
)
def test_a_list_of_what_is_rare_reads_nothing_else(name: str, index: str, explain: Explain) -> None:
    plan = explain(_ASKED[name])
    if "SEARCH" in plan or "SCAN" in plan:
        assert f"USING INDEX {index}" in plan


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (EventFilter(run="run_1"), "events_of_run (run_id=?"),
        (EventFilter(run="run_1", after=7), "events_of_run (run_id=?"),
        (EventFilter(call="01K"), "events_by_call (call_id=?"),
        (EventFilter(trace="0af7"), "events_by_trace (trace_id=?"),
        (EventFilter(after=7), "sqlite_autoindex_events_1 (seq>?"),
    ],
)
@pytest.mark.parametrize("name", ["query_events", "query_events_newest"])
def test_events_of_a_run_a_call_or_a_trace_are_found_by_an_index(
    name: str, wanted: EventFilter, index: str, explain: Explain
) -> None:
    where, _ = log.conditions(wanted)
    plan = explain(queries.statements()[name].replace("{where}", where))
    assert not re.search(r"Seq Scan|SCAN events(?! USING)", plan), plan
    if "SEARCH" in plan:
        assert f"USING INDEX {index}" in plan


def test_whoever_claims_looks_at_the_same_open_calls_only_and_not_at_all_of_the_tenant(
    explain: Explain,
) -> None:
    plan = explain(_ASKED["open_operation"])
    if "SEARCH" in plan:
        by = "operations_open (tenant=? AND actor_user=? AND args_hash=?)"
        assert f"USING INDEX {by}" in plan


@pytest.mark.parametrize("name", _WHOLE)
def test_what_counts_them_all_is_still_there(name: str) -> None:
    assert name in queries.statements()
