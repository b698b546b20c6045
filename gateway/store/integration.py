"""Takes the events since the last checkpoint into the tree; nothing of it is on the way of a call.

A checkpoint is never put on top of a log that isn't what the last one says: who signs has to know
that he signed nothing that contradicts it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.errors import LogChanged
from gateway.events import checkpoints, notes, tiles, tree
from gateway.events.notes import NoteError
from gateway.events.tiles import WIDTH, Growth, Tile
from gateway.events.tree import Edge
from gateway.store.engine import Parameters, Row, Transaction
from gateway.store.fresh_leaves import FreshLeaves
from gateway.store.times import moment
from gateway.store.turns import give_way

_PAGE: Final = 1_000
_PIECE: Final = 64  # events of a checkpoint, as many as take a third of a millisecond
_AT_ONCE: Final = WIDTH  # hashes that are known already, which take as long
ANY: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """A checkpoint as it is kept; `edge` is what the tree goes on from."""

    size: int
    root: bytes
    edge: tuple[bytes, ...]
    note: str
    at: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A tree that took in more events, and the tiles that became full by it."""

    before: int  # events that it had
    edge: Edge
    tiles: tuple[Tile, ...]

    def rows(self) -> list[Parameters]:
        """Return the tiles as they are kept."""
        return [
            {"level": tile.level, "number": tile.number, "hashes": tiles.pack(tile.hashes)}
            for tile in self.tiles
        ]


def last(transaction: Transaction) -> StoredCheckpoint | None:
    """Return the checkpoint that covers most; raises LogChanged when its row was tampered with."""
    found = transaction.fetch("last_checkpoint", {})
    return stored(found[0]) if found else None


def stored(row: Row) -> StoredCheckpoint:
    """Read a row; raises LogChanged for one that doesn't say what its note says."""
    size = row.integer("size")
    try:
        signed = checkpoints.parse(notes.parse(row.text("note")).text)
        (root,) = tiles.unpack(row.text("root"))
        edge = Edge(size, tiles.unpack(row.text("edge")))
    except (NoteError, ValueError) as error:
        raise LogChanged(f"the checkpoint of {size} in the store can't be read") from error
    if not signed.size == size or not signed.root == root == edge.root():
        raise LogChanged(f"the checkpoint of {size} in the store isn't what was signed")
    return StoredCheckpoint(
        size=size, root=root, edge=edge.hashes, note=row.text("note"), at=moment(row.integer("at"))
    )


def grow(
    transaction: Transaction,
    base: StoredCheckpoint | None,
    *,
    most: int,
    fresh: FreshLeaves | None = None,
) -> Grown | None:
    """Return the tree with up to `most` further events; None when there are none.

    Raises LogChanged. Reads again what the last checkpoint covers and no full tile holds, so that
    a change of it shows; of what came since, just what `fresh` has not got the hashes of.
    """
    before = base.size if base is not None else 0
    growth = Growth(_begun(base), lambda level, number: needed(transaction, level, number))
    end = before + most
    newest = transaction.fetch("last_seq", {})[0].integer("seq") if fresh is not None else 0
    while (at := growth.edge.size) < end:
        is_covered = at < before
        last = min(at + _PIECE, before if is_covered else end)
        known: list[bytes] = []
        if fresh is not None and not is_covered:
            known = fresh.take(at, min(end, newest), _AT_ONCE)
            last = min(last, fresh.begin(at) or last)  # what is known is not read
        page = known or leaves(transaction, at, last)
        growth.extend(page)
        if growth.edge.size == before and base is not None and growth.edge.root() != base.root:
            raise LogChanged(
                f"events up to {before} aren't what the last checkpoint was made of; run "
                "`weighbridge events verify`"
            )
        give_way()
        if not known and growth.edge.size < last:
            break
    if growth.edge.size < before:
        raise LogChanged(
            f"the log ends at event {growth.edge.size}, and its last checkpoint is of {before}; "
            "run `weighbridge events verify`"
        )
    if growth.edge.size == before:
        return None
    return Grown(before=before, edge=growth.edge, tiles=growth.tiles)


def kept(transaction: Transaction, level: int, number: int) -> tuple[bytes, ...] | None:
    """Return the hashes of a full tile, or None; raises LogChanged for a broken one."""
    found = transaction.fetch("get_tile", {"level": level, "number": number})
    return hashes(found[0]) if found else None


def needed(transaction: Transaction, level: int, number: int) -> tuple[bytes, ...]:
    """Return the hashes of a tile that there has to be; raises LogChanged."""
    found = kept(transaction, level, number)
    if found is None:
        raise LogChanged(f"the tile {number} of level {level} is missing in the store")
    return found


def hashes(row: Row) -> tuple[bytes, ...]:
    """Read the hashes of a tile; raises LogChanged when they aren't as many as they have to be."""
    try:
        found = tiles.unpack(row.text("hashes"))
    except ValueError:
        found = ()
    if len(found) != WIDTH:
        raise LogChanged("a tile in the store is no tile; run `weighbridge events verify`")
    return found


def subtrees(transaction: Transaction) -> tiles.Subtrees:
    """Return what finds the hash over any part of the log, for proofs.

    It raises LogChanged for what is broken, and ValueError for what isn't there.
    """
    return tiles.Subtrees(
        lambda level, number: kept(transaction, level, number),
        lambda start, end: leaves(transaction, start, end),
    )


def _begun(base: StoredCheckpoint | None) -> Edge:
    """Return the edge where full tiles end."""
    return Edge() if base is None else Edge(base.size, base.edge).cut(WIDTH)


def leaves(transaction: Transaction, after: int, end: int) -> list[bytes]:
    """Return the hashes of the next leaves, a page at most; raises LogChanged for a gap."""
    return tree.leaf_hashes(bodies(transaction, after=after, last=end))


def bodies(transaction: Transaction, *, after: int, last: int) -> list[bytes]:
    """Return the bytes of the next events, a page at most; raises LogChanged for a gap."""
    span: Parameters = {"after": after, "last": last, "limit": _PAGE}
    found = transaction.fetch_texts("leaves_after", span)
    for expected, (number, _) in enumerate(found, after + 1):
        if number != expected:
            raise LogChanged(f"event {expected} is not in the log; run `weighbridge events verify`")
    return [body for _, body in found]
