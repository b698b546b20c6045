"""The public keys of an issuer: read, kept for a while, and fetched anew when one is missing."""

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import aiohttp
import anyio

from gateway.clock import Clock
from gateway.identity.keys import MAX_BYTES, Key, KeysUnavailable, parse_keys

FETCH_TIMEOUT_S: Final = 5.0
_FRESH_S: Final = (60.0, 3600.0)  # bounds on what an issuer's Cache-Control may ask for
_DEFAULT_FRESH_S: Final = 600.0
# While an issuer can't be reached, its last keys hold this long: a key that it withdrew in the
# meantime works no longer than that.
_STALE_S: Final = 3600.0
# Anybody can send a token with an unknown key id, so those must not cause a fetch each.
_BETWEEN_FETCHES_S: Final = 10.0
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age=([0-9]{1,9})(?:$|[,\s])", re.IGNORECASE)


class KeySource(Protocol):
    """Where the keys of one issuer come from."""

    @property
    def failure(self) -> str:
        """Why the last attempt to get keys failed; empty when it didn't."""
        ...

    async def keys(self, *, kid: str) -> Sequence[Key]:
        """Return the keys in force, fetched anew if none has this id; raise KeysUnavailable."""
        ...


class FileKeys:
    """Keys from a file, read again when it changes; after a broken change the old ones hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: tuple[Key, ...] = ()
        self._failure = ""

    @property
    def failure(self) -> str:
        """Why the file can't be used as it is now; empty when it can."""
        return self._failure

    async def keys(self, *, kid: str) -> Sequence[Key]:
        """Return the keys that the file holds now; `kid` makes no difference."""
        del kid
        return self.read()

    def read(self) -> Sequence[Key]:
        """Return the keys that the file holds now; raise KeysUnavailable without any."""
        try:
            status = os.stat(self._path)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                with self._path.open("rb") as file:
                    self._keys = parse_keys(file.read(MAX_BYTES + 1))
                self._seen, self._failure = seen, ""
        except (OSError, KeysUnavailable) as error:
            self._failure = f"`{self._path}`: {error}"
            if not self._keys:
                raise KeysUnavailable(self._failure) from error
        return self._keys


class UrlKeys:
    """Keys behind a URL, kept as long as the issuer says, within bounds.

    Owner of one lock: of all calls that need a fetch, one fetches and the others wait for it, or
    go on with the keys at hand. A caller that goes away takes only its own fetch with it.
    """

    def __init__(
        self, url: str, *, clock: Clock, between_fetches_s: float = _BETWEEN_FETCHES_S
    ) -> None:
        self._url = url
        self._clock = clock
        self._between_s = between_fetches_s
        self._lock = anyio.Lock()
        self._keys: tuple[Key, ...] = ()
        self._fresh_until = -math.inf
        self._usable_until = -math.inf
        self._next_fetch = -math.inf
        self._failure = ""

    @property
    def failure(self) -> str:
        """Why the last fetch failed; empty when it didn't."""
        return self._failure

    async def keys(self, *, kid: str) -> Sequence[Key]:
        """Return the keys in force, fetched anew if none has this id; raise KeysUnavailable."""
        if self._wanted(kid) and not (self._lock.locked() and self._has(kid)):
            async with self._lock:
                if self._wanted(kid) and self._clock.monotonic() >= self._next_fetch:
                    await self._refresh()
        if not self._keys or self._clock.monotonic() >= self._usable_until:
            raise KeysUnavailable(self._failure)
        return self._keys

    def _wanted(self, kid: str) -> bool:
        return self._clock.monotonic() >= self._fresh_until or not self._has(kid)

    def _has(self, kid: str) -> bool:
        return bool(self._keys) and (not kid or any(key.kid == kid for key in self._keys))

    async def _refresh(self) -> None:
        try:
            data, fresh_s = await _fetch(self._url)
            keys = parse_keys(data)
        except KeysUnavailable as error:
            self._failure = f"`{self._url}`: {error}"
            self._next_fetch = self._clock.monotonic() + self._between_s
            return
        now = self._clock.monotonic()
        self._next_fetch = now + self._between_s
        self._keys, self._failure = keys, ""
        self._fresh_until, self._usable_until = now + fresh_s, now + fresh_s + _STALE_S


async def _fetch(url: str) -> tuple[bytes, float]:
    """Return the body, and how many seconds it stays fresh.

    INVARIANT: the configuration lets only `https://` and this machine through.
    """
    timeout = aiohttp.ClientTimeout(total=FETCH_TIMEOUT_S)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        # A redirect could lead the gateway anywhere, so none is followed.
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise KeysUnavailable(f"the answer was HTTP {response.status}")
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise KeysUnavailable("the answer is compressed although that was not asked for")
            data = await _read(response.content)
            return data, _fresh_s(response.headers.get("Cache-Control", ""))
    except TimeoutError as error:
        raise KeysUnavailable(f"no answer within {FETCH_TIMEOUT_S:g} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise KeysUnavailable(f"{type(error).__name__} while fetching") from error


async def _read(stream: aiohttp.StreamReader) -> bytes:
    data = bytearray()
    async for chunk in stream.iter_chunked(16 << 10):
        data += chunk
        if len(data) > MAX_BYTES:
            raise KeysUnavailable(f"the key set is larger than {MAX_BYTES} bytes")
    return bytes(data)


def _fresh_s(cache_control: str) -> float:
    found = _MAX_AGE.search(cache_control)
    low, high = _FRESH_S
    return min(max(float(found[1]), low), high) if found else _DEFAULT_FRESH_S
