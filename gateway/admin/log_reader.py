"""One event out of the log for a page, and whether it is what the last checkpoint says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.errors import LogChanged
from gateway.events import checkpoints, notes
from gateway.events.notes import NoteError
from gateway.store.engine import Transaction
from gateway.store.events import StoredEvent
from gateway.store.integration import StoredCheckpoint
from gateway.store.proving import Prover
from gateway.store.selection import Selection, Span, within
from gateway.store.store import Store

_DIGITS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """Whether an event is what the last checkpoint says."""

    size: int = 0  # events that the checkpoint covers; 0: there is none
    root: str = ""  # in hex
    hashes: int = 0  # from the event to the root
    fault: str = ""  # it is not, or the checkpoint can't be read

    @property
    def is_proven(self) -> bool:
        """Whether the way from the event to the root was walked."""
        return bool(self.root) and not self.fault


async def event(store: Store, name: str) -> StoredEvent | None:
    """Return an event by its id or its number; raises StoreUnavailable."""
    if name.isascii() and name.isdecimal() and len(name) <= _DIGITS:
        span = Span(int(name), int(name))
        found = await store.checkpoints.read(
            lambda transaction: within(transaction, Selection(), span, 1, newest_first=True)
        )
        return next(iter(found), None)

    def read(transaction: Transaction) -> StoredEvent | None:
        rows = transaction.fetch("place_of_event", {"id": name})
        if not rows:
            return None
        return StoredEvent(seq=rows[0].integer("seq"), body=rows[0].text("body").encode())

    return await store.checkpoints.read(read)


async def inclusion(store: Store, event: StoredEvent) -> Inclusion:
    """Walk from an event to the root of the last checkpoint; raises StoreUnavailable."""
    try:
        last = (await store.checkpoints.standing()).last
        if last is None or event.seq > last.size:
            return Inclusion(size=last.size if last is not None else 0)
        hashes = await store.checkpoints.read(_proving(last, event))
    except (LogChanged, NoteError) as error:
        return Inclusion(fault=str(error))
    return Inclusion(size=last.size, root=last.root.hex(), hashes=hashes)


def _proving(last: StoredCheckpoint, event: StoredEvent) -> Callable[[Transaction], int]:
    id = str(event.json().get("id"))

    def prove(transaction: Transaction) -> int:
        prover = Prover(checkpoints.parse(notes.parse(last.note).text))
        proven = prover.event(transaction, id)
        if proven is None or (proven.seq, proven.body) != (event.seq, event.body):
            raise LogChanged(f"event {event.seq} is not the one of its id any more")
        return len(proven.path)

    return prove
