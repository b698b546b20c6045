import pytest

from gateway.events.faults import FaultKind
from gateway.store import indexes
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from tests.helpers.databases import Connect
from tests.helpers.tampering import tamper, write


async def a_log(store: Store) -> None:
    await write(store, 5)
    await write(store, 2, run="run_1")
    said = {"action": "log_hold_set", "tenant": "acme"}
    await write(store, 1, kind=EventKind.ADMIN, stage=Stage.RECORDED, body=said)


def found(connect: Connect, *, are_doubted: bool = False) -> list[str]:
    with connect().reading() as reading:
        faults = indexes.faults(reading, are_doubted=are_doubted)
    assert all(fault.kind is FaultKind.COLUMNS for fault in faults)
    return [fault.what for fault in faults]


async def test_indexes_as_they_were_made_hold_every_event(store: Store, connect: Connect) -> None:
    assert found(connect) == []
    await a_log(store)
    assert found(connect) == found(connect, are_doubted=True) == []


@pytest.mark.parametrize("name", ["events_by_call", "events_of_people", "events_of_run"])
async def test_an_index_that_lacks_rows_behind_its_description_is_named(
    store: Store, connect: Connect, store_url: str, name: str
) -> None:
    if not store_url.startswith("sqlite"):  # elsewhere nobody can change a description
        return
    await a_log(store)
    ((made,),) = tamper(store_url, f"SELECT sql FROM sqlite_master WHERE name = '{name}'")
    column = made.partition("(")[2].partition(")")[0]
    is_partial = " WHERE " in made
    some = f"CREATE INDEX {name} ON events ({column}) WHERE seq > 100"
    told = made.replace("'", "''")
    tamper(
        store_url,
        f"DROP INDEX {name}",
        some,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = '{told}' WHERE name = '{name}'",
    )
    (what,) = found(connect)
    assert what.startswith(f"the index `{name}` holds 0 events, and has to hold ")
    assert is_partial or what.endswith(" 8")


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("events_by_call", "CASE WHEN seq = 4 THEN 'x' ELSE call_id END"),
        ("events_of_run", "run_id, seq + 1"),
    ],
)
async def test_an_index_of_as_many_events_under_other_keys_is_named(
    store: Store, connect: Connect, store_url: str, name: str, column: str
) -> None:
    if not store_url.startswith("sqlite"):
        return
    await a_log(store)
    await write(store, 1, body={"decision": "deny"})
    ((made,),) = tamper(store_url, f"SELECT sql FROM sqlite_master WHERE name = '{name}'")
    other = made.partition("(")[0] + f"({column})" + made.partition(")")[2]
    told = made.replace("'", "''")
    tamper(
        store_url,
        f"DROP INDEX {name}",
        other,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = '{told}' WHERE name = '{name}'",
    )
    assert found(connect) == []
    assert f"missing from index {name}" in found(connect, are_doubted=True)[0]


async def test_indexes_that_are_missing_or_of_somebody_else_are_named(
    store: Store, connect: Connect, store_url: str
) -> None:
    await a_log(store)
    tamper(store_url, "CREATE INDEX other ON events (tool)", "DROP INDEX events_by_call")
    assert found(connect) == [
        "the index `events_by_call` is missing",
        "`other` is no index of the store, and queries may go by it",
    ]


async def test_an_index_under_another_description_is_told(
    store: Store, connect: Connect, store_url: str
) -> None:
    if not store_url.startswith("sqlite"):
        return
    tamper(
        store_url,
        "DROP INDEX events_by_call",
        "CREATE INDEX events_by_call ON events (call_id) WHERE call_id <> 'x'",
    )
    assert found(connect) == ["the indexes of the events aren't as they were made"]
