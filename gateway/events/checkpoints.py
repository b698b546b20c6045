"""Checkpoints of the log (C2SP tlog-checkpoint): how long it is, and the root of its tree."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.events import notes
from gateway.events.notes import NoteError, Signer
from gateway.events.tree import HASH_BYTES

_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What is signed: events 1 to `size` of the log `origin` are the leaves under `root`."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Write the text of the note."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def signed(self, signers: Sequence[Signer]) -> str:
        """Write the note."""
        return notes.signed(self.text(), signers)


def parse(text: str) -> Checkpoint:
    """Read the text of a note, without what signs it; raises NoteError."""
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
        raise NoteError("it is no checkpoint: that has an origin, a size and a root")
    origin, size, root = lines[:3]
    if not _SIZE.fullmatch(size):
        raise NoteError("its second line is no size")
    try:
        found = base64.b64decode(root, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != HASH_BYTES:
        raise NoteError("its third line is no root")
    return Checkpoint(origin=origin, size=int(size), root=found)
