"""Whose checkpoints count: keys that were configured, and keys that these handed over to."""

from collections.abc import Iterable

from gateway.events import checkpoints, notes
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Key, NoteError


class Trust:
    """The keys that are trusted so far.

    A key takes over from another by an event that names it, and by a checkpoint over that event
    which both have signed.
    """

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = list(dict.fromkeys(keys))
        self._announced: list[Key] = []

    @property
    def keys(self) -> tuple[Key, ...]:
        """All that are trusted by now."""
        return tuple(self._keys)

    def announce(self, key: str) -> None:
        """Take note of a key that an event of the log names; it isn't trusted for that alone."""
        try:
            self._announced.append(notes.key_of(key))
        except NoteError:
            return

    def checked(self, note: str) -> tuple[Checkpoint, tuple[Key, ...]]:
        """Return what a note says and which trusted keys have signed it; raises NoteError."""
        read = notes.parse(note)
        found = checkpoints.parse(read.text)
        signers = read.signed_by(self._keys)
        if not signers:
            names = ", ".join(f"`{each.name}` ({each.id.hex()})" for each in read.signatures[:3])
            raise NoteError(f"nobody who is trusted has signed it, but {names}")
        if all(key.name != found.origin for key in signers):
            raise NoteError(f"it is of another log, `{found.origin}`")
        return found, signers

    def hand_over(self, note: str) -> None:
        """Trust the announced keys that have signed a checkpoint, which was found to be right."""
        if self._announced:
            try:
                new = notes.parse(note).signed_by(self._announced)
            except NoteError:
                return
            self._keys += [key for key in new if key not in self._keys]
