"""Keys for digests of values, one for each tenant and purpose, from one secret of the store."""

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.store.engine import Engine

_BYTES: Final = 32
_BLOCK: Final = 64  # of SHA-256; our keys are never longer
_MARK: Final = 16  # bytes
_SUFFIX: Final = ".key"


class Keyed:
    """HMAC-SHA-256 under one key (RFC 2104), its two halves begun once: a fifth of the time."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        padded = key.ljust(_BLOCK, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))

    def digest(self, data: bytes) -> bytes:
        """Return the 32 bytes."""
        inner = self._inner.copy()
        inner.update(data)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()


class TenantKeys:
    """Derives keys by HKDF (RFC 5869): nobody gets from one tenant's key to another's."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._derive = lru_cache(maxsize=1024)(self._derived)
        # The function behind digests of a tenant in events, logs and results, ready to use.
        self.keyed: Callable[[str], Keyed] = lru_cache(maxsize=1024)(self._begun)

    def redaction(self, tenant: str) -> bytes:
        """Return the key for digests in events, logs and results."""
        return self._derive("redaction", tenant)

    def seen(self, tenant: str) -> bytes:
        """Return the key for digests of values that callers were given."""
        return self._derive("seen", tenant)

    def runs(self, tenant: str) -> bytes:
        """Return the key for digests of what calls find their runs by."""
        return self._derive("runs", tenant)

    def run_contents(self, tenant: str) -> bytes:
        """Return the key of what runs are for, and of what they have collected."""
        return self._derive("run contents", tenant)

    def operations(self, tenant: str) -> bytes:
        """Return the key of what operations keep for later."""
        return self._derive("operations", tenant)

    def seals(self) -> bytes:
        """Return the key of tokens that callers carry for us, the same on every replica."""
        return self._derive("seals", "")

    def logins(self) -> bytes:
        """Return the key of what browsers carry while people log in, the same on every replica."""
        return self._derive("logins", "")

    def fingerprint(self) -> str:
        """Return what tells this secret from another without giving anything of it away."""
        return self._derive("fingerprint", "")[:8].hex()

    def _begun(self, tenant: str) -> Keyed:
        return Keyed(self.redaction(tenant))

    def _derived(self, purpose: str, tenant: str) -> bytes:
        info = f"weighbridge/v1/{purpose}/{tenant}".encode("utf-8", "surrogatepass")
        return HKDF(algorithm=hashes.SHA256(), length=_BYTES, salt=None, info=info).derive(
            self._secret
        )


def marks(key: bytes, texts: Iterable[str]) -> list[str]:
    """Return a keyed digest of 16 bytes of each text, in hex: for hundreds at once.

    Keyed BLAKE2s (RFC 7693) is made in one step, which takes a third of the time of an HMAC.
    """
    return [
        hashlib.blake2s(text.encode("utf-8", "replace"), key=key, digest_size=_MARK).hexdigest()
        for text in texts
    ]


def digest(key: bytes, text: str) -> str:
    """Return a keyed digest of 16 bytes, in hex."""
    return hmac.digest(key, text.encode("utf-8", "replace"), hashlib.sha256)[:16].hex()


def load(engine: Engine, path: Path | None, configured: str = "") -> TenantKeys:
    """Return the keys of a store; its secret is made at the first start and never changes.

    The secret is `configured`, or in a private file beside the database at `path`. A secret other
    than the store's own raises ConfigurationError: its digests would match nothing that is kept.
    """
    if configured:
        keys = TenantKeys(hashlib.sha256(configured.encode()).digest())
    elif path is not None:
        keys = TenantKeys(_from_file(path.with_name(path.name + _SUFFIX)))
    else:
        keys = TenantKeys(_from_database(engine))
    fact = {"name": "secret", "value": keys.fingerprint()}
    with engine.transaction() as transaction:
        transaction.execute("keep_fact", fact)
        kept = transaction.fetch("get_fact", {"name": "secret"})[0].text("value")
    if kept != keys.fingerprint():
        where = f"`{path}{_SUFFIX}`" if path is not None and not configured else "the secret"
        raise ConfigurationError(
            f"{where} is not the one that this store was made with; put the right one back"
        )
    return keys


def _from_database(engine: Engine) -> bytes:
    """Keep the secret in the database, for replicas that were not given one."""
    fact = {"name": "generated_secret", "value": os.urandom(_BYTES).hex()}
    with engine.transaction() as transaction:
        transaction.execute("keep_fact", fact)
        return bytes.fromhex(
            transaction.fetch("get_fact", {"name": "generated_secret"})[0].text("value")
        )


def _from_file(path: Path) -> bytes:
    try:
        try:
            secret = path.read_bytes()
        except FileNotFoundError:
            secret = _made(path)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise StoreUnavailable(f"`{path}`: {reason}") from error
    if len(secret) != _BYTES:
        raise ConfigurationError(f"`{path}` is damaged; put a copy of it back")
    return secret


def _made(path: Path) -> bytes:
    """Write a new secret aside and link it into place: whole or not at all, and only once."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first; both use its secret
            os.link(aside, path)
    finally:
        aside.unlink()
    return path.read_bytes()
