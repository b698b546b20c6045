import psycopg
import pytest

from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.store.dialects import dialect_of
from gateway.store.engine import Lock
from tests.helpers.databases import PostgresServer

pytestmark = pytest.mark.postgres


@pytest.fixture
def engine_name() -> str:
    return "postgres"


def test_a_connection_that_went_stale_while_idle_costs_nobody_anything(
    store_url: str, postgres_server: PostgresServer
) -> None:
    engine = dialect_of(store_url, SystemClock()).connect(1)
    with engine.transaction():
        pass
    with psycopg.connect(postgres_server.url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'weighbridge'"
        )
    with engine.transaction(lock=Lock.EVENTS) as transaction:
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
    engine.close()


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    url = "postgresql://u:s3cr@127.0.0.1:1/db"
    engine = dialect_of(url, SystemClock()).connect(1)
    with pytest.raises(StoreUnavailable) as caught, engine.transaction():
        pass
    assert "127.0.0.1/db" in str(caught.value)
    assert "s3cr" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_became_read_only_is_named(store_url: str) -> None:
    """case: OBS-03"""
    engine = dialect_of(store_url, SystemClock()).connect(1)
    with engine.transaction():
        pass
    engine.close()
    read_only = store_url + "&options=-c%20default_transaction_read_only%3Don"
    engine = dialect_of(read_only, SystemClock()).connect(1)
    with pytest.raises(StoreUnavailable, match="read-only"), engine.transaction() as transaction:
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
    engine.close()
