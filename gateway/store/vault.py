"""What is kept for later and nobody else may read: AES-256-GCM, bound to its place."""

import base64
import binascii
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway.errors import WeighbridgeError

_NONCE: Final = 12
_VERSION: Final = "v1."


class VaultBroken(WeighbridgeError):
    """What was kept does not open: another key, another place, or somebody changed it."""


class Vault:
    """Seals bytes under the key of a tenant; `place` says what they are of."""

    def __init__(self, key: Callable[[str], bytes]) -> None:
        self._key = key
        self._cipher = lru_cache(maxsize=1024)(self._made)

    def _made(self, tenant: str) -> AESGCM:
        return AESGCM(self._key(tenant))

    def seal(self, tenant: str, place: str, content: bytes) -> str:
        """Return a text in ASCII."""
        nonce = os.urandom(_NONCE)
        sealed = self._cipher(tenant).encrypt(nonce, content, place.encode())
        return _VERSION + base64.b64encode(nonce + sealed).decode()

    def open(self, tenant: str, place: str, text: str) -> bytes:
        """Return the bytes; raises `VaultBroken`."""
        try:
            sealed = base64.b64decode(text.removeprefix(_VERSION), validate=True)
            cipher = self._cipher(tenant)
            return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode())
        except (binascii.Error, ValueError, InvalidTag) as error:
            raise VaultBroken(
                "what was kept does not open; is the store's key the same?"
            ) from error
