"""Takes a prefix out of the log: verified, sealed in a file, and only then removed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from gateway.actions import archives
from gateway.actions.archives import ArchiveFile, Head
from gateway.actions.verifying import verify
from gateway.clock import Clock
from gateway.errors import LogChanged, StoreUnavailable
from gateway.events.notes import Key
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.trust import Trust
from gateway.store import integration
from gateway.store.checkpoints import Sign
from gateway.store.engine import Transaction
from gateway.store.integration import StoredCheckpoint
from gateway.store.retention import Sealed
from gateway.store.store import Store
from gateway.types.events import Event

MOST: Final = 1_000_000  # events of one archive
STEP: Final = 40 * WIDTH  # that are removed in one transaction: writers wait for it
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What became of it; nothing was archived when `last` is below `first`."""

    first: int
    last: int
    stop: str  # why no more could go
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archiving:
    """What it takes: the store, who signs, who is trusted, and how the event reads."""

    store: Store
    sign: Sign
    origin: str
    keys: Sequence[Key]
    clock: Clock
    event: Callable[[Archived, bytes], Event]
    """Says what left the log, given the root up to there."""

    async def archive(self, before: datetime, path: Path, most: int = MOST) -> Archived:
        """Archive what is older than a time; raises LogChanged, StoreUnavailable and
        ConfigurationError, and then the file says whether it was written.
        """
        await self._cover()
        report = await verify(self.store.checkpoints, Trust(self.keys), ())
        if not report.is_whole:
            raise LogChanged("the log is not whole; see `weighbridge events verify`")
        prefix = await self.store.retention.prefix(before, most)
        found = Archived(first=prefix.first, last=prefix.last, stop=prefix.stop)
        if prefix.last < prefix.first:
            return found
        checkpoint = await self._checkpoint(prefix.last)
        sealed = await self.store.retention.sealed()
        await self._write(path, _begin(sealed), checkpoint)
        digest = _checked(path)
        try:
            for first in range(prefix.first, prefix.last, STEP):
                last = min(first + STEP - 1, prefix.last)
                await self._remove(
                    Archived(first=first, last=last, stop=prefix.stop, digest=digest)
                )
        except (StoreUnavailable, LogChanged) as error:
            raise type(error)(
                f"{error}; `{path}` is whole, and `weighbridge events verify` says where the log "
                "begins now"
            ) from error
        return replace(found, digest=digest)

    async def _cover(self) -> None:
        """Have what was archived before, and stopped then, under a checkpoint as well."""
        if await self.store.retention.sealed() is None:
            return
        try:
            while await self.store.checkpoints.make(self.sign) is not None:
                pass
        except LogChanged as error:
            raise LogChanged(f"the log is not whole: {error}") from error

    async def _remove(self, part: Archived) -> None:
        checkpoint = await self._checkpoint(part.last)
        event = self.event(part, checkpoint.root)
        if not await self.store.retention.remove(
            checkpoint, first=part.first, digest=part.digest, event=event
        ):
            raise LogChanged(f"events {part.first} to {part.last} went on hold meanwhile, and stay")

    async def _checkpoint(self, size: int) -> StoredCheckpoint:
        """Return the checkpoint that the archive ends with; one that nobody made is made now."""
        known = await self.store.checkpoints.of(size)
        if known is not None:
            return known
        edge = await self.store.checkpoints.read(partial(_edge, size=size))
        note = self.sign(size, edge.root())
        return StoredCheckpoint(
            size=size, root=edge.root(), edge=edge.hashes, note=note, at=self.clock.now()
        )

    async def _write(self, path: Path, begin: Edge, checkpoint: StoredCheckpoint) -> None:
        head = Head(
            origin=self.origin,
            begin=begin,
            end=Edge(checkpoint.size, checkpoint.edge),
            note=checkpoint.note,
        )
        with archives.written(path, head) as add:
            for after in range(begin.size, checkpoint.size, _PAGE):
                last = min(after + _PAGE, checkpoint.size)
                for body in await self.store.checkpoints.read(
                    partial(integration.bodies, after=after, last=last)
                ):
                    add(body)


def _begin(sealed: Sealed | None) -> Edge:
    return Edge() if sealed is None else Edge(sealed.size, sealed.edge)


def _edge(transaction: Transaction, *, size: int) -> Edge:
    """Return the edge at a size that fills whole tiles, from their hashes."""
    subtree = integration.subtrees(transaction)
    hashes: list[bytes] = []
    start = 0
    for bit in range(size.bit_length() - 1, -1, -1):
        if size >> bit & 1:
            hashes.append(subtree(start, start + (1 << bit)))
            start += 1 << bit
    return Edge(size, hashes)


def _checked(path: Path) -> str:
    """Read a file again as it is on its disk, and return its digest."""
    with ArchiveFile(path) as file:
        return file.check()
