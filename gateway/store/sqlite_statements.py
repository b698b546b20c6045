"""Statements on a connection to SQLite."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final

from gateway.errors import LogChanged
from gateway.store import queries
from gateway.store.engine import Parameters, Row, Value, numbered
from gateway.store.turns import give_way

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


def _pieces(total: int) -> Iterator[tuple[int, int]]:
    """Yield powers of two that make up the total, and how often each comes, the largest first."""
    many, total = divmod(total, _MOST_ROWS)
    if many:
        yield _MOST_ROWS, many
    while total:
        power = 1 << (total.bit_length() - 1)
        yield power, 1
        total -= power


def _values(left: Iterator[Sequence[Value]], count: int, times: int) -> Iterator[list[Value]]:
    """Yield the values of so many rows for one statement; whoever waits has a turn in between."""
    for _ in range(times):
        yield [*chain.from_iterable(islice(left, count))]
        give_way()


class Statements:
    """Statements on an open transaction, or each by itself; see `Transaction`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, name: str, parameters: Parameters) -> int:
        """Run one statement; return how many rows it changed."""
        return self._connection.execute(queries.statements()[name], parameters).rowcount

    def execute_many(self, name: str, parameters: Sequence[Parameters]) -> int:
        """Run one statement with each of several sets of parameters, in order."""
        return self._connection.executemany(queries.statements()[name], parameters).rowcount

    def insert(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> bool:
        """Insert rows in as few steps as statements of so many rows allow that stay prepared."""
        left = iter(rows)
        try:
            for count, times in _pieces(len(rows)):
                text, names = queries.of_rows(f"{name}_at_once", count)
                if names != columns:
                    raise LookupError(f"`{name}` has other columns, or in another order")
                self._connection.executemany(text, _values(left, count, times))
        except sqlite3.IntegrityError:  # the statement for one knows what to do then
            named = (dict(zip(columns, row, strict=True)) for row in rows)
            self._connection.executemany(queries.statements()[name], named)
            return False
        return True

    def fetch(self, name: str, parameters: Parameters, *, where: str = "") -> list[Row]:
        """Return the rows of one query."""
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
        return [Row.of(columns, values) for values in rows]

    def fetch_numbered(
        self, name: str, parameters: Parameters, *, where: str = ""
    ) -> list[tuple[int, str]]:
        """Return the two columns of one query."""
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
        """Return numbered texts, and the numbers of those whose columns say otherwise."""
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
