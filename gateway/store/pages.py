"""Reads of the log for who verifies it: a page at a time, with its tiles and its checkpoints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.errors import LogChanged
from gateway.events import sealing, tiles, tree, upkeep
from gateway.events.faults import Fault, FaultKind
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.upkeep import Left
from gateway.events.verifying import Mark, Row, Wrong
from gateway.store import derived, engine, integration, retention
from gateway.store.engine import Transaction
from gateway.store.integration import ANY
from gateway.store.retention import Sealed
from gateway.types.json import JsonObject

STORE: Final = "the store"  # where checkpoints are found
_MOST_STRAYS: Final = 10
_FEW: Final = 64  # rows that are fetched one by one
# The gateway's own events may name keys: those have this near the beginning of their bytes, behind
# an id and a time.
_OWN: Final = b'"kind":"admin"'
_HEAD: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The log as it was when the verification began."""

    last_seq: int
    sealed: Sealed | None
    beyond: tuple[Mark, ...]  # stored checkpoints that are larger than the log
    covered: int  # the size of the largest checkpoint that is not
    odd: tuple[int, ...]  # levels that have other tiles than that one has
    archives: tuple[Left, ...]  # what the store says of what left the log
    strays: tuple[int, ...]  # events with numbers that an archive took


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Events with their tiles of level 0 and the checkpoints among them.

    `wrongs` is what there is to say of some, by their numbers; `sealed` are the events that have
    copies beside them.
    """

    rows: Sequence[Row]
    wrongs: Mapping[int, Wrong]
    sealed: Mapping[int, JsonObject]
    kept: Mapping[int, Sequence[bytes]]
    marks: Mapping[int, Sequence[Mark]]


def bounds(transaction: Transaction) -> Bounds:
    """Return how far the log goes; raises LogChanged."""
    last_seq = transaction.fetch("last_seq", {})[0].integer("seq")
    archives = retention.all_sealed(transaction)
    sealed = archives[-1] if archives else None
    size = sealed.size if sealed is not None else 0
    low = {"after": -ANY, "last": size, "limit": _MOST_STRAYS}
    beyond = {"after": last_seq, "last": ANY, "limit": 1}
    within = {"after": 0, "last": last_seq, "limit": 1}
    covered = sum(row.integer("size") for row in transaction.fetch("largest_checkpoints", within))
    return Bounds(
        last_seq=last_seq,
        sealed=sealed,
        beyond=tuple(_mark(row) for row in transaction.fetch("largest_checkpoints", beyond)),
        covered=covered,
        odd=tuple(_odd(transaction, covered)),
        archives=tuple(map(_left, archives)),
        strays=tuple(row.integer("seq") for row in transaction.fetch("leaves_after", low)),
    )


def _odd(transaction: Transaction, covered: int) -> list[int]:
    """Return levels that have others than the tiles that a tree of a size has."""
    try:
        found = {
            row.integer("level"): tuple(row.integer(name) for name in ("many", "first", "last"))
            for row in transaction.fetch("tiled", {})
        }
    except TypeError as error:
        raise LogChanged("a tile in the store has no number") from error
    counts = dict(enumerate(tiles.counts(covered)))
    full = {level: (many, 0, many - 1) for level, many in counts.items()}
    return sorted(level for level in {*found, *full} if found.get(level) != full.get(level))


def _left(sealed: Sealed) -> Left:
    root = Edge(sealed.size, sealed.edge).root().hex()
    return Left(last=sealed.size, root=root, digest=sealed.digest)


def page(transaction: Transaction, *, after: int, last: int) -> Page:
    """Return the events after a number, up to another; raises LogChanged."""
    between = {"after": after, "last": last}
    rows, numbers = transaction.fetch_doubted("page_after", between)
    doubted = {row.integer("seq"): row for row in _doubted(transaction, numbers)}
    texts = {seq: _bytes(row) for seq, row in doubted.items()}
    events = {seq: derived.event_of(text) for seq, text in texts.items()}
    told = ((seq, _wrong(row, events[seq])) for seq, row in doubted.items())
    return Page(
        rows=[(seq, texts.get(seq, body)) for seq, body in rows] if texts else rows,
        wrongs={seq: wrong for seq, wrong in told if wrong is not None},
        sealed={
            seq: event
            for seq, event in events.items()
            if event is not None and sealing.told(event.get("body"))[1]
        },
        kept=_tiles(transaction, after, last),
        marks=_marks(transaction, after, last),
    )


def page_of_bytes(transaction: Transaction, *, after: int, last: int) -> Page:
    """Return the same where only bytes count: no column and no copy is looked at."""
    rows = transaction.fetch_texts("page_after", {"after": after, "last": last})
    return Page(
        rows=rows,
        wrongs=archived(row for row in rows if row[1].find(_OWN, 0, _HEAD) >= 0),
        sealed={},
        kept=_tiles(transaction, after, last),
        marks=_marks(transaction, after, last),
    )


def _tiles(transaction: Transaction, after: int, last: int) -> dict[int, tuple[bytes, ...]]:
    span = {"level": 0, "first": after // WIDTH, "last": -(-last // WIDTH)}
    return {
        row.integer("number"): integration.hashes(row)
        for row in transaction.fetch("tiles_between", span)
    }


def _marks(transaction: Transaction, after: int, last: int) -> dict[int, list[Mark]]:
    marks: dict[int, list[Mark]] = {}
    for row in transaction.fetch("checkpoints_after", {"after": after, "last": last}):
        marks.setdefault(row.integer("size"), []).append(_mark(row))
    return marks


def _doubted(transaction: Transaction, numbers: Sequence[int]) -> list[engine.Row]:
    """Return the rows of some events; of many, those between them have to be read as well."""
    if len(numbers) > _FEW:
        between = {"after": numbers[0] - 1, "last": numbers[-1]}
        return transaction.fetch("rows_after", between)
    return [
        row
        for seq in numbers
        for row in transaction.fetch("rows_after", {"after": seq - 1, "last": seq})
    ]


def _mark(row: engine.Row) -> Mark:
    return Mark(size=row.integer("size"), note=row.text("note"), place=STORE)


def _bytes(row: engine.Row) -> bytes:
    """Return the bytes of an event; none where a column of another type was put in their place."""
    try:
        return row.text("body").encode("utf-8", "replace")
    except TypeError:
        return b""


def archived(rows: Iterable[Row]) -> dict[int, Wrong]:
    """Return what there is to say of events of an archive, which have no columns."""
    told = ((seq, _wrong(None, derived.event_of(body))) for seq, body in rows)
    return {seq: wrong for seq, wrong in told if wrong is not None}


def _wrong(row: engine.Row | None, event: JsonObject | None) -> Wrong | None:
    """Say what is wrong with an event beside its bytes, and which key takes over by it."""
    if event is None:
        return Wrong(kind=FaultKind.MALFORMED, what="not a JSON object")
    try:
        columns = derived.differing(row, event) if row is not None else []
    except TypeError as error:
        return Wrong(kind=FaultKind.COLUMNS, what=str(error))
    key, left = upkeep.new_key(event), upkeep.left(event)
    if not columns and not key and left is None:
        return None
    named = ", ".join(f"`{each}`" for each in columns)
    return Wrong(
        kind=FaultKind.COLUMNS if columns else None,
        what=f"what queries go by isn't what the event says: {named}",
        key=key,
        left=left,
    )


def roots(transaction: Transaction, *, sizes: Sequence[int]) -> dict[int, bytes]:
    """Return the roots that the log had at some sizes, from hashes that were kept."""
    subtree = integration.subtrees(transaction)
    return {size: subtree(0, size) if size else tree.EMPTY for size in sizes}


def tile_faults(
    transaction: Transaction, *, level: int, number: int, known: Mapping[int, bytes]
) -> list[Fault]:
    """Check that a tile holds the roots of those one level below.

    `known` are roots of tiles of level 0, whose hashes are those that the store has.
    """
    first, width = number * WIDTH ** (level + 1), WIDTH ** (level + 1)
    between = {"level": level - 1, "first": number * WIDTH, "last": (number + 1) * WIDTH}
    below = {
        row.integer("number"): integration.hashes(row)
        for row in transaction.fetch("tiles_between", between)
    }
    if len(below) < WIDTH:  # told by itself
        return []
    roots: Mapping[int, bytes] = known if level == 1 else {}
    found = integration.kept(transaction, level, number)
    if found is not None and found == tuple(
        roots.get(number) or tree.full(hashes) for number, hashes in below.items()
    ):
        return []
    what = f"the kept hashes over these events (tile {number} of level {level}) don't fit together"
    return [Fault(kind=FaultKind.TILE, first=first + 1, last=first + width, what=what)]


def odd_tiles(transaction: Transaction, *, level: int, covered: int) -> list[Fault]:
    """Name the tiles of a level that are missing, and those that can't be there yet."""
    rows = transaction.fetch("tile_numbers", {"level": level})
    there = {row.integer("number") for row in rows}
    counts = dict(enumerate(tiles.counts(covered)))
    expected = range(counts.get(level, 0))
    found = [
        _tile_fault(
            level, number, f"the kept hashes of level {level} over these events are missing"
        )
        for number in expected
        if number not in there
    ]
    what = f"kept hashes of level {level} over these events, which no checkpoint covers in full"
    return found + [
        _tile_fault(level, number, what) for number in sorted(there) if number not in expected
    ]


def _tile_fault(level: int, number: int, what: str) -> Fault:
    is_any = 0 <= level <= tiles.HIGHEST and number >= 0
    width = WIDTH ** (level + 1) if is_any else 0
    return Fault(
        kind=FaultKind.TILE, first=number * width + is_any, last=(number + 1) * width, what=what
    )
