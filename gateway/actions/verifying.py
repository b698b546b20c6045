"""Verifies the event log: every byte against every checkpoint, a page at a time."""

import os
import sys
from asyncio import Future
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import cycle
from typing import Final, Protocol, TypeAlias, TypeVar

from gateway.errors import LogChanged
from gateway.events import departed, tiles
from gateway.events.faults import Fault, FaultKind
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report, Row, Verifier
from gateway.store import indexes, pages, seals
from gateway.store.engine import Transaction
from gateway.store.pages import Bounds, Page

_T = TypeVar("_T")


class Depth(StrEnum):
    """How far a verification goes; each depth has what is before it as well."""

    BYTES = "bytes"  # of events, against checkpoints and kept hashes
    COLUMNS = "columns"  # what queries go by, against what events say; copies, counts of indexes
    INDEXES = "indexes"  # each event, looked up by each index


_PAGE: Final = 4 * WIDTH  # events; a page begins where a tile does
_MOST_READERS: Final = 4  # what they find is checked by one
_BYTES: Final = 64 << 20  # of pages that wait to be checked, where they are more than one
_Found: TypeAlias = tuple[Page, list[Fault]]


class Reader(Protocol):
    """Reads the store, a transaction at a time; raises StoreUnavailable."""

    def begin(self, work: Callable[[Transaction], _T]) -> Future[_T]:
        """Begin to run what reads."""
        ...


class Log(Protocol):
    """The log in the store."""

    def readers(self, many: int) -> AbstractContextManager[Sequence[Reader]]:
        """Have so many readers, which read side by side."""
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
    log: Log,
    trust: Trust,
    outside: Sequence[Mark],
    archives: Sequence[Archive] = (),
    *,
    depth: Depth = Depth.COLUMNS,
    told: Callable[[int, int], None] | None = None,
) -> Report:
    """Check the log as it is now, and before it what archives hold; raises StoreUnavailable.

    What is appended meanwhile is left for the next time. Pages are read side by side, on all cores
    but no more than a few, while the one before them is checked. `told` hears from time to time up
    to which event all is done, and which one is the last.
    """
    with log.readers(min(_MOST_READERS, cores()) + 1) as (aside, *readers):
        reader = readers[0]
        indexed = aside.begin(_indexes(depth))
        verifier = Verifier(trust, outside, Edge())
        try:
            bounds = await reader.begin(pages.bounds)
            start = archives[0].start if archives else _begin(bounds)
            verifier = Verifier(trust, outside, start)
            await _checkpoints_before(reader, verifier, bounds, start, outside)
            spans = [
                (after, min(after + _PAGE, bounds.last_seq))
                for after in range(start.size, bounds.last_seq, _PAGE)
            ]
            room = _Room(most=2 * len(readers))
            with closing(_ahead(readers, spans, room, _pages(depth))) as found:
                for (_, last), page in zip(spans, found, strict=True):
                    room.fit(await page)
                    _check(verifier, *await page, archives, min(last, _sealed(bounds)))
                    if told is not None:
                        told(last, bounds.last_seq)
            faults = departed.faults(
                bounds.archives, verifier.left, start=start.size, covered=verifier.covered
            )
            beside = [] if depth is Depth.BYTES else await reader.begin(seals.strays)
            further = await _further(reader, bounds, verifier.roots)
            for fault in [*faults, *await indexed, *beside, *further]:
                verifier.fault(fault)
        except LogChanged as error:
            verifier.fault(Fault(kind=FaultKind.TILE, first=0, last=0, what=str(error)))
            return verifier.end((), verifier.size)
        finally:
            _leave(indexed)
        return verifier.end(bounds.beyond, bounds.last_seq)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@dataclass(slots=True, kw_only=True)
class _Room:
    """How many pages are read ahead: one at first, and few where they are large."""

    most: int
    pages: int = 1

    def fit(self, found: _Found) -> None:
        """Go by the size of a page."""
        size = sum(len(body) for _, body in found[0].rows)
        self.pages = max(1, min(self.most, _BYTES // max(1, size)))


def _ahead(
    readers: Sequence[Reader],
    spans: Sequence[tuple[int, int]],
    room: _Room,
    page: Callable[..., _Found],
) -> Generator[Future[_Found], None, None]:
    """Yield the pages in order; meanwhile each reader has one to read and one that waits."""
    waiting = deque[Future[_Found]]()
    try:
        for reader, (after, last) in zip(cycle(readers), spans, strict=False):
            waiting.append(reader.begin(partial(page, after=after, last=last)))
            while len(waiting) > room.pages:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for each in waiting:
            _leave(each)


def _leave(future: Future[_T]) -> None:
    """Wait for it no more; what it may have failed of already is told by another one."""
    if not future.cancel() and not future.cancelled():
        future.exception()


def _check(
    verifier: Verifier, page: Page, beside: Sequence[Fault], archives: Sequence[Archive], gone: int
) -> None:
    """Check a page, with what archives hold up to the event `gone`."""
    found, doubts = _rows(archives, gone)
    wrongs = {**pages.archived(found), **page.wrongs}
    verifier.page([*found, *page.rows], page.kept, page.marks, wrongs)
    for fault in (*doubts, *beside):
        verifier.fault(fault)


def _sealed(bounds: Bounds) -> int:
    return bounds.sealed.size if bounds.sealed is not None else 0


def _indexes(depth: Depth) -> Callable[[Transaction], list[Fault]]:
    """Return what looks at the indexes."""
    if depth is Depth.BYTES:
        return lambda transaction: []
    return partial(indexes.faults, are_doubted=depth is Depth.INDEXES)


def _pages(depth: Depth) -> Callable[..., _Found]:
    """Return what reads pages."""
    return _bytes if depth is Depth.BYTES else _page


def _bytes(transaction: Transaction, *, after: int, last: int) -> _Found:
    """Return a page of which nothing but the bytes counts."""
    return pages.page_of_bytes(transaction, after=after, last=last), []


def _page(transaction: Transaction, *, after: int, last: int) -> _Found:
    """Return a page, and what is wrong with the sealed copies beside its events."""
    page = pages.page(transaction, after=after, last=last)
    return page, seals.faults(transaction, after=after, last=last, telling=page.sealed)


def _rows(archives: Sequence[Archive], last: int) -> tuple[list[Row], list[Fault]]:
    """Return the next events of archives; those may overlap, and then have to say the same."""
    found: dict[int, bytes] = {}
    doubts: list[Fault] = []
    for archive in archives:
        for seq, body in archive.rows(last):
            if found.setdefault(seq, body) != body:
                what = "two archives hold other bytes of it"
                doubts.append(Fault(kind=FaultKind.CHANGED, first=seq, last=seq, what=what))
    return sorted(found.items()), doubts


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
        verifier.before(await reader.begin(partial(pages.roots, sizes=sizes)))


async def _further(reader: Reader, bounds: Bounds, known: Mapping[int, bytes]) -> list[Fault]:
    """Look at what no page shows: numbers that are taken twice, and tiles of the levels above."""
    found = [
        Fault(kind=FaultKind.STRAY, first=seq, last=seq, what="an archive took its number")
        for seq in bounds.strays
    ]
    for level in bounds.odd:
        odd = partial(pages.odd_tiles, level=level, covered=bounds.covered)
        found += await reader.begin(odd)
    for level, many in enumerate(tiles.counts(bounds.covered)):
        for number in range(many if level else 0):
            work = partial(pages.tile_faults, level=level, number=number, known=known)
            found += await reader.begin(work)
    return found
