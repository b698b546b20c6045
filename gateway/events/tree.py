"""The Merkle tree of RFC 9162, section 2.1: its right edge, its root, and proofs about both.

Leaves are counted from 0, as there: event number n of the log is leaf n - 1.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

Subtree: TypeAlias = Callable[[int, int], bytes]
"""Returns the hash over the leaves from the first number up to, and without, the second."""

HASH_BYTES: Final = 32
EMPTY: Final = sha256(b"").digest()
_LEAF: Final = sha256(b"\0")  # begun once
_AT_ONCE: Final = 256  # leaves, a power of two


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of what two hashes stand for together."""
    return sha256(b"\1" + left + right).digest()


class Edge:
    """The right edge: the hashes of the full subtrees that a tree consists of, the largest first.

    It is all that one has to know of a tree to go on with it.
    """

    __slots__ = ("_hashes", "_size")

    def __init__(self, size: int = 0, hashes: Sequence[bytes] = ()) -> None:
        """Raise ValueError for hashes that no tree of this size has."""
        if size < 0 or len(hashes) != size.bit_count() or any(len(h) != HASH_BYTES for h in hashes):
            raise ValueError(f"a tree of {size} leaves has another edge")
        self._size = size
        self._hashes = list(hashes)

    @property
    def size(self) -> int:
        """How many leaves the tree has."""
        return self._size

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """One for each bit that is set in the size, from the highest on."""
        return tuple(self._hashes)

    def append(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        hashes, rest = self._hashes, self._size
        hashes.append(leaf)
        while rest & 1:
            right = hashes.pop()
            hashes[-1] = node_hash(hashes[-1], right)
            rest >>= 1
        self._size += 1

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add the hashes of the next leaves: many at once take a third of the time."""
        at = 0
        while at < len(leaves):
            left, size = len(leaves) - at, self._size or 1 << 63
            width = min(size & -size, 1 << (left.bit_length() - 1), _AT_ONCE)
            self.push(full(leaves[at : at + width]), width)
            at += width

    def push(self, found: bytes, width: int) -> None:
        """Add the hash over so many leaves: a power of two, of which the size is a multiple."""
        hashes, rest = self._hashes, self._size // width
        while rest & 1:
            found = node_hash(hashes.pop(), found)
            rest >>= 1
        hashes.append(found)
        self._size += width

    def root(self) -> bytes:
        """Return the hash over all leaves so far."""
        if not self._hashes:
            return EMPTY
        *lefts, found = self._hashes
        for left in reversed(lefts):
            found = node_hash(left, found)
        return found

    def cut(self, width: int) -> "Edge":
        """Return the edge of the first leaves that fill whole widths, which is a power of two."""
        size = self._size - self._size % width
        return Edge(size, self._hashes[: size.bit_count()])

    def copy(self) -> "Edge":
        """Return an edge that goes its own way from here."""
        return Edge(self._size, self._hashes)


def leaf_hashes(data: Iterable[bytes]) -> list[bytes]:
    """Return the hashes of many leaves."""
    begin, found = _LEAF.copy, list[bytes]()
    for each in data:
        leaf = begin()
        leaf.update(each)
        found.append(leaf.digest())
    return found


def full(level: Sequence[bytes]) -> bytes:
    """Return the root over the hashes of leaves, of which there are as many as a power of two."""
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [sha256(b"\1" + left + right).digest() for left, right in pairs]
    return level[0]


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the root over the hashes of all leaves of a tree."""
    edge = Edge()
    edge.extend(leaves)
    return edge.root()


def split(size: int) -> int:
    """Return how many leaves the left half of a tree has: the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return the proof that a leaf is in a tree: from the leaf's sibling up (section 2.1.3.1)."""
    if not 0 <= index < size:
        raise ValueError(f"there is no leaf {index} in a tree of {size}")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + split(end - start)
        if index < middle:
            proof.append(subtree(middle, end))
            end = middle
        else:
            proof.append(subtree(start, middle))
            start = middle
    return proof[::-1]


def consistency(first: int, second: int, subtree: Subtree) -> list[bytes]:
    """Return the proof that a tree begins with the leaves of a smaller one (section 2.1.4.1)."""
    if not 0 < first <= second:
        raise ValueError(f"a tree of {second} can't begin with one of {first}")
    proof: list[bytes] = []
    start, end, is_whole = 0, second, True
    while first != end:
        middle = start + split(end - start)
        if first <= middle:
            proof.append(subtree(middle, end))
            end = middle
        else:
            proof.append(subtree(start, middle))
            start, is_whole = middle, False
    if not is_whole:
        proof.append(subtree(start, end))
    return proof[::-1]


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Check a proof that a leaf's hash is at a place of a tree with this root (2.1.3.2)."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(step, found)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, step)
        number, last = number >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(
    first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Check a proof that one tree begins with the leaves of another (section 2.1.4.2)."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not proof and first_root == second_root
    steps = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not steps:
        return False
    number, last = first - 1, second - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            new = node_hash(new, step)
        number, last = number >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root
