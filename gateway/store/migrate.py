"""Brings the tables of a database up to date: forward only, once, whoever else starts now."""

from gateway.clock import Clock
from gateway.store import queries
from gateway.store.engine import Engine, Lock, Transaction
from gateway.store.times import microseconds

_FIRST = """CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at BIGINT NOT NULL
);
"""


def migrate(engine: Engine, dialect: str, clock: Clock) -> None:
    """Apply what this database has not had yet; a newer one than we know is left as it is."""
    known = queries.migrations(dialect)
    if engine.has_table("migrations"):
        with engine.reading() as reading:
            if _missing(reading, known) == ():
                return
    with engine.transaction(lock=Lock.MIGRATIONS) as transaction:
        transaction.script(_FIRST)
        for number, name, text in _missing(transaction, known):
            transaction.script(text)
            at = microseconds(clock.now())
            transaction.execute("applied_migration", {"number": number, "name": name, "at": at})


def _missing(
    transaction: Transaction, known: tuple[tuple[int, str, str], ...]
) -> tuple[tuple[int, str, str], ...]:
    applied = {row.integer("number") for row in transaction.fetch("applied_migrations", {})}
    return tuple(migration for migration in known if migration[0] not in applied)
