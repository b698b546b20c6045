"""Reads of SQLite: in a transaction, or statement by statement.

No generators, since every call of a run goes through one of them.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from gateway.errors import StoreUnavailable
from gateway.store.engine import Transaction
from gateway.store.sqlite_statements import Statements

FAULTS: Final = (sqlite3.Error, OSError)


class Looking:
    """Statements that only read, each by itself."""

    __slots__ = ("_fault", "_ready")

    def __init__(
        self,
        ready: Callable[[], sqlite3.Connection],
        fault: Callable[[sqlite3.Error | OSError], StoreUnavailable],
    ) -> None:
        self._ready = ready
        self._fault = fault

    def __enter__(self) -> Transaction:
        try:
            return Statements(self._ready())
        except FAULTS as error:
            raise self._fault(error) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FAULTS):
            raise self._fault(error) from error


class Reading:
    """A transaction that only reads."""

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
        except FAULTS as error:
            raise self._fault(error) from error
        return Statements(connection)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        del kind, trace
        connection = self._connection
        if connection is None:
            return
        try:
            connection.execute("ROLLBACK" if error is not None else "COMMIT")
        except FAULTS as fault:
            if error is None:  # else what led here says more
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise self._fault(fault) from fault
        if isinstance(error, FAULTS):
            raise self._fault(error) from error
