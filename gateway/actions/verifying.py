"""Verifies the event log: every byte against every checkpoint, a page at a time."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Protocol, TypeVar

from gateway.errors import LogChanged
from gateway.events import departed, tiles
from gateway.events.faults import Fault, FaultKind
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report, Row, Verifier
from gateway.store import indexes, pages, seals
from gateway.store.engine import Transaction
from gateway.store.pages import Bounds

_T = TypeVar("_T")
_PAGE: Final = 4 * WIDTH  # events; a page begins where a tile does


class Reader(Protocol):
    """Reads the store, a transaction at a time; raises StoreUnavailable."""

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what reads."""
        ...


class Archive(Protocol):
    """A sealed file, read from its first event to its last."""

    @property
    def start(self) -> Edge:
        """The edge that it goes on from."""
        ...

    def rows(self, last: int) -> Iterator[tuple[int, bytes]]:
        """Yield the next events with their numbers, up to `last` at most."""
        ...


async def verify(
    reader: Reader, trust: Trust, outside: Sequence[Mark], archives: Sequence[Archive] = ()
) -> Report:
    """Check the log as it is now, and before it what archives hold; raises StoreUnavailable.

    What is appended meanwhile is left for the next time.
    """
    verifier = Verifier(trust, outside, Edge())
    try:
        bounds = await reader.read(pages.bounds)
        start = archives[0].start if archives else _begin(bounds)
        verifier = Verifier(trust, outside, start)
        await _checkpoints_before(reader, verifier, bounds, start, outside)
        for after in range(start.size, bounds.last_seq, _PAGE):
            last = min(after + _PAGE, bounds.last_seq)
            page = await reader.read(partial(pages.page, after=after, last=last))
            gone = min(last, bounds.sealed.size) if bounds.sealed is not None else 0
            found, doubts = _rows(archives, gone)
            verifier.page([*found, *page.rows], page.kept, page.marks)
            for fault in (*doubts, *await reader.read(partial(seals.faults, rows=page.rows))):
                verifier.fault(fault)
        faults = departed.faults(
            bounds.archives, verifier.left, start=start.size, covered=verifier.covered
        )
        for fault in [*faults, *await _further(reader, bounds)]:
            verifier.fault(fault)
    except LogChanged as error:
        verifier.fault(Fault(kind=FaultKind.TILE, first=0, last=0, what=str(error)))
        return verifier.end((), verifier.size)
    return verifier.end(bounds.beyond, bounds.last_seq)


def _rows(archives: Sequence[Archive], last: int) -> tuple[list[Row], list[Fault]]:
    """Return the next events of archives; those may overlap, and then have to say the same."""
    found: dict[int, bytes] = {}
    doubts: list[Fault] = []
    for archive in archives:
        for seq, body in archive.rows(last):
            if found.setdefault(seq, body) != body:
                what = "two archives hold other bytes of it"
                doubts.append(Fault(kind=FaultKind.CHANGED, first=seq, last=seq, what=what))
    return [pages.archived(seq, body) for seq, body in sorted(found.items())], doubts


def _begin(bounds: Bounds) -> Edge:
    return Edge() if bounds.sealed is None else Edge(bounds.sealed.size, bounds.sealed.edge)


async def _checkpoints_before(
    reader: Reader, verifier: Verifier, bounds: Bounds, start: Edge, outside: Sequence[Mark]
) -> None:
    """Check the checkpoint that the log goes on from, and outside ones of before by kept hashes."""
    sealed = bounds.sealed
    is_sealed = sealed is not None and sealed.size == start.size
    place = f"{pages.STORE}, of what is archived"
    verifier.begin(
        [Mark(size=sealed.size, note=sealed.note, place=place)] if sealed and is_sealed else []
    )
    sizes = sorted({mark.size for mark in outside if mark.size < start.size})
    if sizes:
        verifier.before(await reader.read(partial(pages.roots, sizes=sizes)))


async def _further(reader: Reader, bounds: Bounds) -> list[Fault]:
    """Look at what no page shows: numbers that are taken twice, and tiles of the levels above."""
    found = [
        Fault(kind=FaultKind.STRAY, first=seq, last=seq, what="an archive took its number")
        for seq in bounds.strays
    ]
    found += await reader.read(seals.strays)
    found += await reader.read(indexes.faults)
    for level in bounds.odd:
        odd = partial(pages.odd_tiles, level=level, covered=bounds.covered)
        found += await reader.read(odd)
    for level, many in enumerate(tiles.counts(bounds.covered)):
        for number in range(many if level else 0):
            found += await reader.read(partial(pages.tile_faults, level=level, number=number))
    return found
