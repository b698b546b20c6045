"""The books of a help desk with two tenants: customers, notes, tickets, refunds, in one file."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads no other before 3.12

_SCHEMA: Final = """
CREATE TABLE customers (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, city TEXT NOT NULL,
    email TEXT NOT NULL, phone TEXT NOT NULL
) STRICT;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE tickets (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, customer_id TEXT NOT NULL, status TEXT NOT NULL,
    subject TEXT NOT NULL, body TEXT NOT NULL, reference TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, customer_id TEXT NOT NULL, cents INTEGER NOT NULL,
    currency TEXT NOT NULL, reason TEXT NOT NULL, reference TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'booked'
) STRICT;
"""
_CUSTOMERS: Final = (
    ("c-1001", "acme", "Mara Lindqvist", "Uppsala", "mara@lindqvist.example", "+46 18 555 01 01"),
    ("c-1002", "acme", "Tomas Marek", "Brno", "tomas.marek@posta.example", "+420 555 010 202"),
    ("c-1003", "acme", "Amara Diallo", "Lyon", "amara.d@courriel.example", "+33 4 55 01 03 03"),
    ("c-1004", "acme", "Omar Haddad", "Malmö", "omar@haddad.example", "+46 40 555 04 04"),
    ("c-2001", "globex", "Marie Keller", "Basel", "m.keller@post.example", "+41 61 555 05 05"),
    ("c-2002", "globex", "Dmitri Marin", "Cluj", "dmitri@marin.example", "+40 264 555 06 06"),
)
_TICKETS: Final = (
    (
        "t-1", "acme", "c-1001", "open", "Charged twice",
        "My order of 25.00 EUR was charged twice. Please send one of them back.",
    ),
    ("t-2", "acme", "c-1002", "open", "Wrong size", "The boots are too small. Can I swap them?"),
    ("t-3", "globex", "c-2001", "open", "Late parcel", "It was due on Monday and is not here."),
)  # fmt: skip


class Customer(TypedDict):
    """One customer; contact details may be held back on the way to an agent."""

    id: str
    name: str
    city: str
    email: NotRequired[str]
    phone: NotRequired[str]


class Ticket(TypedDict):
    """One ticket; subject and body are the customer's own words."""

    id: str
    customer_id: str
    status: str
    subject: str
    body: str


class Refund(TypedDict):
    """One refund: `booked`, or `cancelled` and without effect."""

    refund_id: int
    customer_id: str
    amount: float
    currency: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the books say in sum; money in cents, that of cancelled refunds not counted."""

    customers: int
    notes: int
    opened: int  # tickets that were opened through the desk's tools
    refunds: int
    cancelled: int
    refunded_cents: int


class NotFound(LookupError):
    """Nothing in the books has this id, as far as this tenant goes."""


@dataclass(frozen=True, slots=True)
class HelpDesk:
    """Opens the file anew for each question, so that threads and processes never share a handle."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> "HelpDesk":
        """Make the file with the people and tickets of the demo; it must not exist yet."""
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_SCHEMA)
            database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?)", _CUSTOMERS)
            database.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, '')", _TICKETS)
        return cls(path)

    def search(self, query: str, tenant: str, limit: int) -> list[Customer]:
        """Return customers whose name holds `query`, by name; an empty tenant means every one."""
        with self._open() as database:
            rows = database.execute(
                "SELECT id, name, city, email, phone FROM customers"
                " WHERE instr(lower(name), lower(?)) AND (? = '' OR tenant = ?)"
                " ORDER BY name LIMIT ?",
                (query, tenant, tenant, limit),
            ).fetchall()
        return [_customer(row) for row in rows]

    def customer(self, customer_id: str, tenant: str) -> Customer:
        """Return one customer; raises NotFound."""
        with self._open() as database:
            row = database.execute(
                "SELECT id, name, city, email, phone FROM customers"
                " WHERE id = ? AND (? = '' OR tenant = ?)",
                (customer_id, tenant, tenant),
            ).fetchone()
        if row is None:
            raise NotFound(f"there is no customer `{customer_id}`")
        return _customer(row)

    def add_note(self, customer_id: str, tenant: str, text: str) -> int:
        """Write a note about a customer and return its number; raises NotFound."""
        self.customer(customer_id, tenant)
        return self._insert(
            "INSERT INTO notes (customer_id, text) VALUES (?, ?)", (customer_id, text)
        )

    def delete(self, customer_id: str, tenant: str) -> None:
        """Delete a customer with all notes; raises NotFound."""
        self.customer(customer_id, tenant)
        with self._open() as database:
            database.execute("DELETE FROM customers WHERE id = ?", (customer_id,))

    def tickets(self, tenant: str, status: str) -> list[Ticket]:
        """Return tickets in one state, oldest first; an empty tenant means every one."""
        with self._open() as database:
            return _tickets(database, "status = ? AND ? IN ('', tenant)", status, tenant)

    def open_ticket(
        self, customer_id: str, tenant: str, subject: str, body: str, reference: str
    ) -> Ticket:
        """Open a ticket and return it; raises NotFound.

        The same reference again, for the same customer, is the ticket that is there already.
        """
        self.customer(customer_id, tenant)
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            found = _tickets(database, "customer_id = ? AND reference = ?", customer_id, reference)
            if found and reference:
                return found[0]
            (number,) = database.execute("SELECT count(*) + 1 FROM tickets").fetchone()
            database.execute(
                "INSERT INTO tickets SELECT ?, tenant, id, 'open', ?, ?, ? FROM customers"
                " WHERE id = ?",
                (f"t-{number}", subject, body, reference, customer_id),
            )
            return _tickets(database, "id = ?", f"t-{number}")[0]

    def find_tickets(self, customer_id: str, tenant: str, reference: str) -> list[Ticket]:
        """Return a customer's tickets, those with a reference if one is given; raises NotFound."""
        self.customer(customer_id, tenant)
        with self._open() as database:
            where = "customer_id = ? AND ? IN ('', reference)"
            return _tickets(database, where, customer_id, reference)

    def refund(
        self,
        customer_id: str,
        tenant: str,
        cents: int,
        currency: str,
        reason: str,
        *,
        reference: str = "",
    ) -> int:
        """Book a refund and return its number, each time anew; raises NotFound."""
        self.customer(customer_id, tenant)
        return self._insert(
            "INSERT INTO refunds (customer_id, cents, currency, reason, reference)"
            " VALUES (?, ?, ?, ?, ?)",
            (customer_id, cents, currency, reason, reference),
        )

    def find_refunds(self, customer_id: str, tenant: str, reference: str) -> list[Refund]:
        """Return a customer's refunds, those with a reference if one is given; raises NotFound."""
        self.customer(customer_id, tenant)
        with self._open() as database:
            rows = database.execute(
                "SELECT id, cents, currency, status FROM refunds"
                " WHERE customer_id = ? AND ? IN ('', reference) ORDER BY id",
                (customer_id, reference),
            ).fetchall()
        return [
            Refund(
                refund_id=row[0],
                customer_id=customer_id,
                amount=row[1] / 100,
                currency=row[2],
                status=row[3],
            )
            for row in rows
        ]

    def cancel_refunds(self, customer_id: str, tenant: str, reference: str) -> list[Refund]:
        """Cancel what was refunded under a reference; once or twice is the same.

        Returns it as it is then; raises NotFound.
        """
        if not (reference and self.find_refunds(customer_id, tenant, reference)):
            raise NotFound(f"there is no refund `{reference}` of customer `{customer_id}`")
        with self._open() as database:
            database.execute(
                "UPDATE refunds SET status = 'cancelled' WHERE customer_id = ? AND reference = ?",
                (customer_id, reference),
            )
        return self.find_refunds(customer_id, tenant, reference)

    def totals(self) -> Totals:
        """Add up what is in the books."""
        with self._open() as database:
            row = database.execute(
                "SELECT (SELECT count(*) FROM customers), (SELECT count(*) FROM notes),"
                " (SELECT count(*) FROM tickets WHERE reference != ''), count(*),"
                " coalesce(sum(status = 'cancelled'), 0),"
                " coalesce(sum(iif(status = 'booked', cents, 0)), 0) FROM refunds"
            ).fetchone()
        return Totals(
            customers=row[0],
            notes=row[1],
            opened=row[2],
            refunds=row[3],
            cancelled=row[4],
            refunded_cents=row[5],
        )

    def _insert(self, sql: str, values: tuple[str | int, ...]) -> int:
        with self._open() as database:
            number = database.execute(sql, values).lastrowid
        if number is None:
            raise sqlite3.DatabaseError("the new row has no number")
        return number

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=5)) as database:
            database.execute("PRAGMA foreign_keys = ON")
            with database:
                yield database


def _customer(row: tuple[str, str, str, str, str]) -> Customer:
    return Customer(id=row[0], name=row[1], city=row[2], email=row[3], phone=row[4])


def _tickets(database: sqlite3.Connection, where: str, *values: str) -> list[Ticket]:
    rows = database.execute(
        f"SELECT id, customer_id, status, subject, body FROM tickets WHERE {where} ORDER BY id",  # noqa: S608 - our own texts
        values,
    ).fetchall()
    return [
        Ticket(id=row[0], customer_id=row[1], status=row[2], subject=row[3], body=row[4])
        for row in rows
    ]
