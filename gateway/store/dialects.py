"""From the URL of a store to the engine for it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.clock import Clock
from gateway.errors import ConfigurationError
from gateway.store import sqlite
from gateway.store.engine import Engine
from gateway.store.migrate import migrate

SQLITE: Final = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How to connect to one store; `path` is its file, if it has one."""

    connect: Callable[[float], Engine]  # the seconds to wait for locks of others
    path: Path | None
    prompt: Callable[[], Engine | None]  # for reads by whoever asks, if that takes no waiting


def dialect_of(url: str, clock: Clock, *, create: bool = True, erases: bool = False) -> Dialect:
    """Return the dialect for `sqlite:///path` or `postgresql://…`, and make the file of the former.

    With `erases`, a file keeps nothing of what is deleted. Raises ConfigurationError for other
    URLs, and when there is no such file and none is wanted.
    """
    if url.startswith(SQLITE):
        return _sqlite(Path(url.removeprefix(SQLITE)), clock, create=create, erases=erases)
    if url.startswith(("postgresql://", "postgres://")):
        return _postgres(url, clock)
    raise ConfigurationError(
        "not a store; write `sqlite:///weighbridge.db` or `postgresql://user@host/name`"
    )


def _sqlite(path: Path, clock: Clock, *, create: bool, erases: bool) -> Dialect:
    if create:
        sqlite.make_file(path)
    elif not path.exists():
        raise ConfigurationError(f"there is no store at `{path}`; start the gateway once")

    def connect(busy_s: float) -> Engine:
        return sqlite.SqliteEngine(
            path,
            prepare=lambda engine: migrate(engine, "sqlite", clock),
            busy_s=busy_s,
            erases=erases,
        )

    def prompt() -> Engine:  # once the tables are there
        return sqlite.SqliteEngine(path, prepare=lambda engine: None, busy_s=0.0)

    return Dialect(connect=connect, path=path, prompt=prompt)


def _postgres(url: str, clock: Clock) -> Dialect:
    try:
        from gateway.store import postgres  # noqa: PLC0415 - the driver is an extra
    except ImportError as error:
        raise ConfigurationError(
            "the store is PostgreSQL, but its driver is not installed; "
            "run `pip install 'weighbridge[postgres]'`"
        ) from error

    def connect(busy_s: float) -> Engine:
        return postgres.PostgresEngine(
            url, prepare=lambda engine: migrate(engine, "postgres", clock), busy_s=busy_s
        )

    return Dialect(connect=connect, path=None, prompt=lambda: None)
