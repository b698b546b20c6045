"""Signed notes (C2SP signed-note): a text and under it who signed it, with Ed25519.

Keys are written as the Go tools for notes write them, so that those can check ours: a public key is
`name+id+base64`, a private one `PRIVATE+KEY+name+id+base64`.
"""

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ED25519: Final = b"\x01"  # the type of a signature
_KEY_BYTES: Final = 32
_ID_BYTES: Final = 4
_PRIVATE: Final = "PRIVATE+KEY+"
_DASH: Final = "\u2014 "
_MOST_BYTES: Final = 64 << 10
_MOST_SIGNATURES: Final = 64


class NoteError(ValueError):
    """A note or a key can't be read, or nobody who is trusted has signed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Whose signatures count: a name with a public key."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """What signatures name it by, beside its name; four bytes."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        """Write it as people hand it on."""
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(_ED25519 + self.public).decode()}"

    def verifies(self, text: str, signature: bytes) -> bool:
        """Whether the owner of this key has signed a text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A private key with its name; its text is a secret."""

    name: str
    seed: bytes

    def __repr__(self) -> str:
        """Give nothing away."""
        return f"Signer({self.name!r})"

    @property
    def key(self) -> Key:
        """The public half."""
        public = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return Key(name=self.name, public=public.public_bytes_raw())

    def sign(self, text: str) -> bytes:
        """Return the signature over a text."""
        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(text.encode())

    def secret(self) -> str:
        """Write it as its file holds it."""
        data = base64.b64encode(_ED25519 + self.seed).decode()
        return f"{_PRIVATE}{self.name}+{self.key.id.hex()}+{data}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One signature line, whoever made it."""

    name: str
    id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text, which ends with a newline, and who says that he signed it."""

    text: str
    signatures: tuple[Signature, ...]

    def signed_by(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """Return which of these keys have signed it, checked.

        Raises NoteError when a line names one of them and its signature doesn't hold.
        """
        found: list[Key] = []
        for key in keys:
            for line in self.signatures:
                if (line.name, line.id) != (key.name, key.id):
                    continue
                if not key.verifies(self.text, line.signature):
                    raise NoteError(f"the signature of `{key.name}` doesn't hold")
                found.append(key)
                break
        return tuple(found)


def is_name(name: str) -> bool:
    """Whether a text can be the name of a key: no blanks, no plus sign, not empty."""
    return bool(name) and "+" not in name and name.isprintable() and not any(map(str.isspace, name))


def signed(text: str, signers: Sequence[Signer]) -> str:
    """Return a note: the text, which has to end with a newline, and a line of each signer."""
    if not text.endswith("\n") or not _is_clean(text):
        raise NoteError("a note has to end with a newline and to hold no control characters")
    lines = [
        f"{_DASH}{signer.name} {base64.b64encode(signer.key.id + signer.sign(text)).decode()}\n"
        for signer in signers
    ]
    return f"{text}\n{''.join(lines)}"


def parse(note: str) -> Note:
    """Read a note; raises NoteError. What it says is not to be believed before it is checked."""
    if len(note.encode("utf-8", "replace")) > _MOST_BYTES or not _is_clean(note):
        raise NoteError("it is too long, or holds control characters")
    text, blank, lines = note.rpartition("\n\n")
    signatures = lines.removesuffix("\n").split("\n")
    if not blank or not note.endswith("\n") or len(signatures) > _MOST_SIGNATURES:
        raise NoteError("it is no signed note")
    return Note(text=text + "\n", signatures=tuple(map(_signature, signatures)))


def key_of(text: str) -> Key:
    """Read a public key; raises NoteError."""
    name, id_, data = _parts(text.strip(), "a public key reads `name+id+base64`")
    key = Key(name=name, public=data)
    if key.id.hex() != id_:
        raise NoteError("a public key has an id that isn't its own; is it whole?")
    return key


def signer_of(text: str) -> Signer:
    """Read a private key; raises NoteError, which says nothing of it."""
    text = text.strip()
    said = "a private key reads `PRIVATE+KEY+name+id+base64`"
    if not text.startswith(_PRIVATE):
        raise NoteError(said)
    name, id_, data = _parts(text.removeprefix(_PRIVATE), said)
    signer = Signer(name=name, seed=data)
    if signer.key.id.hex() != id_:
        raise NoteError("a private key has an id that isn't its own; is it whole?")
    return signer


def _signature(line: str) -> Signature:
    name, _, data = line.removeprefix(_DASH).partition(" ")
    made = _decoded(data)
    if not line.startswith(_DASH) or not is_name(name) or len(made) <= _ID_BYTES:
        raise NoteError("it has a line among its signatures that is none")
    return Signature(name=name, id=made[:_ID_BYTES], signature=made[_ID_BYTES:])


def _parts(text: str, said: str) -> tuple[str, str, bytes]:
    parts = text.split("+", 2)
    if len(parts) != 3 or not is_name(parts[0]):
        raise NoteError(said)
    data = _decoded(parts[2])
    if data[:1] != _ED25519 or len(data) != 1 + _KEY_BYTES:
        raise NoteError(f"{said}, for Ed25519")
    return parts[0], parts[1], data[1:]


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_clean(text: str) -> bool:
    return not any(each < " " and each != "\n" for each in text)
