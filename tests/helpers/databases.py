"""Stores for tests: SQLite in a temporary folder, and a real PostgreSQL with a database a test."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.events.envelope import Origin
from gateway.ids import ulid
from gateway.store.dialects import dialect_of
from gateway.store.engine import Engine
from gateway.store.events import EventLog
from gateway.store.store import Store
from gateway.store.worker import Worker
from tests.helpers.shared_postgres import PostgresServer, prepare, shared_postgres

ORIGIN = Origin(instance="test-1", version="0.0.0")
ENGINES = (pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with shared_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def prepared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a file, with all tables and no rows, to be copied."""
    path = tmp_path_factory.mktemp("prepared") / "weighbridge.db"
    prepare(f"sqlite:///{path}")
    return path


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def blank_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database that no gateway has opened yet, on each engine in turn."""
    if engine_name == "sqlite":
        yield f"sqlite:///{tmp_path / 'store' / 'weighbridge.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = f"t{ulid().lower()}"
    yield server.create(name)
    server.drop(name)


@pytest.fixture
def store_url(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store, on each engine in turn."""
    if engine_name == "sqlite":
        path = tmp_path / "store" / "weighbridge.db"
        path.parent.mkdir(mode=0o700)
        shutil.copy(request.getfixturevalue("prepared_file"), path)
        yield f"sqlite:///{path}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.lent() as url:
        yield url


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


async def recovered(log: EventLog) -> None:
    """Wait until the log is written again, after an outage.

    Whoever comes while a commit of before is still under way, for which another has waited in vain,
    is refused at once.
    """
    async with asyncio.timeout(15):
        while True:
            with suppress(StoreUnavailable):
                return await log.kept()
            await asyncio.sleep(0.01)


def _move(old: Path, new: Path) -> None:
    old.rename(new)
