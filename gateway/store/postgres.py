"""PostgreSQL: one database, any number of gateways."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import conninfo, rows

from gateway.clock import Clock, SystemClock
from gateway.errors import ConfigurationError, StatementRefused, StoreUnavailable
from gateway.store import queries
from gateway.store.engine import Engine, Lock, Parameters, Row, Transaction, Value, numbered

_LOCK_CLASS: Final = 0x57424A31  # keeps our advisory locks apart from those of other programs
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"  # a lock's holder must see what came before
_STATEMENT_S: Final = 10
_NOW: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now"
# Times in rows are compared with the clocks of all gateways: until when a decision counts, a lease.
_MOST_APART_S: Final = 5.0
_REFUSED: Final = (psycopg.IntegrityError, psycopg.DataError, psycopg.ProgrammingError)
_DEFAULTS: Final = {
    "application_name": "weighbridge",
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # ms: keepalives don't count while a request is unacknowledged
}

_Connection: TypeAlias = psycopg.Connection[dict[str, Any]]


class PostgresEngine:
    """A connection to a PostgreSQL database; see `Engine` for what it promises.

    A statement waits at most `busy_s` seconds for the locks of others.
    """

    def __init__(
        self,
        url: str,
        *,
        prepare: Callable[[Engine], None],
        busy_s: float,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        try:
            place = conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            raise ConfigurationError(
                "the store's URL can't be read; write it like `postgresql://user@host/name`"
            ) from None
        self._url = url
        self._name = f"postgresql {place.get('host', 'localhost')}/{place.get('dbname', '')}"
        options = f"-c lock_timeout={round(busy_s * 1000)} -c statement_timeout={_STATEMENT_S}s"
        self._options = f"{place.get('options') or ''} {options}".strip()
        self._prepare = prepare
        self._connection: psycopg.Connection[dict[str, Any]] | None = None

    @contextmanager
    def transaction(
        self, *, lock: Lock | None = None, durable: bool = True
    ) -> Generator[Transaction, None, None]:
        """Begin, take the advisory lock, and commit at the end of the block.

        Under a lock the machine's clock is held against the database's: whoever goes by another
        time than the others changes nothing that they go by.
        """
        begin = _BEGIN
        if not durable:
            begin += "; SET LOCAL synchronous_commit = off"
        if lock is not None:
            begin += f"; SELECT pg_advisory_xact_lock({_LOCK_CLASS}, {int(lock)}); {_NOW}"
        with self._reported():
            began = self._now()
            connection, answer = self._begun(begin)  # one round trip
            with _open(connection):
                if lock is not None:
                    self._compare(_last(answer).fetchone(), began)
                yield _Transaction(connection)

    @contextmanager
    def reading(self) -> Generator[Transaction, None, None]:
        """Begin a transaction that only reads."""
        with self._reported():
            connection, _ = self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with _open(connection):
                yield _Transaction(connection)

    @contextmanager
    def looking(self) -> Generator[Transaction, None, None]:
        """Read without a transaction: to begin one and to end it are two of three round trips."""
        with self._reported():
            yield _Transaction(self._ready())

    def has_table(self, name: str) -> bool:
        """Whether the database has such a table."""
        with self._reported():
            found = self._ready().execute("SELECT to_regclass(%s) AS oid", (name,)).fetchone()
            return found is not None and found["oid"] is not None

    def close(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):  # nothing is under way that could be lost
                connection.close()

    def _now(self) -> int:
        return self._clock.time_ns() // 1_000

    def _compare(self, row: dict[str, Any] | None, began: int) -> None:
        """Raise StoreUnavailable when the clocks differ by more than the answer has taken."""
        now = int(row["now"]) if row is not None else began
        ahead_s, behind_s = (began - now) / 1e6, (now - self._now()) / 1e6
        if max(ahead_s, behind_s) > _MOST_APART_S:
            apart = f"{ahead_s:.0f} s ahead of" if ahead_s > 0 else f"{behind_s:.0f} s behind"
            raise StoreUnavailable(
                f"`{self._name}`: the clock of this machine is {apart} that of the database; have "
                f"both go by one time server, {_MOST_APART_S:g} s apart at most"
            )

    def _begun(self, begin: str) -> tuple[_Connection, psycopg.Cursor[dict[str, Any]]]:
        """Begin a transaction; a connection that went stale while idle is replaced at once."""
        connection = self._ready()
        try:
            return connection, connection.execute(begin.encode())
        except psycopg.Error:
            stale = connection.closed
            self.close()
            if not stale:
                raise
            connection = self._ready()
            return connection, connection.execute(begin.encode())

    def _ready(self) -> psycopg.Connection[dict[str, Any]]:
        if self._connection is not None:
            return self._connection
        connection = psycopg.Connection[dict[str, Any]].connect(
            conninfo.make_conninfo(self._url, **_DEFAULTS, options=self._options),
            autocommit=True,
            row_factory=rows.dict_row,
        )
        self._connection = connection
        try:
            self._prepare(self)
        except BaseException:
            self.close()
            raise
        return connection

    @contextmanager
    def _reported(self) -> Generator[None, None, None]:
        """Say in one line what the driver says in several; drop a broken connection."""
        try:
            yield
        except psycopg.Error as error:
            if self._connection is not None and (
                self._connection.closed or isinstance(error, psycopg.OperationalError)
            ):
                self.close()
            said = error.diag.message_primary or str(error).strip().partition("\n")[0]
            if isinstance(error, psycopg.errors.LockNotAvailable):
                said = "the database is locked by another process"
            kind = StatementRefused if isinstance(error, _REFUSED) else StoreUnavailable
            raise kind(f"`{self._name}`: {said or 'no connection'}") from error


def _last(answer: psycopg.Cursor[dict[str, Any]]) -> psycopg.Cursor[dict[str, Any]]:
    """Go on to the result of the last of several statements."""
    while answer.nextset():
        pass
    return answer


@contextmanager
def _open(connection: psycopg.Connection[dict[str, Any]]) -> Generator[None, None, None]:
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(psycopg.Error):  # the fault that led here says more
            connection.execute("ROLLBACK")
        raise


class _Transaction:
    """Statements on an open transaction."""

    def __init__(self, connection: psycopg.Connection[dict[str, Any]]) -> None:
        self._connection = connection

    def execute(self, name: str, parameters: Parameters) -> int:
        return self._connection.execute(_statement(name), parameters).rowcount

    def execute_many(self, name: str, parameters: Sequence[Parameters]) -> int:
        cursor = self._connection.cursor()
        cursor.executemany(_statement(name), parameters)
        return cursor.rowcount

    def insert(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> bool:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        return self.execute_many(name, named) == len(rows)

    def fetch(self, name: str, parameters: Parameters, *, where: str = "") -> list[Row]:
        found = self._connection.execute(_statement(name, where), parameters).fetchall()
        return [Row(columns) for columns in found]

    def fetch_numbered(
        self, name: str, parameters: Parameters, *, where: str = ""
    ) -> list[tuple[int, str]]:
        with self._connection.cursor(row_factory=rows.tuple_row) as cursor:
            return numbered(cursor.execute(_statement(name, where), parameters).fetchall())

    def fetch_texts(self, name: str, parameters: Parameters) -> list[tuple[int, bytes]]:
        """The driver has all rows at once anyway."""
        with self._connection.cursor(row_factory=rows.tuple_row) as cursor:
            found = cursor.execute(_statement(name), parameters).fetchall()
        return [(number, text.encode()) for number, text in found]

    def fetch_doubted(
        self, name: str, parameters: Parameters
    ) -> tuple[list[tuple[int, bytes]], list[int]]:
        found = self.fetch_texts(name, parameters)
        return found, [number for number, _ in found]

    def script(self, text: str) -> None:
        """Run all statements at once; the driver allows that where there are no parameters."""
        self._connection.execute(text.encode())


@lru_cache(maxsize=1024)
def _statement(name: str, where: str = "") -> bytes:
    text = queries.statements()[name].replace("{where}", where)
    return queries.psycopg_form(text).encode()
