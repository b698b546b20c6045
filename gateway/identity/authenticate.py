"""From the headers of a request to a principal, or to a challenge."""

import contextlib
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import anyio

from gateway.clock import Clock
from gateway.identity import metadata
from gateway.identity.apikeys import PREFIX, ApiKeys, Hashed, KeyEntry
from gateway.identity.challenge import Challenge, Rejected
from gateway.identity.jwks import FileKeys, KeySource, UrlKeys
from gateway.identity.keys import KeysUnavailable
from gateway.identity.local import LocalEntry, local_principal
from gateway.identity.shown import Shown
from gateway.identity.tokens import Issuer, IssuerEntry, Tokens, Verified
from gateway.types.calls import Principal
from gateway.types.json import JsonObject

_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)  # RFC 6750, 2.1
_LOOK_S: Final = 15.0  # between two looks at the keys; fetched only when they are due
_AUTHORIZATION: Final = b"authorization"
_LENGTH: Final = len(_AUTHORIZATION)
_CACHE_SIZE: Final = 10_000
_CACHE_S: Final = 60.0  # a key that its issuer withdraws works at most this much longer


class PublishedIssuer(IssuerEntry, Protocol):
    """An issuer, and where its keys are."""

    @property
    def jwks_url(self) -> str | None:
        """Where its keys are published; None means a file."""
        ...

    @property
    def jwks_file(self) -> Path | None:
        """File with its keys; None means a URL."""
        ...


class IdentityEntries(Protocol):
    """Who may call, as the configuration names it."""

    @property
    def local(self) -> LocalEntry:
        """Who acts where no credential is needed."""
        ...

    @property
    def api_keys(self) -> Collection[KeyEntry]:
        """The accepted keys."""
        ...

    @property
    def jwt(self) -> Collection[PublishedIssuer]:
        """The accepted issuers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    verified: Verified
    until: float  # monotonic seconds


class Authenticator:
    """Decides who calls, by the `Authorization` header alone.

    No other header, no query and nothing in a request's body says who acts: not `X-Tenant-ID`, not
    `X-Forwarded-*`, not `X-API-Key` (an API key is a bearer token too). Owner of the cache of
    verified tokens, which is keyed by their digests, so that no token is kept.
    """

    def __init__(self, entries: IdentityEntries, *, resource: str, clock: Clock) -> None:
        self._clock = clock
        self._resource = resource
        self._local = local_principal(entries.local)
        self._open = not entries.api_keys and not entries.jwt
        self._keys = ApiKeys(entries.api_keys)
        issuers = tuple(_issuer(entry, clock) for entry in entries.jwt)
        self._tokens = Tokens(issuers)
        self._sources = tuple(issuer.source for issuer in issuers)
        self._issuers = tuple(entry.issuer for entry in entries.jwt)
        self._scopes = tuple(sorted({s for entry in entries.jwt for s in entry.required_scopes}))
        self._kept: dict[bytes, _Kept] = {}

    async def authenticate(self, headers: Iterable[tuple[bytes, bytes]]) -> Principal | Challenge:
        """Return who calls, or what to answer instead; raises nothing for bad credentials."""
        try:
            credential = _credential(headers)
            found = self._found(credential)
            if found is not None:
                return found
            assert credential is not None  # noqa: S101 - without one there is nothing to verify
            return await self._verified(credential)
        except Rejected as rejected:
            return self._challenge(rejected)

    def at_once(
        self, headers: Mapping[bytes, bytes], shown: Shown | None = None
    ) -> Principal | Challenge | None:
        """Return the same without waiting, or None for a token that has yet to be verified.

        The names of the headers are in small letters, and each is there once. Who brings `shown`
        along each time has a header that is the same object read and hashed once; whom that lets
        in is asked anew.
        """
        header = headers.get(_AUTHORIZATION)
        if header is None and self._open:
            return self._local
        try:
            if header is None or shown is None:
                return self._found(None if header is None else _token(header))
            if shown.header is not header:
                shown.by, shown.header = self._hashed(_token(header)), header
            return self._recognised(shown.by)
        except Rejected as rejected:
            return self._challenge(rejected)

    def problems(self) -> tuple[str, ...]:
        """Return why keys of issuers can't be had or renewed, for status and health."""
        return tuple(source.failure for source in self._sources if source.failure)

    async def renew(self) -> tuple[str, ...]:
        """Get the keys of all issuers if they are due, and return the problems with that."""
        async with anyio.create_task_group() as tasks:
            for source in self._sources:
                tasks.start_soon(_renewed, source)
        return self.problems()

    async def keep_keys(self, every_s: float = _LOOK_S) -> None:
        """Look after the keys until cancelled, so that problems show before a caller meets them."""
        while self._sources:
            await self.renew()
            await anyio.sleep(every_s)

    def metadata(self) -> JsonObject:
        """Return the protected-resource metadata of the endpoint."""
        return metadata.document(
            resource=self._resource, issuers=self._issuers, scopes=self._scopes
        )

    def insufficient_scope(self, scopes: Iterable[str]) -> Challenge:
        """Return the 403 for a call that needs these scopes."""
        return metadata.insufficient_scope(scopes, resource=self._resource)

    def _found(self, credential: str | None) -> Principal | Challenge | None:
        """Return who has a credential; None for a token that isn't known; raises Rejected."""
        if credential is None:
            return self._local if self._open else self._challenge(_NOTHING_SHOWN)
        return self._recognised(self._hashed(credential))

    def _hashed(self, credential: str) -> Hashed | bytes:
        """Return what a credential is recognised by; raises Rejected."""
        if self._open:
            raise Rejected("no credentials are set up here; send no `Authorization` header")
        return (
            self._keys.hashed(credential) if credential.startswith(PREFIX) else _digest(credential)
        )

    def _recognised(self, by: Hashed | bytes) -> Principal | None:
        """Return whose it is; None for a token that isn't known; raises Rejected."""
        if isinstance(by, Hashed):
            return self._keys.recognised(by, now=self._clock.now())
        kept = self._kept.get(by)
        if kept is not None and self._clock.monotonic() < kept.until:
            return kept.verified.principal
        return None

    async def _verified(self, token: str) -> Principal:
        now = self._clock.now()
        verified = await self._tokens.verify(token, now=now)
        self._keep(_digest(token), verified, verified.expires - now.timestamp())
        return verified.principal

    def _keep(self, digest: bytes, verified: Verified, remaining_s: float) -> None:
        self._kept.pop(digest, None)
        while len(self._kept) >= _CACHE_SIZE:
            del self._kept[next(iter(self._kept))]  # the oldest
        until = self._clock.monotonic() + min(_CACHE_S, remaining_s)
        self._kept[digest] = _Kept(verified=verified, until=until)

    def _challenge(self, rejected: Rejected) -> Challenge:
        return Challenge(
            status=rejected.status,
            error=rejected.error,
            description=rejected.reason,
            scope=" ".join(rejected.scopes or self._scopes),
            resource_metadata=metadata.url(self._resource),
            retry_after_s=rejected.retry_after_s,
        )


_NOTHING_SHOWN: Final = Rejected(
    "send a credential as `Authorization: Bearer …`", error="", status=401
)


async def _renewed(source: KeySource) -> None:
    with contextlib.suppress(KeysUnavailable):  # kept as the source's failure
        await source.keys(kid="")


def _issuer(entry: PublishedIssuer, clock: Clock) -> Issuer:
    source: KeySource
    if entry.jwks_url is not None:
        source = UrlKeys(entry.jwks_url, clock=clock)
    elif entry.jwks_file is not None:
        source = FileKeys(entry.jwks_file)
    else:
        raise ValueError("an issuer needs a place for its keys")
    return Issuer(entry=entry, source=source)


def _credential(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    shown = [
        value for name, value in headers if len(name) == _LENGTH and name.lower() == _AUTHORIZATION
    ]
    if not shown:
        return None
    if len(shown) > 1:
        raise Rejected(
            "send one `Authorization` header, not several", error="invalid_request", status=400
        )
    return _token(shown[0])


def _token(shown: bytes) -> str:
    """Return the token that an `Authorization` header carries; raises Rejected."""
    found = _BEARER.fullmatch(shown.strip())
    if found is None:
        raise Rejected("the `Authorization` header must read `Bearer` and one token")
    return found[1].decode("ascii")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
