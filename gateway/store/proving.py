"""Proofs about the log, from its tiles: that an event is in it, that it begins with what it was."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.errors import LogChanged
from gateway.events import tiles, tree
from gateway.events.checkpoints import Checkpoint
from gateway.store import integration
from gateway.store.engine import Transaction
from gateway.store.events import EventFilter, conditions

_DIGITS = 18  # of numbers of events that every database takes
_ID = 26  # characters of an id


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """An event, byte for byte, and the way from it to the root of a checkpoint."""

    seq: int
    body: bytes
    path: tuple[bytes, ...]


def named(transaction: Transaction, said: str) -> list[str]:
    """Return the ids that somebody may mean: a whole one, a number, or how one begins; two at most.

    What begins ids is looked up between the least and the largest that it can begin.
    """
    if transaction.fetch("place_of_event", {"id": said}):
        return [said]
    if said.isascii() and said.isdecimal() and not said.startswith("0") and len(said) <= _DIGITS:
        return [row.text("id") for row in transaction.fetch("id_of_event", {"seq": int(said)})]
    begun = said.upper()
    if not (begun.isascii() and begun.isalnum() and len(begun) < _ID):
        return []
    between = {"least": begun.ljust(_ID, "0"), "most": begun.ljust(_ID, "Z")}
    return [row.text("id") for row in transaction.fetch("ids_begun", between)]


class Prover:
    """Makes proofs for one checkpoint; hashes are remembered from one transaction to the next."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._transaction: Transaction | None = None
        self._subtree = tiles.Subtrees(
            lambda level, number: integration.kept(self._now(), level, number),
            lambda start, end: integration.leaves(self._now(), start, end),
        )

    def event(self, transaction: Transaction, id: str) -> Proven | None:
        """Prove one event by its id; None for one that isn't there. Raises LogChanged."""
        rows = transaction.fetch("place_of_event", {"id": id})
        if not rows:
            return None
        (row,) = rows
        return self._proven(transaction, row.integer("seq"), row.text("body").encode())

    def page(self, transaction: Transaction, wanted: EventFilter) -> list[Proven]:
        """Prove the events of a query that the checkpoint covers; raises LogChanged."""
        where, parameters = conditions(wanted)
        rows = transaction.fetch("query_events", parameters, where=where)
        found = [(row.integer("seq"), row.text("body").encode()) for row in rows]
        covered = [each for each in found if each[0] <= self._checkpoint.size]
        return [self._proven(transaction, seq, body) for seq, body in covered]

    def given(self, transaction: Transaction, rows: Sequence[tuple[int, bytes]]) -> list[Proven]:
        """Prove events that are kept elsewhere, as far as the checkpoint covers them."""
        covered = [each for each in rows if each[0] <= self._checkpoint.size]
        return [self._proven(transaction, seq, body) for seq, body in covered]

    def since(self, transaction: Transaction, old: Checkpoint) -> list[bytes]:
        """Prove that the log of the checkpoint begins with that of an older one."""
        new = self._checkpoint
        if not 0 < old.size <= new.size:
            raise LogChanged(f"a log of {new.size} events can't begin with one of {old.size}")
        self._transaction = transaction
        path = _told(lambda: tree.consistency(old.size, new.size, self._subtree))
        if not tree.is_consistent(old.size, new.size, old.root, new.root, path):
            raise LogChanged(
                f"the log of {new.size} events does not begin with that of {old.size}; run "
                "`weighbridge events verify` with both checkpoints"
            )
        return path

    def _proven(self, transaction: Transaction, seq: int, body: bytes) -> Proven:
        size = self._checkpoint.size
        if seq > size:
            raise LogChanged(f"event {seq} is later than the checkpoint of {size}")
        self._transaction = transaction
        path = _told(lambda: tree.inclusion(seq - 1, size, self._subtree))
        leaf = tree.leaf_hash(body)
        if not tree.is_included(leaf, seq - 1, size, path, self._checkpoint.root):
            raise LogChanged(
                f"event {seq} is not what the checkpoint of {size} was made of; run "
                "`weighbridge events verify`"
            )
        return Proven(seq=seq, body=body, path=tuple(path))

    def _now(self) -> Transaction:
        assert self._transaction is not None  # noqa: S101 - set by whoever proves
        return self._transaction


def _told(path: Callable[[], list[bytes]]) -> list[bytes]:
    try:
        return path()
    except ValueError as error:
        raise LogChanged(f"the log is shorter than its checkpoint: {error}") from error
