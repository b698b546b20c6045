"""What left the log for archives, and their names, for whoever asks about that time."""

from datetime import datetime
from typing import Final

from gateway.actions import questions
from gateway.events.upkeep import ARCHIVED
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import EventKind
from gateway.types.values import value

_MOST: Final = 50  # events that are asked for names: one tells of each step of an archive
_NAMED: Final = 3


@value
class Departed:
    """Events 1 to `size`, of which none is later than `at`; `files` hold them, the newest first."""

    size: int
    at: datetime
    files: tuple[str, ...] = ()

    def is_about(self, since: datetime | None) -> bool:
        """Whether a time that begins then may have lost events to archives."""
        return since is None or since <= self.at

    @property
    def said(self) -> str:
        """What there is to say of it, as one line, without the names."""
        return f"events 1 to {self.size} left the log for archives, and are not here"

    @property
    def named(self) -> str:
        """The same with the names of the last archives."""
        shown = ", ".join(f"`{each}`" for each in self.files[:_NAMED])
        more = " and older ones" if len(self.files) > _NAMED else ""
        return f"{self.said}: {shown}{more}" if shown else self.said


async def left(store: Store) -> Departed | None:
    """Return what left the log; None where nothing did. Raises StoreUnavailable and LogChanged."""
    sealed = await store.retention.sealed()
    if sealed is None:
        return None
    wanted = Selection(kinds=(EventKind.ADMIN.value,), actions=(ARCHIVED,))
    told = await questions.page(store.events, wanted, limit=_MOST, newest_first=True)
    bodies = (event.json().get("body") for event in told.events)
    files = (body.get("file") for body in bodies if isinstance(body, dict))
    names = tuple(dict.fromkeys(each for each in files if isinstance(each, str) and each))
    return Departed(size=sealed.size, at=sealed.at, files=names)
