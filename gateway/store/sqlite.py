"""SQLite: one file, private to its owner, many processes."""

import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from gateway.errors import ConfigurationError, LogChanged, StatementRefused, StoreUnavailable
from gateway.store import queries
from gateway.store.engine import Engine, Lock, Parameters, Row, Transaction, Value, numbered
from gateway.store.turns import give_way

_SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    # Pages of the log's indexes are written again and again: four times as many in one go (16 MB)
    # take a tenth less of the writer's time than what SQLite does by itself.
    "PRAGMA wal_autocheckpoint = 4000",
)
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"
_PAUSE_MS: Final = 10
# All texts in one, a line each, as no event has a line break in it.
_AT_ONCE: Final = """\
WITH found (number, body) AS ({query})
SELECT COUNT(*), group_concat(number), CAST(group_concat(ifnull(body, ''), char(10)) AS BLOB)
FROM found"""
_ONE_BY_ONE: Final = """\
WITH found (number, body) AS ({query}) SELECT number, CAST(body AS BLOB) FROM found"""
_OWN: Final = {  # statements that it does better, or in its own way
    "index_names": "index_names_of_sqlite",
    "index_counts": "index_counts_of_sqlite",
    "index_integrity": "index_integrity_of_sqlite",
}
_MOST_ROWS: Final = 64  # of one statement, which is a third of a millisecond
_NO_TEXT: Final = "Could not decode to UTF-8"
_REFUSED: Final = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError)
_FAULTS: Final = (sqlite3.Error, OSError)
_BUSY: Final = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED"})
_SAID: Final = {
    "SQLITE_BUSY": "the database is locked by another process",
    "SQLITE_LOCKED": "the database is locked",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the database is read-only",
    "SQLITE_CANTOPEN": "the database file can't be opened",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_CORRUPT": "the database file is damaged",
    "SQLITE_PERM": "the database file may not be used by this user",
}


class SqliteEngine:
    """A database file in WAL mode; see `Engine` for what it promises.

    A call waits at most `busy_s` seconds for the locks of other processes. The file is never made
    here: one that was moved away while the gateway runs must not begin anew, and empty. With
    `erases`, what is deleted or replaced is overwritten, and at the end leaves the file beside it
    that writes go through, unless somebody else reads just then.
    """

    def __init__(
        self,
        path: Path,
        *,
        prepare: Callable[[Engine], None],
        busy_s: float,
        erases: bool = False,
    ) -> None:
        self._path = path
        self._prepare = prepare
        self._busy_ms = round(busy_s * 1000)
        self._erases = erases
        self._connection: sqlite3.Connection | None = None
        self._durable: bool | None = None  # what the open connection is set to
        self._file: tuple[int, int] | None = None  # device and inode of what was opened

    @contextmanager
    def transaction(
        self, *, lock: Lock | None = None, durable: bool = True
    ) -> Generator[Transaction, None, None]:
        """Begin, and commit at the end of the block; the write lock of SQLite is every lock."""
        del lock
        with self._reported():
            connection = self._ready()
            if durable is not self._durable:
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            with _open(connection, "BEGIN IMMEDIATE"):
                yield _Transaction(connection)
            # A removed file takes commits as ever; this is how one finds out.
            self._check_file()

    def reading(self) -> "_Reading":
        """Begin a transaction that only reads."""
        return _Reading(self._ready, self._fault)

    def looking(self) -> "_Reading":
        """Do as `reading` does: it takes no time."""
        return self.reading()

    def has_table(self, name: str) -> bool:
        """Whether the database has such a table."""
        with self._reported():
            found = self._ready().execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)
            )
            return found.fetchone() is not None

    def close(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):  # nothing is under way that could be lost
                if self._erases:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with suppress(sqlite3.Error):
                connection.close()

    def _ready(self) -> sqlite3.Connection:
        if self._connection is not None:
            self._check_file()
            return self._connection
        self._connection = connection = self._connect()
        self._durable = None
        try:
            self._prepare(self)
        except BaseException:
            self.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        self._path.stat()  # says in the system's words why there is none
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw",  # never makes a file
            uri=True,
            timeout=self._busy_ms / 1000,
            isolation_level=None,
            check_same_thread=False,  # one thread at a time is the engine's own obligation
        )
        try:
            # Fails on a file of another kind, which stays as it is: its rights too.
            connection.execute("PRAGMA schema_version").fetchone()
            self._close_to_others()
            if self._mode(connection) != "wal":
                raise StoreUnavailable(f"`{self._path}` can't be used in WAL mode, as a store must")
            for setting in _SETTINGS:
                connection.execute(setting)
            if self._erases:
                connection.execute("PRAGMA secure_delete = ON")
            found = self._path.stat()
        except BaseException:
            connection.close()
            raise
        self._file = found.st_dev, found.st_ino
        return connection

    def _mode(self, connection: sqlite3.Connection) -> str:
        """Write ahead from now on, and return how the database is written to.

        Of several processes that begin with an empty one, SQLite has all but the first fail at
        once, whatever the time-out.
        """
        for _ in range(self._busy_ms // _PAUSE_MS):
            try:
                return connection.execute(_WRITE_AHEAD).fetchone()[0]
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                    raise
                time.sleep(_PAUSE_MS / 1000)
        return connection.execute(_WRITE_AHEAD).fetchone()[0]

    def _close_to_others(self) -> None:
        """Take a database, and what SQLite keeps beside it, away from everybody but its owner."""
        for suffix in ("", "-wal", "-shm"):
            path = self._path.with_name(self._path.name + suffix)
            with suppress(FileNotFoundError):
                if path.stat().st_mode & 0o077:
                    path.chmod(0o600)

    def _check_file(self) -> None:
        found = self._path.stat()
        if (found.st_dev, found.st_ino) != self._file:
            raise FileNotFoundError(self._path)

    @contextmanager
    def _reported(self) -> Generator[None, None, None]:
        """Say in words what the driver or the system says in codes; drop a broken connection."""
        try:
            yield
        except _FAULTS as error:
            raise self._fault(error) from error

    def _fault(self, error: sqlite3.Error | OSError) -> StoreUnavailable:
        if isinstance(error, OSError):
            self.close()
            said = os.strerror(error.errno or 0).lower()
            if isinstance(error, FileNotFoundError):
                said = "the file is gone; put it back, or restart to begin a new store"
            return StoreUnavailable(f"`{self._path}`: {said}")
        code = getattr(error, "sqlite_errorname", "")
        primary = "_".join(code.split("_")[:2])
        if primary not in _BUSY:
            self.close()
        said = _SAID.get(primary, str(error) or "unknown fault")
        if said.startswith(_NO_TEXT):  # and goes on with what it could not read
            said = "a text in the database is not UTF-8; was its file changed?"
        kind = StatementRefused if isinstance(error, _REFUSED) else StoreUnavailable
        return kind(f"`{self._path}`: {said}")


def make_file(path: Path) -> None:
    """Make a new database's folder and file, for their owner only; what exists is left as it is.

    INVARIANT: a file that exists is never opened here. Closing any descriptor of it would drop the
    locks of this process's other connections (POSIX), and the next process to leave would then
    remove the write-ahead log under them.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise ConfigurationError(
            f"`{path.parent}`: {reason}; choose another folder for the store"
        ) from error


class _Reading:
    """A transaction that only reads; no generator, since every call of a run goes through it."""

    __slots__ = ("_connection", "_fault", "_ready")

    def __init__(
        self,
        ready: Callable[[], sqlite3.Connection],
        fault: Callable[[sqlite3.Error | OSError], StoreUnavailable],
    ) -> None:
        self._ready = ready
        self._fault = fault
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Transaction:
        try:
            self._connection = connection = self._ready()
            connection.execute("BEGIN")
        except _FAULTS as error:
            raise self._fault(error) from error
        return _Transaction(connection)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        del kind, trace
        connection = self._connection
        if connection is None:
            return
        try:
            connection.execute("ROLLBACK" if error is not None else "COMMIT")
        except _FAULTS as fault:
            if error is None:  # else what led here says more
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise self._fault(fault) from fault
        if isinstance(error, _FAULTS):
            raise self._fault(error) from error


@contextmanager
def _open(connection: sqlite3.Connection, begin: str) -> Generator[None, None, None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the fault that led here says more
                connection.execute("ROLLBACK")
        raise


def _powers_of_two(total: int) -> Iterator[int]:
    """Yield the largest that fit into the total, one after the other."""
    while total:
        power = min(1 << (total.bit_length() - 1), _MOST_ROWS)
        yield power
        total -= power


class _Transaction:
    """Statements on an open transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, name: str, parameters: Parameters) -> int:
        return self._connection.execute(queries.statements()[name], parameters).rowcount

    def execute_many(self, name: str, parameters: Sequence[Parameters]) -> int:
        return self._connection.executemany(queries.statements()[name], parameters).rowcount

    def insert(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        """Insert rows in as few steps as statements of so many rows allow that stay prepared."""
        left = iter(rows)
        try:
            for count in _powers_of_two(len(rows)):
                text, names = queries.of_rows(f"{name}_at_once", count)
                if names != columns:
                    raise LookupError(f"`{name}` has other columns, or in another order")
                values = [*chain.from_iterable(islice(left, count))]
                self._connection.execute(text, values)
                give_way()
        except sqlite3.IntegrityError:  # the statement for one knows what to do then
            named = (dict(zip(columns, row, strict=True)) for row in rows)
            self._connection.executemany(queries.statements()[name], named)

    def fetch(self, name: str, parameters: Parameters, *, where: str = "") -> list[Row]:
        text = queries.statements()[_OWN.get(name, name)].replace("{where}", where)
        try:
            cursor = self._connection.execute(text, parameters)
            rows = cursor.fetchall()
        except sqlite3.OperationalError:
            if name not in _OWN:
                raise
            cursor = self._connection.execute(queries.statements()[name], parameters)
            rows = cursor.fetchall()
        if not rows:  # as where a claim looks for what stands in its way
            return []
        columns = next(zip(*cursor.description, strict=True))  # the names: the first of each column
        return [Row(dict(zip(columns, values, strict=True))) for values in rows]

    def fetch_numbered(
        self, name: str, parameters: Parameters, *, where: str = ""
    ) -> list[tuple[int, str]]:
        text = queries.statements()[name].replace("{where}", where)
        return numbered(self._connection.execute(text, parameters).fetchall())

    def fetch_texts(self, name: str, parameters: Parameters) -> list[tuple[int, bytes]]:
        """Have them in one row: each row gives the interpreter's lock away, and wins it back."""
        query = queries.statements()[name]
        count, numbers, texts = self._one(_AT_ONCE.format(query=query), parameters)
        return _lines(count, numbers, texts) or self._one_by_one(name, parameters)

    def fetch_doubted(
        self, name: str, parameters: Parameters
    ) -> tuple[list[tuple[int, bytes]], list[int]]:
        text = queries.statements()[f"{name}_at_once"]
        with suppress(sqlite3.OperationalError):  # a column is of a type that it can't compare
            count, numbers, texts, doubted = self._one(text, parameters)
            rows = sorted(_lines(count, numbers, texts))
            if rows or not count:
                return rows, _numbers(doubted)
        rows = self._one_by_one(name, parameters)
        return rows, [number for number, _ in rows]

    def _one(self, text: str, parameters: Parameters) -> tuple[Any, ...]:
        """Return the only row of a query."""
        return self._connection.execute(text, parameters).fetchone()

    def _one_by_one(self, name: str, parameters: Parameters) -> list[tuple[int, bytes]]:
        text = _ONE_BY_ONE.format(query=queries.statements()[name])
        rows = self._connection.execute(text, parameters).fetchall()
        return [(number, body or b"") for number, body in rows]

    def script(self, text: str) -> None:
        """Run statement by statement: `executescript` would commit what is open."""
        statement = ""
        for line in text.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._connection.execute(statement)
                statement = ""


def _lines(count: int, numbers: str | None, texts: bytes | None) -> list[tuple[int, bytes]]:
    """Return numbered texts that came a line each; none where one of them has lines of its own."""
    lines = texts.split(b"\n") if texts is not None else []
    return list(zip(_numbers(numbers), lines, strict=True)) if len(lines) == count else []


def _numbers(listed: str | None) -> list[int]:
    """Read numbers that came as a list; raises LogChanged."""
    try:
        return [int(each) for each in listed.split(",")] if listed else []
    except ValueError as error:
        raise LogChanged("an event in the store has no whole number") from error
