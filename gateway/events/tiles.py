"""Tiles: the hashes of a tree, 256 at a time, as C2SP tlog-tiles cuts them.

A tile of level 0 holds 256 leaves; one of level 1 the roots of 256 such tiles; and so on. Only full
ones are kept, so none ever changes.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.events import tree
from gateway.events.tree import HASH_BYTES, Edge, node_hash

WIDTH: Final = 256
HIGHEST: Final = 7  # level: numbers of events have 63 bits
_BITS: Final = 8  # levels of the tree in a tile
_MOST_NODES: Final = 1 << 17  # that are remembered

Kept: TypeAlias = Callable[[int, int], "tuple[bytes, ...] | None"]
"""Returns the hashes of a full tile by its level and number, or None where there is none yet."""
Leaves: TypeAlias = Callable[[int, int], Sequence[bytes]]
"""Returns the hashes of the leaves from the first number up to, and without, the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One full tile."""

    level: int
    number: int
    hashes: tuple[bytes, ...]

    def root(self) -> bytes:
        """Return the hash over all of it: what stands for it one level above."""
        return tree.root_of(self.hashes)


def pack(hashes: Sequence[bytes]) -> str:
    """Write hashes as a text: base64 of all of them, one after the other."""
    return base64.b64encode(b"".join(hashes)).decode()


def unpack(text: str) -> tuple[bytes, ...]:
    """Read what `pack` wrote; raises ValueError for anything else."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("not a list of hashes") from error
    if len(data) % HASH_BYTES:
        raise ValueError("not a list of hashes")
    return tuple(data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES))


def counts(size: int) -> list[int]:
    """Return how many full tiles a tree of a size has of each level, from the lowest one on."""
    found: list[int] = []
    while size := size // WIDTH:
        found.append(size)
    return found


class Growth:
    """A tree that goes on from where whole tiles end, and the tiles that became full meanwhile."""

    def __init__(self, edge: Edge, kept: Kept) -> None:
        """`kept` finds the tiles that the tree consists of so far."""
        if edge.size % WIDTH:
            raise ValueError("a tree goes on at the end of a tile")
        self.edge = edge
        self._kept = kept
        self._leaves: list[bytes] = []
        self._tiles: dict[tuple[int, int], Tile] = {}

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """Those that became full, lower levels first within the order of the leaves."""
        return tuple(self._tiles.values())

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add the hashes of the next leaves."""
        at = 0
        while at < len(leaves):
            part = leaves[at : at + WIDTH - len(self._leaves)]
            at += len(part)
            self._leaves += part
            self.edge.extend(part)
            if len(self._leaves) == WIDTH:
                self._full(0, self.edge.size // WIDTH - 1, tuple(self._leaves))
                self._leaves.clear()

    def _full(self, level: int, number: int, hashes: tuple[bytes, ...]) -> None:
        self._tiles[level, number] = Tile(level=level, number=number, hashes=hashes)
        if (number + 1) % WIDTH == 0:
            roots = [self._root(level, each) for each in range(number + 1 - WIDTH, number + 1)]
            self._full(level + 1, number // WIDTH, tuple(roots))

    def _root(self, level: int, number: int) -> bytes:
        tile = self._tiles.get((level, number))
        hashes = tile.hashes if tile is not None else self._kept(level, number)
        if hashes is None:
            raise ValueError(f"the tile {number} of level {level} is missing")
        return tree.root_of(hashes)


class Subtrees:
    """Hashes over any aligned part of a tree, from tiles where they are kept, else from leaves."""

    def __init__(self, kept: Kept, leaves: Leaves) -> None:
        """`leaves` is asked for a tile that isn't full, and gives as many as there are of it."""
        self._kept = kept
        self._leaves = leaves
        self._nodes: dict[tuple[int, int], bytes] = {}
        self._tiles: dict[tuple[int, int], Sequence[bytes] | None] = {}

    def __call__(self, start: int, end: int) -> bytes:
        """Return the hash over some leaves, as `tree.Subtree` has it; ValueError for none."""
        width = end - start
        if width & (width - 1) == 0:
            level = width.bit_length() - 1
            return self._node(level, start >> level)
        middle = start + tree.split(width)
        return node_hash(self(start, middle), self(middle, end))

    def _node(self, level: int, index: int) -> bytes:
        """Return the hash over 2^level leaves."""
        found = self._nodes.get((level, index))
        if found is None:
            found = self._in_tile(level, index) or node_hash(
                self._node(level - 1, 2 * index), self._node(level - 1, 2 * index + 1)
            )
            if len(self._nodes) >= _MOST_NODES:  # whoever asks goes from left to right
                self._nodes.clear()
            self._nodes[level, index] = found
        return found

    def _in_tile(self, level: int, index: int) -> bytes | None:
        """Return a hash that a tile holds as it is; of leaves there is no other way."""
        if level % _BITS:
            return None
        tile = self._tile(level // _BITS, index // WIDTH)
        if tile is not None and index % WIDTH < len(tile):
            return tile[index % WIDTH]
        if level == 0:
            raise ValueError(f"there is no leaf {index}")
        return None

    def _tile(self, level: int, number: int) -> Sequence[bytes] | None:
        if (level, number) not in self._tiles:
            if len(self._tiles) >= WIDTH:
                self._tiles.clear()
            tile: Sequence[bytes] | None = self._kept(level, number)
            if tile is None and level == 0:
                tile = self._leaves(number * WIDTH, (number + 1) * WIDTH)
            self._tiles[level, number] = tile
        return self._tiles[level, number]
