from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway.store import queries
from gateway.store.engine import Engine

Connect = Callable[..., Engine]
ALL = [number for number, _, _ in queries.migrations("sqlite")]


@pytest.fixture
def store_url(blank_url: str) -> str:
    """Nothing was migrated yet."""
    return blank_url


def applied(engine: Engine) -> list[int]:
    with engine.reading() as reading:
        return [row.integer("number") for row in reading.fetch("applied_migrations", {})]


def test_a_new_database_gets_all_tables_once(connect: Connect) -> None:
    assert applied(connect()) == ALL
    assert applied(connect()) == ALL


def test_gateways_that_start_together_migrate_once(connect: Connect) -> None:
    engines = [connect(busy_s=5) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(applied, engines)) == [ALL] * 4


def test_a_database_that_is_newer_is_left_as_it_is(connect: Connect) -> None:
    with connect().transaction() as transaction:
        transaction.execute("applied_migration", {"number": 99, "name": "future", "at": 0})
    assert applied(connect()) == [*ALL, 99]
