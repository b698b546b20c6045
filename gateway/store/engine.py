"""What a database must promise, so that everything above it is written once."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum
from typing import Protocol, TypeAlias

Value: TypeAlias = str | int | float | None
Parameters: TypeAlias = Mapping[str, Value]


class Lock(IntEnum):
    """What only one transaction at a time may do, over all processes that share the database."""

    MIGRATIONS = 1
    EVENTS = 2  # and operations, and limits: they go into one log
    CHECKPOINTS = 3  # of the log; nobody who appends waits for it


def numbered(rows: Sequence[tuple[object, object]]) -> list[tuple[int, str]]:
    """Return rows of numbers and texts as such; TypeError where one holds anything else."""
    found = [(number, text) for number, text in rows if type(number) is int and type(text) is str]
    if len(found) < len(rows):
        raise TypeError("a column is not a whole number, or not a text")
    return found


class Row:
    """One row of a result; reading a column as another type than it has is an error."""

    __slots__ = ("_columns", "_listed")

    def __init__(self, columns: Parameters) -> None:
        self._columns: Parameters | None = columns
        self._listed: tuple[tuple[str, ...], tuple[Value, ...]] | None = None

    @classmethod
    def of(cls, names: tuple[str, ...], values: tuple[Value, ...]) -> "Row":
        """Return a row of these columns, which are put side by side when one is asked for.

        Of most rows that are read again and again only the `key` is asked.
        """
        row = cls.__new__(cls)
        row._columns, row._listed = None, (names, values)
        return row

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        """Names and values, for what is made of equal rows to be remembered by."""
        if self._listed is None:
            said = self._said()
            self._listed = tuple(said), tuple(said.values())
        return self._listed

    def says(self, expected: Mapping[str, object]) -> bool:
        """Whether some columns have these values."""
        return expected.items() <= self._said().items()

    def text(self, column: str) -> str:
        """Return a text."""
        value = (self._columns or self._said())[column]
        if not isinstance(value, str):
            raise TypeError(f"column `{column}` is not a text")
        return value

    def integer(self, column: str) -> int:
        """Return a whole number."""
        value = (self._columns or self._said())[column]
        if not isinstance(value, int):
            raise TypeError(f"column `{column}` is not a whole number")
        return value

    def number(self, column: str) -> float:
        """Return a number."""
        value = (self._columns or self._said())[column]
        if not isinstance(value, int | float):
            raise TypeError(f"column `{column}` is not a number")
        return float(value)

    def _said(self) -> Parameters:
        if self._columns is None:
            names, values = self._listed or ((), ())
            self._columns = dict(zip(names, values, strict=True))
        return self._columns


class Transaction(Protocol):
    """An open transaction; statements are named as in `sql/queries.sql`."""

    def execute(self, name: str, parameters: Parameters) -> int:
        """Run one statement; return how many rows it changed."""
        ...

    def execute_many(self, name: str, parameters: Sequence[Parameters]) -> int:
        """Run one statement with each of several sets of parameters, in order; count the rows."""
        ...

    def insert(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> bool:
        """Run a statement that adds one row with each of several; `columns` names their values.

        Return whether it surely has added each of them, with just these values.

        For many rows, where the process has other work: their number costs few further steps.
        """
        ...

    def fetch(self, name: str, parameters: Parameters, *, where: str = "") -> list[Row]:
        """Return the rows of one query; `where` fills its `{where}`, and is never made of input."""
        ...

    def fetch_numbered(
        self, name: str, parameters: Parameters, *, where: str = ""
    ) -> list[tuple[int, str]]:
        """Return the rows of a query of one number and one text: for pages of many rows."""
        ...

    def fetch_texts(self, name: str, parameters: Parameters) -> list[tuple[int, bytes]]:
        """Return the rows of a query of one number and one text, the text in UTF-8.

        For many rows, where the process has other work: their number costs no further steps.
        """
        ...

    def fetch_doubted(
        self, name: str, parameters: Parameters
    ) -> tuple[list[tuple[int, bytes]], list[int]]:
        """Do the same, and return the numbers of those rows at which somebody has to look as well.

        They may be all: it depends on what the database can see by itself.
        """
        ...

    def script(self, text: str) -> None:
        """Run the statements of a migration."""
        ...


class Engine(Protocol):
    """One connection to one database.

    Obligations of every implementation:
    - Used by one thread at a time; `close` may come from another once nothing is under way.
    - Connects when first used, brings the tables up to date, and after any failure that may have
      broken the connection connects anew on the next use: nobody has to restart anything.
    - Every call ends within a bound, whoever else holds locks; the bound is the implementation's.
    - `transaction` either commits all of it before it returns, or raises and commits nothing. If
      the answer to the commit itself is lost, nobody knows; so statements have to bear repeating.
    - With a `lock`, no other transaction with the same lock runs between its first statement and
      its commit, and it sees all that those before it committed.
    - With `durable`, a committed transaction survives the loss of power. Without, the last few may
      be lost, but never one out of the middle.
    - Whatever the driver raises comes out as `StoreUnavailable` with one line for people, without
      addresses' passwords; what it will never take, as `StatementRefused`.
    """

    def transaction(
        self, *, lock: Lock | None = None, durable: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Begin, and commit at the end of the block, or roll back when it raises."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that only reads, from one consistent state; waits for no writer."""
        ...

    def looking(self) -> AbstractContextManager[Transaction]:
        """Begin statements that only read, each from the newest state; waits for no writer.

        As `reading`, or without a transaction where to begin and end one takes its time.
        """
        ...

    def has_table(self, name: str) -> bool:
        """Whether the database has such a table."""
        ...

    def close(self) -> None:
        """Let go of the connection; the next use opens it again."""
        ...
