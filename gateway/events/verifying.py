"""Checks a log against its checkpoints, event by event, in the memory of one page.

Two trees are followed while they differ: what the events give, and what was kept of them in tiles
when they were new. Where the second is what was signed, the very events that differ are known.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gateway.events import tree
from gateway.events.faults import Fault, FaultKind, follows, merged
from gateway.events.notes import NoteError
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.trust import Trust
from gateway.events.upkeep import Left

_MOST_FAULTS: Final = 1_000  # that are told one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A checkpoint to hold the log against, and where it was found."""

    size: int
    note: str
    place: str
    is_outside: bool = False


Row: TypeAlias = tuple[int, bytes]  # there are as many as events: each name would take its time
"""An event as it is kept: its number, and its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What the bytes of one event say: what is wrong, which key takes over, what left the log."""

    kind: FaultKind | None = None
    what: str = ""
    key: str = ""
    left: Left | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Up to which event the log is what a checkpoint says."""

    size: int
    place: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came out: `first` to `last` were read; whole is what has no faults."""

    first: int
    last: int
    root: bytes
    outside: Cover | None
    stored: Cover | None
    checked: int  # checkpoints that were held against the log
    faults: tuple[Fault, ...]
    unlisted: int = 0  # further faults

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


class Verifier:
    """Takes the events in order, and says in the end what is wrong."""

    def __init__(self, trust: Trust, outside: Iterable[Mark], start: Edge) -> None:
        self._trust = trust
        self._start = start.size
        self._seen = start.copy()
        self._kept: Edge | None = None  # what the tiles give, while that is something else
        self._suspects: list[int] = []
        self._blind = False  # an event is missing of which nothing is known
        self._last = start.size  # the number that was read last
        self._good = {True: start.size, False: start.size}  # outside, any
        self._lost: dict[bool, Fault | None] = {True: None, False: None}
        self._covers: dict[bool, Cover | None] = {True: None, False: None}
        self._checked = 0
        self._faults: list[Fault] = []
        self.left: dict[int, Left] = {}  # by the numbers of the events that say so
        self.roots: dict[int, bytes] = {}  # of tiles of level 0 that hold what the events give
        self._unlisted = 0
        self._outside: dict[int, list[Mark]] = {}
        for mark in outside:
            self._outside.setdefault(mark.size, []).append(mark)

    @property
    def size(self) -> int:
        """Up to which event the log was taken in."""
        return self._seen.size

    @property
    def covered(self) -> int:
        """Up to which event some checkpoint says what the log is."""
        return self._good[False]

    def begin(self, sealed: Sequence[Mark]) -> None:
        """Check what the log goes on from: the checkpoint of what was archived."""
        for mark in (*sealed, *self._outside.get(self.size, ())):
            self._compare(mark)

    def before(self, roots: Mapping[int, bytes]) -> None:
        """Check outside checkpoints of what was archived, by roots from the kept hashes."""
        for size, marks in self._outside.items():
            for mark in marks if size in roots else ():
                self._hold(mark, lambda root, size=size: root == roots[size])

    def page(
        self,
        rows: Sequence[Row],
        kept: Mapping[int, Sequence[bytes]],
        marks: Mapping[int, Sequence[Mark]],
        wrongs: Mapping[int, Wrong] | None = None,
    ) -> None:
        """Take the next events, with the tiles of level 0 and the checkpoints among them.

        `wrongs` is what there is to say of some of them, by their numbers.
        """
        told = wrongs or {}
        numbers = [seq for seq, _ in rows]
        leaves = tree.leaf_hashes([body for _, body in rows])
        stops = [at for at, seq in enumerate(numbers) if seq in told] if told else []
        at = 0
        while at < len(rows):
            stop = stops[bisect_left(stops, at)] if stops and stops[-1] >= at else len(rows)
            many = self._run(numbers[at:stop], leaves[at:stop], kept, marks)
            if many:
                self._extend(leaves[at : at + many], kept)
                self._marks(marks)
            else:
                self._one(numbers[at], leaves[at], kept, marks, told.get(numbers[at]))
            at += many or 1

    def _run(
        self,
        numbers: Sequence[int],
        leaves: Sequence[bytes],
        kept: Mapping[int, Sequence[bytes]],
        marks: Mapping[int, Sequence[Mark]],
    ) -> int:
        """Return how many of the next events are as they should be, up to the next checkpoint.

        Those go into the tree at once. Where anything is not so, they are taken one by one.
        """
        if self._blind or self._kept is not None or self._suspects:
            return 0
        first, size = self._last + 1, self._seen.size
        ends = [mark - size for mark in (*marks, *self._outside) if mark > size]
        most = min([len(numbers), *ends, WIDTH - size % WIDTH])
        wanted = list(range(first, first + most))
        if wanted != numbers[:most]:
            pairs = enumerate(zip(wanted, numbers[:most], strict=True))
            most = next((n for n, (expected, seq) in pairs if expected != seq), most)
        known, start = kept.get(size // WIDTH), size % WIDTH
        if known is not None and list(known[start : start + most]) != leaves[:most]:
            return 0
        return most

    def _extend(self, leaves: Sequence[bytes], kept: Mapping[int, Sequence[bytes]]) -> None:
        """Take some events at once; where they are a tile, remember the root that they give it."""
        number, start = divmod(self._seen.size, WIDTH)
        if len(leaves) == WIDTH and not start:
            root = tree.full(leaves)
            self._seen.push(root, WIDTH)
            if number in kept:
                self.roots[number] = root
        else:
            self._seen.extend(leaves)
        self._last += len(leaves)

    def _one(
        self,
        seq: int,
        leaf: bytes,
        kept: Mapping[int, Sequence[bytes]],
        marks: Mapping[int, Sequence[Mark]],
        wrong: Wrong | None,
    ) -> None:
        """Take one event."""
        if seq <= self._last:
            self._fault(FaultKind.STRAY, seq, seq, "its number was given before")
            return
        while self._last + 1 < seq:
            self._miss(seq - 1, kept, marks)
        self._last = seq
        if not self._blind:
            self._take(seq, leaf, kept)
        if wrong is not None:  # before its checkpoint: that may be the first of a key it names
            self._tell(seq, wrong)
        if not self._blind:
            self._marks(marks)

    def end(self, beyond: Iterable[Mark], last_seq: int) -> Report:
        """Say what is wrong; `beyond` are stored checkpoints that are larger than the log."""
        if self._suspects:
            self._differ("and no checkpoint tells whether it or its kept hash was changed")
        self._tell_rewritten()
        outside = [mark for marks in self._outside.values() for mark in marks]
        ahead = [mark for mark in (*outside, *beyond) if mark.size > max(self.size, last_seq)]
        for mark in sorted(ahead, key=lambda mark: (-mark.size, not mark.is_outside)):
            if self._checked_note(mark):
                self._fault(
                    FaultKind.CUT_OFF,
                    last_seq + 1,
                    mark.size,
                    f"the log ends at {last_seq}, and the checkpoint in {mark.place} covers "
                    f"{mark.size} events",
                )
                break
        return Report(
            first=self._start + 1,
            last=last_seq,
            root=self._seen.root(),
            outside=self._covers[True],
            stored=self._covers[False],
            checked=self._checked,
            faults=tuple(merged(self._faults)),
            unlisted=self._unlisted,
        )

    def fault(self, fault: Fault) -> None:
        """Add what was found by other means."""
        self._fault(fault.kind, fault.first, fault.last, fault.what)

    def _take(self, seq: int, leaf: bytes, kept: Mapping[int, Sequence[bytes]]) -> None:
        known = _of(kept, seq)
        if known is not None and known != leaf:
            self._suspects.append(seq)
            if self._kept is None:
                self._kept = self._seen.copy()
        self._seen.append(leaf)
        if self._kept is not None:
            self._kept.append(known or leaf)

    def _tell(self, seq: int, wrong: Wrong) -> None:
        if wrong.kind is not None:
            self._fault(wrong.kind, seq, seq, wrong.what)
        if wrong.key:
            self._trust.announce(wrong.key)
        if wrong.left is not None:
            self.left[seq] = wrong.left

    def _miss(
        self,
        last: int,
        kept: Mapping[int, Sequence[bytes]],
        marks: Mapping[int, Sequence[Mark]],
    ) -> None:
        """Go over a missing event by its kept hash, if there is one; else the tree ends here."""
        seq = self._last + 1
        known = _of(kept, seq)
        if self._blind or known is None:
            self._fault(FaultKind.MISSING, seq, last, "not in the log")
            self._blind, self._last = True, last
            return
        self._fault(FaultKind.MISSING, seq, seq, "not in the log")
        self._last = seq
        self._seen.append(known)
        if self._kept is not None:
            self._kept.append(known)
        self._marks(marks)

    def _marks(self, marks: Mapping[int, Sequence[Mark]]) -> None:
        size = self.size
        if size in marks or size in self._outside:
            for mark in (*self._outside.get(size, ()), *marks.get(size, ())):
                self._compare(mark)

    def _compare(self, mark: Mark) -> None:
        kept = self._kept
        if self._hold(mark, lambda root: self._seen.root() == root, is_last=kept is None):
            if self._suspects:
                self._found(FaultKind.TILE, "the kept hash isn't that of the event, as signed")
        elif kept is not None and self._hold(mark, lambda root: kept.root() == root):
            self._found(FaultKind.CHANGED, f"not what the checkpoint in {mark.place} was made of")
            self._seen = kept

    def _hold(self, mark: Mark, is_root: Callable[[bytes], bool], *, is_last: bool = True) -> bool:
        """Hold the log against a checkpoint; with `is_last`, a difference is a fault."""
        checked = self._checked_note(mark, tells=is_last)
        if checked is None:
            return False
        root, keys = checked
        if is_root(root):
            self._matched(mark, keys)
            return True
        if is_last:
            self._rewritten(mark)
        return False

    def _checked_note(
        self, mark: Mark, *, tells: bool = True
    ) -> tuple[bytes, tuple[str, ...]] | None:
        """Return root and signers of a checkpoint that may be believed, or note the fault."""
        try:
            found, keys = self._trust.checked(mark.note)
            if found.size != mark.size:
                raise NoteError(f"its row says {mark.size} and its note {found.size}")
        except NoteError as error:
            if tells:
                what = f"the checkpoint of {mark.size} in {mark.place}: {error}"
                self._fault(FaultKind.SIGNATURE, mark.size, mark.size, what)
            return None
        return found.root, tuple(map(str, keys))

    def _matched(self, mark: Mark, keys: tuple[str, ...]) -> None:
        self._checked += 1
        self._good[False] = max(self._good[False], mark.size)
        if mark.is_outside:
            self._good[True] = max(self._good[True], mark.size)
        cover = self._covers[mark.is_outside]
        if self._lost[mark.is_outside] is None and (cover is None or cover.size < mark.size):
            self._covers[mark.is_outside] = Cover(size=mark.size, place=mark.place, keys=keys)
        self._trust.hand_over(mark.note)

    def _rewritten(self, mark: Mark) -> None:
        """Note the first checkpoint that doesn't fit; those after it can't."""
        self._checked += 1
        if self._lost[mark.is_outside] is None:
            good = self._good[mark.is_outside]
            self._lost[mark.is_outside] = Fault(
                kind=FaultKind.REWRITTEN,
                first=good + 1 if good < mark.size else 1,
                last=mark.size,
                what=f"the checkpoint of {mark.size} in {mark.place} was made of other events",
            )

    def _tell_rewritten(self) -> None:
        """Tell them, and whether the store's own checkpoints fit though outside ones don't."""
        stored, found = self._covers[False], self._lost[True]
        if found is not None and stored is not None and stored.size >= found.last:
            anew = "the store's own fit, so the log was signed anew, or shown in two forms"
            self._lost[True] = replace(found, what=f"{found.what}; {anew}")
        self._faults += [fault for fault in self._lost.values() if fault is not None]

    def _found(self, kind: FaultKind, what: str) -> None:
        for seq in self._suspects:
            self._fault(kind, seq, seq, what)
        self._suspects.clear()
        self._kept = None

    def _differ(self, what: str) -> None:
        self._found(FaultKind.CHANGED, f"not what its kept hash was made of, {what}")

    def _fault(self, kind: FaultKind, first: int, last: int, what: str) -> None:
        fault = Fault(kind=kind, first=first, last=last, what=what)
        previous = self._faults[-1] if self._faults else None
        if previous is not None and follows(previous, fault):
            self._faults[-1] = replace(previous, last=last)
        elif len(self._faults) < _MOST_FAULTS:
            self._faults.append(fault)
        else:
            self._unlisted += 1


def _of(kept: Mapping[int, Sequence[bytes]], seq: int) -> bytes | None:
    """Return the hash of an event that its tile holds."""
    tile = kept.get((seq - 1) // WIDTH)
    return tile[(seq - 1) % WIDTH] if tile is not None else None
