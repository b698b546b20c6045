"""Tokens that callers carry for us: nobody else can read, make or change one (AES-256-GCM).

A token says what it is for, whose it is and until when; it is no credential by itself, and says
nothing about how often it is used (MCP 2026-07-28, basic/patterns/mrtr).
"""

import base64
import binascii
import os
import re
from datetime import datetime, timedelta
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway import jsontext
from gateway.clock import Clock
from gateway.errors import JsonError, WeighbridgeError
from gateway.types.json import JsonObject

_PREFIX: Final = "wb1."
_MARK: Final = re.compile(r"^w[0-9]{1,3}\.")
_NONCE: Final = 12
LONGEST: Final = 64 * 1024  # characters of a token that are looked at


class SealBroken(WeighbridgeError):
    """A token isn't ours, is for something else, or is too old; the text is for the log only."""


class Seals:
    """Seals and opens tokens under one key, which every replica shares.

    `mark` names this worker, in clear: where a token comes back, it is best opened there.
    """

    def __init__(self, key: bytes, clock: Clock, *, mark: str = "") -> None:
        self._cipher = AESGCM(key)
        self._clock = clock
        self._prefix = f"{_PREFIX}{mark}." if mark else _PREFIX

    def seal(self, purpose: str, claims: JsonObject, *, for_s: float | None = None) -> str:
        """Return a token of URL-safe characters; without `for_s` it does not expire."""
        until = None if for_s is None else self._clock.now() + timedelta(seconds=for_s)
        body = jsontext.dump({"until": until.isoformat() if until else None, "claims": claims})
        nonce = os.urandom(_NONCE)
        sealed = nonce + self._cipher.encrypt(nonce, body, _bound_to(purpose))
        return self._prefix + base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, purpose: str, token: str) -> JsonObject:
        """Return the claims of a token; raises SealBroken."""
        if not token.startswith(_PREFIX) or len(token) > LONGEST:
            raise SealBroken("not one of ours")
        text = _MARK.sub("", token.removeprefix(_PREFIX))  # whatever worker it was made by
        try:
            sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            body = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound_to(purpose))
            message = jsontext.parse_result(body)
        except (binascii.Error, ValueError, InvalidTag, JsonError) as error:
            raise SealBroken("does not open") from error
        if not isinstance(message, dict) or not isinstance(claims := message["claims"], dict):
            raise SealBroken("holds no claims")
        until = message["until"]
        if isinstance(until, str) and datetime.fromisoformat(until) <= self._clock.now():
            raise SealBroken("is too old")
        return claims


def _bound_to(purpose: str) -> bytes:
    return f"weighbridge/{_PREFIX}{purpose}".encode()
