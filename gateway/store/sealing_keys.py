"""The secret that sealed copies hang on: in a file, never in the database that holds the copies.

A line of the file is one secret. The first one seals, and each of them opens what it has sealed; so
a new line above the others takes over. Of a secret that is gone nothing is opened any more.
"""

import base64
import binascii
import hashlib
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.errors import ConfigurationError, WeighbridgeError
from gateway.store import key_files

SUFFIX: Final = ".sealing.key"  # after the name of a store in a file
_PREFIX: Final = "weighbridge-sealing-key+"
_VERSION: Final = "v1"
_BYTES: Final = 32
_NONCE: Final = 12
_SQLITE: Final = "sqlite:///"


class SealBroken(WeighbridgeError):
    """A sealed copy or its key isn't what was sealed there: somebody changed or moved it."""


class OtherKey(WeighbridgeError):
    """It was sealed under a secret that is not in the file."""


class SealingKeys:
    """Wraps data keys under the key of a tenant (HKDF, AES-256-GCM)."""

    def __init__(self, *secrets: bytes) -> None:
        self._secrets = {_fingerprint(secret): secret for secret in secrets}
        self._first = _fingerprint(secrets[0])
        self._cipher = lru_cache(maxsize=1024)(self._made)

    @property
    def fingerprint(self) -> str:
        """Tell the secret that seals from others, without giving anything of it away."""
        return self._first

    def knows(self, wrapped: str) -> bool:
        """Whether a wrapped data key was wrapped under one of these secrets."""
        return _maker(wrapped)[0] in self._secrets

    def wrap(self, tenant: str, place: bytes, key: bytes) -> str:
        """Return a data key as the database may have it."""
        sealed = sealed_bytes(self._cipher(self._first, tenant), place, key)
        return f"{_VERSION}.{self._first}.{sealed}"

    def unwrap(self, tenant: str, place: bytes, wrapped: str) -> bytes:
        """Return a data key; raises OtherKey and SealBroken."""
        fingerprint, sealed = _maker(wrapped)
        if fingerprint not in self._secrets:
            raise OtherKey(f"it was sealed under another key, `{fingerprint[:16]}`")
        return opened_bytes(self._cipher(fingerprint, tenant), place, sealed)

    def _made(self, fingerprint: str, tenant: str) -> AESGCM:
        info = f"weighbridge/v1/sealing/{tenant}".encode("utf-8", "surrogatepass")
        derived = HKDF(algorithm=hashes.SHA256(), length=_BYTES, salt=None, info=info)
        return AESGCM(derived.derive(self._secrets[fingerprint]))


def sealed_bytes(cipher: AESGCM, place: bytes, content: bytes) -> str:
    """Encrypt for one place; a text in ASCII."""
    nonce = os.urandom(_NONCE)
    return base64.b64encode(nonce + cipher.encrypt(nonce, content, place)).decode()


def opened_bytes(cipher: AESGCM, place: bytes, text: str) -> bytes:
    """Decrypt what was encrypted for this very place; raises SealBroken."""
    try:
        sealed = base64.b64decode(text, validate=True)
        return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place)
    except (binascii.Error, ValueError, InvalidTag) as error:
        raise SealBroken("it does not open: it was changed, or is of another place") from error


def beside(store_url: str) -> Path | None:
    """Return where the file is by default, for a store in a file; None for other stores."""
    if not store_url.startswith(_SQLITE):
        return None
    path = Path(store_url.removeprefix(_SQLITE))
    return path.with_name(path.name + SUFFIX)


def read(path: Path) -> SealingKeys:
    """Return the secrets of a file; raises ConfigurationError, which gives nothing of them away."""
    try:
        lines = path.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        raise ConfigurationError(
            f"`{path}`: there is no key for sealed copies; put it back, or make one with "
            "`weighbridge events keys seal`, which opens nothing of before"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigurationError(f"`{path}`: {(reason or 'no access').lower()}") from None
    secrets = [_secret(line) for line in lines]
    found = [secret for secret in secrets if secret is not None]
    if not found or len(found) < len(secrets):
        raise ConfigurationError(f"`{path}` is damaged; put a copy of it back")
    return SealingKeys(*found)


def make(path: Path) -> SealingKeys:
    """Make a file, for its owner's eyes only; one that is there is left as it is, and read."""
    line = f"{_PREFIX}{base64.b64encode(os.urandom(_BYTES)).decode()}\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = key_files.written_aside(path, line)
        try:
            with suppress(FileExistsError):  # whole or not at all, and only once
                os.link(aside, path)
        finally:
            aside.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"`{path}`: the key for sealed copies can't be written: "
            f"{(error.strerror or 'no access').lower()}"
        ) from None
    return read(path)


def _secret(line: str) -> bytes | None:
    with suppress(binascii.Error, ValueError):
        found = base64.b64decode(line.removeprefix(_PREFIX), validate=True)
        if line.startswith(_PREFIX) and len(found) == _BYTES:
            return found
    return None


def _maker(wrapped: str) -> tuple[str, str]:
    """Return the fingerprint of the secret that a data key was wrapped under, and the rest."""
    _, _, rest = wrapped.partition(".")
    fingerprint, _, sealed = rest.partition(".")
    return fingerprint, sealed


def _fingerprint(secret: bytes) -> str:
    return hashlib.sha256(b"weighbridge/v1/sealing/fingerprint" + secret).hexdigest()[:16]
