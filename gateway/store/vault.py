"""What is kept for later and nobody else may read: AES-256-GCM, bound to its place, and digests."""

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway import jsontext
from gateway.errors import WeighbridgeError
from gateway.store.keys import Keyed
from gateway.types.json import Json

_NONCE: Final = 12
SEALED: Final = "v1."  # how every sealed text begins
_DIGESTS: Final = b"weighbridge/v1/digests"  # what the key of digests is made for


class VaultBroken(WeighbridgeError):
    """What was kept does not open: another key, another place, or somebody changed it."""


class Vault:
    """Seals bytes under the key of a tenant; `place` says what they are of."""

    def __init__(self, key: Callable[[str], bytes]) -> None:
        self._key = key
        self._cipher = lru_cache(maxsize=1024)(self._made)
        self._keyed = lru_cache(maxsize=1024)(self._begun)

    def _made(self, tenant: str) -> AESGCM:
        return AESGCM(self._key(tenant))

    def _begun(self, tenant: str) -> Keyed:
        return Keyed(hmac.digest(self._key(tenant), _DIGESTS, hashlib.sha256))

    def digest(self, tenant: str, value: Json) -> str:
        """Return `hmac-sha256:` and 64 hex digits over the RFC 8785 form; raises `JsonError`.

        The same for the same value, on every gateway of the store; who reads the store and guesses
        at a short secret learns nothing by it.
        """
        return f"hmac-sha256:{self._keyed(tenant).digest(jsontext.canonical(value)).hex()}"

    def seal(self, tenant: str, place: str, content: bytes) -> str:
        """Return a text in ASCII."""
        nonce = os.urandom(_NONCE)
        sealed = self._cipher(tenant).encrypt(nonce, content, place.encode())
        return SEALED + base64.b64encode(nonce + sealed).decode()

    def open(self, tenant: str, place: str, text: str) -> bytes:
        """Return the bytes; raises `VaultBroken`."""
        try:
            sealed = base64.b64decode(text.removeprefix(SEALED), validate=True)
            cipher = self._cipher(tenant)
            return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode())
        except (binascii.Error, ValueError, InvalidTag) as error:
            raise VaultBroken(
                "what was kept does not open; is the store's key the same?"
            ) from error
