"""What somebody can do to a log who owns its database: with its triggers dropped, anything."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg

from gateway.clock import SystemClock
from gateway.events import copies
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Signer
from gateway.events.verifying import Mark
from gateway.store.integration import StoredCheckpoint
from gateway.store.store import Store
from tests.helpers.cases import NOW
from tests.helpers.events import an_event

SIGNER = Signer(name="log.example/test", seed=b"s" * 32)
FORGER = Signer(name="log.example/test", seed=b"f" * 32)

_TRIGGERS = [
    (f"{table}_{name}", table)
    for table in ("events", "tiles", "checkpoints", "archives")
    for name in ("stay", "remain")
]


def tamper(url: str, *statements: str, keeps_triggers: bool = False) -> list[tuple[Any, ...]]:
    """Run statements on a database without its triggers; return the rows of the last one."""
    triggers = [] if keeps_triggers else _TRIGGERS
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=5)) as connection:
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER IF EXISTS {name}")
            found = _all(lambda text: connection.execute(text).fetchall(), statements)
            connection.commit()
            return found
    with psycopg.connect(url, autocommit=True) as server:
        for name, table in triggers:
            server.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}".encode())

        def run(text: str) -> list[tuple[Any, ...]]:
            cursor = server.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

        return _all(run, statements)


def _all(
    run: Callable[[str], list[tuple[Any, ...]]], statements: Sequence[str]
) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for text in statements:
        found = run(text)
    return found


async def write(store: Store, count: int, **changes: Any) -> None:
    """Append so many events, a second apart, and wait until they are kept."""
    for number in range(count):
        at = NOW + timedelta(seconds=number)
        store.events.append([an_event(**({"at": at} | changes))])
    await store.events.kept()


async def checkpoint(store: Store, signer: Signer = SIGNER) -> StoredCheckpoint:
    """Make a checkpoint over everything that is there."""
    made: StoredCheckpoint | None = None
    while (step := await store.checkpoints.make(by(signer), most=1_000)) is not None:
        made = step
    assert made is not None
    return made


def by(*signers: Signer) -> Callable[[int, bytes], str]:
    """Sign as a gateway does."""
    return lambda size, root: Checkpoint(origin=SIGNER.name, size=size, root=root).signed(signers)


def outside(made: StoredCheckpoint, place: str = "copy.jsonl") -> Mark:
    """Return what a file outside of the store says of a checkpoint."""
    record = copies.record(made.note, SIGNER.key, SystemClock().now())
    return Mark(size=made.size, note=str(record["note"]), place=place, is_outside=True)


async def rebuild(store: Store, url: str, *signers: Signer) -> None:
    """Make tiles and checkpoints anew over what the log holds now, as its owner could."""
    sizes = tamper(url, "SELECT size FROM checkpoints ORDER BY size")
    last = tamper(url, "SELECT MAX(seq) FROM events")[0][0]
    tamper(url, "DELETE FROM tiles", "DELETE FROM checkpoints")
    done = 0
    for (size,) in sizes:
        if size <= last:
            made = await store.checkpoints.make(by(*signers), most=size - done)
            assert made is not None
            done = made.size
