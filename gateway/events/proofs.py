"""Proofs as files (C2SP tlog-proof): that an event is in the log, to be checked without it."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.events import checkpoints, notes, tree
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Key, NoteError

_FIRST: Final = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The way from one leaf to the root of a checkpoint, with its note as it was signed."""

    index: int
    path: tuple[bytes, ...]
    note: str

    def text(self) -> str:
        """Write the file."""
        lines = [_FIRST, f"index {self.index}", *written(self.path)]
        return "\n".join(lines) + f"\n\n{self.note}"

    def proven(self, data: bytes, keys: Sequence[Key]) -> Checkpoint:
        """Return the checkpoint that these bytes are proven under; raises NoteError."""
        note = notes.parse(self.note)
        if not note.signed_by(keys):
            raise NoteError("its checkpoint is signed by nobody who is trusted")
        found = checkpoints.parse(note.text)
        leaf = tree.leaf_hash(data)
        if not tree.is_included(leaf, self.index, found.size, self.path, found.root):
            raise NoteError("the proof doesn't lead from these bytes to the checkpoint's root")
        return found


def written(hashes: Sequence[bytes]) -> list[str]:
    """Write hashes as the lines of a proof."""
    return [base64.b64encode(each).decode() for each in hashes]


def parse(text: str) -> Proof:
    """Read a file; raises NoteError."""
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    if lines[0] != _FIRST or not blank:
        raise NoteError("it is no proof: that begins with `c2sp.org/tlog-proof@v1`")
    rest = lines[2:] if lines[1:2] and lines[1].startswith("extra ") else lines[1:]
    if not rest or not rest[0].startswith("index "):
        raise NoteError("it doesn't say of which event it is the proof")
    number = rest[0].removeprefix("index ")
    if not (number.isascii() and number.isdecimal()) or str(int(number)) != number:
        raise NoteError("its index is no number")
    return Proof(index=int(number), path=tuple(map(_hash, rest[1:])), note=note)


def _hash(line: str) -> bytes:
    try:
        found = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != tree.HASH_BYTES:
        raise NoteError("it has a line that is no hash")
    return found
