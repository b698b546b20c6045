"""Reads of the log for who verifies it: a page at a time, with its tiles and its checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from gateway.events import tree, upkeep
from gateway.events.tiles import WIDTH
from gateway.events.verifying import Fault, FaultKind, Mark, Row, Wrong
from gateway.store import derived, engine, integration, retention
from gateway.store.engine import Transaction
from gateway.store.integration import ANY
from gateway.store.retention import Sealed

STORE: Final = "the store"  # where checkpoints are found
_MOST_STRAYS: Final = 10
_FINE: Final = Wrong()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The log as it was when the verification began."""

    last_seq: int
    sealed: Sealed | None
    beyond: tuple[Mark, ...]  # stored checkpoints that are larger than the log
    tiled: Mapping[int, int]  # tiles of each level
    strays: tuple[int, ...]  # events with numbers that an archive took


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Events with their tiles of level 0 and the checkpoints among them."""

    rows: Sequence[Row]
    kept: Mapping[int, Sequence[bytes]]
    marks: Mapping[int, Sequence[Mark]]


def bounds(transaction: Transaction) -> Bounds:
    """Return how far the log goes; raises LogChanged."""
    last_seq = transaction.fetch("last_seq", {})[0].integer("seq")
    sealed = retention.sealed(transaction)
    size = sealed.size if sealed is not None else 0
    low = {"after": -ANY, "last": size, "limit": _MOST_STRAYS}
    beyond = {"after": last_seq, "last": ANY, "limit": 1}
    return Bounds(
        last_seq=last_seq,
        sealed=sealed,
        beyond=tuple(_mark(row) for row in transaction.fetch("largest_checkpoints", beyond)),
        tiled={row.integer("level"): row.integer("many") for row in transaction.fetch("tiled", {})},
        strays=tuple(row.integer("seq") for row in transaction.fetch("leaves_after", low)),
    )


def page(transaction: Transaction, *, after: int, last: int) -> Page:
    """Return the events after a number, up to another; raises LogChanged."""
    between = {"after": after, "last": last}
    tiles = {"level": 0, "first": after // WIDTH, "last": -(-last // WIDTH)}
    marks: dict[int, list[Mark]] = {}
    for row in transaction.fetch("checkpoints_after", between):
        marks.setdefault(row.integer("size"), []).append(_mark(row))
    doubted = {row.integer("seq"): row for row in transaction.fetch("rows_after", between)}
    found = transaction.fetch_texts("leaves_after", {**between, "limit": last - after})
    return Page(
        rows=[
            Row(seq, body, None) if (row := doubted.get(seq)) is None else _stored(row)
            for seq, body in found
        ],
        kept={
            row.integer("number"): integration.hashes(row)
            for row in transaction.fetch("tiles_between", tiles)
        },
        marks=marks,
    )


def _mark(row: engine.Row) -> Mark:
    return Mark(size=row.integer("size"), note=row.text("note"), place=STORE)


def _stored(row: engine.Row) -> Row:
    return Row(
        seq=row.integer("seq"),
        body=_bytes(row),
        wrong=partial(_wrong, row),
    )


def _bytes(row: engine.Row) -> bytes:
    """Return the bytes of an event; none where a column of another type was put in their place."""
    try:
        return row.text("body").encode("utf-8", "replace")
    except TypeError:
        return b""


def archived(seq: int, body: bytes) -> Row:
    """Return an event of an archive, which has no columns."""
    return Row(seq=seq, body=body, wrong=partial(_wrong, None))


def _wrong(row: engine.Row | None, body: bytes) -> Wrong:
    """Say what is wrong with an event beside its bytes, and which key takes over by it."""
    event = derived.event_of(body)
    if event is None:
        return Wrong(kind=FaultKind.MALFORMED, what="not a JSON object")
    try:
        columns = derived.differing(row, event) if row is not None else []
    except TypeError as error:
        return Wrong(kind=FaultKind.COLUMNS, what=str(error))
    key = upkeep.new_key(event)
    if not columns and not key:
        return _FINE
    named = ", ".join(f"`{each}`" for each in columns)
    return Wrong(
        kind=FaultKind.COLUMNS if columns else None,
        what=f"what queries go by isn't what the event says: {named}",
        key=key,
    )


def roots(transaction: Transaction, *, sizes: Sequence[int]) -> dict[int, bytes]:
    """Return the roots that the log had at some sizes, from hashes that were kept."""
    subtree = integration.subtrees(transaction)
    return {size: subtree(0, size) if size else tree.EMPTY for size in sizes}


def tile_faults(transaction: Transaction, *, level: int, number: int) -> list[Fault]:
    """Check that a tile holds the roots of those one level below."""
    first, width = number * WIDTH ** (level + 1), WIDTH ** (level + 1)
    between = {"level": level - 1, "first": number * WIDTH, "last": (number + 1) * WIDTH}
    below = [integration.hashes(row) for row in transaction.fetch("tiles_between", between)]
    found = integration.kept(transaction, level, number)
    if found is not None and found == tuple(map(tree.root_of, below)):
        return []
    what = f"the kept hashes over these events (tile {number} of level {level}) don't fit together"
    return [Fault(kind=FaultKind.TILE, first=first + 1, last=first + width, what=what)]
