"""SQLite: one file, private to its owner, many processes."""

import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError, StatementRefused, StoreUnavailable
from gateway.store.engine import Engine, Lock, Transaction
from gateway.store.sqlite_reads import FAULTS, Looking, Reading
from gateway.store.sqlite_statements import Statements

_SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    # Pages of the log's indexes are written again and again: the more in one go, the less often.
    # As many as the file beside the database may keep (64 MB).
    "PRAGMA wal_autocheckpoint = 8000",
)
# Of a new database. Three events of a call are some 5 kB: fewer pages, with less left over in each,
# take some hundredths less of the processor; 16 kB cost a lone write more than that is worth.
_PAGE_BYTES: Final = 8192
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"
_PAUSE_MS: Final = 10
_SURE_S: Final = 0.01  # after a look whether the file is there, small reads have no other
_NO_TEXT: Final = "Could not decode to UTF-8"
_REFUSED: Final = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError)
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
        self._sure_until = 0.0  # on the monotonic clock: the file was there not long before

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
                yield Statements(connection)
            # A removed file takes commits as ever; this is how one finds out.
            self._check_file()

    def reading(self) -> Reading:
        """Begin a transaction that only reads."""
        return Reading(self._ready, self._fault)

    def looking(self) -> Looking:
        """Read without a transaction, which would take as long as the statement of a small read."""
        return Looking(self._ready_lately, self._fault)

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

    def _ready_lately(self) -> sqlite3.Connection:
        """Return the connection, whose file was there a moment ago or is looked for now.

        For calls that follow one another: each look gives the interpreter's lock away.
        """
        connection, now = self._connection, time.monotonic()
        if connection is None or now >= self._sure_until:
            connection, self._sure_until = self._ready(), now + _SURE_S
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
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of an empty file
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
        except FAULTS as error:
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
