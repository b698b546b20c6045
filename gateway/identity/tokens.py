"""Access tokens as JWTs (RFC 7519, RFC 8725, RFC 9068): signature first, then every claim."""

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from gateway import jsontext
from gateway.errors import JsonError
from gateway.identity import claims
from gateway.identity.challenge import Rejected
from gateway.identity.jwks import KeySource
from gateway.identity.keys import Key, KeysUnavailable
from gateway.types.calls import Principal
from gateway.types.json import Json, JsonObject

MAX_CHARS: Final = 16 << 10
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ACCESS_TYPES: Final = frozenset({"at+jwt", "application/at+jwt"})  # RFC 9068, 2.1
# What the header `typ` may say, by the setting `token_type`.
_TYPES: Final = {
    "at+jwt": _ACCESS_TYPES,
    "any": _ACCESS_TYPES | {"", "jwt", "application/jwt"},
    "id": frozenset({"", "jwt", "application/jwt"}),
}
# Only ID tokens have these (OpenID Connect Core, 3.3.2.11; FAPI 1.0); `nonce` tells nothing,
# because some issuers copy it into their access tokens.
_ID_TOKEN_CLAIMS: Final = frozenset({"at_hash", "c_hash", "s_hash"})
_OTHER_KINDS: Final = frozenset({"ID", "Refresh", "Offline", "Logout"})  # Keycloak's claim `typ`
_RETRY_AFTER_S: Final = 10.0


class IssuerEntry(claims.TenantEntry, Protocol):
    """One issuer as the configuration names it."""

    @property
    def audience(self) -> Collection[str]:
        """Accepted `aud` values."""
        ...

    @property
    def algorithms(self) -> Collection[str]:
        """Accepted algorithms, all asymmetric."""
        ...

    @property
    def token_type(self) -> str:
        """`at+jwt` for tokens that say so only, `id` for ID tokens, else `any`."""
        ...

    @property
    def clock_skew(self) -> float:
        """Seconds by which the issuer's clock may differ from ours."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """An issuer and where its keys come from."""

    entry: IssuerEntry
    source: KeySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Who a token speaks for, and the second since the epoch at which it ends."""

    principal: Principal
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """What a token says, signed and of now, and the second since the epoch at which it ends."""

    claims: JsonObject
    expires: float


class Tokens:
    """Verifies tokens of the issuers that the configuration names."""

    def __init__(self, issuers: Collection[Issuer]) -> None:
        self._issuers: Mapping[str, Issuer] = {issuer.entry.issuer: issuer for issuer in issuers}

    async def verify(self, token: str, *, now: datetime) -> Verified:
        """Return what a token proves, or reject it."""
        issuer = self._issuer(token)
        said = await proven(token, issuer, now=now)
        _check_kind(said.claims)
        return Verified(principal=claims.principal(said.claims, issuer.entry), expires=said.expires)

    def _issuer(self, token: str) -> Issuer:
        """Choose whose keys to try; the claim proves nothing until the signature holds."""
        _, unproven = _open(token)
        name = unproven.get("iss")
        issuer = self._issuers.get(name) if isinstance(name, str) else None
        if issuer is None:
            raise Rejected("the token comes from an issuer that is not accepted here")
        return issuer


async def proven(token: str, issuer: Issuer, *, now: datetime) -> Proven:
    """Return what an issuer signed for the audience of its entry, whatever its purpose.

    Raises Rejected for a token of anybody else, for anybody else, or of another time.
    """
    header, _ = _open(token)
    algorithm = _algorithm(header, issuer.entry)
    key = await _key(header, algorithm, issuer)
    said = _signed(token, key, algorithm)
    return Proven(claims=said, expires=_check_claims(said, issuer.entry, now.timestamp()))


def _open(token: str) -> tuple[JsonObject, JsonObject]:
    segments = token.split(".")
    if len(token) > MAX_CHARS or len(segments) != 3:
        raise Rejected("the credential is neither an API key nor a signed token")
    if not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise Rejected("the token is not well-formed")
    return _object(_decode(segments[0])), _object(_decode(segments[1]))


def _decode(segment: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except (binascii.Error, ValueError) as error:
        raise Rejected("the token is not well-formed") from error


def _object(data: bytes) -> JsonObject:
    """Parse strictly: a duplicate claim could mean one thing here and another elsewhere."""
    try:
        value = jsontext.parse(data, max_bytes=MAX_CHARS, max_depth=16)
    except JsonError as error:
        raise Rejected("the token is not well-formed") from error
    if not isinstance(value, dict):
        raise Rejected("the token is not well-formed")
    return value


def _algorithm(header: JsonObject, entry: IssuerEntry) -> str:
    algorithm, kind = header.get("alg"), header.get("typ", "")
    if not isinstance(algorithm, str) or algorithm not in entry.algorithms:
        raise Rejected("the token is signed with an algorithm that is not accepted")
    if "crit" in header or "b64" in header:
        raise Rejected("the token asks for extensions that are not known here")
    accepted = _TYPES[entry.token_type]
    if not isinstance(kind, str) or kind.lower() not in accepted:
        raise Rejected("the token is not an access token")
    return algorithm


async def _key(header: JsonObject, algorithm: str, issuer: Issuer) -> Key:
    kid = header.get("kid", "")
    if not isinstance(kid, str):
        raise Rejected("the token is not well-formed")
    try:
        keys = await issuer.source.keys(kid=kid)
    except KeysUnavailable as error:
        raise Rejected(
            "the keys of the token's issuer can't be had right now; try again",
            error="unavailable",
            status=503,
            retry_after_s=_RETRY_AFTER_S,
        ) from error
    fitting = [key for key in keys if algorithm in key.by_algorithm and (not kid or key.kid == kid)]
    if len(fitting) != 1:  # without an id there must be no choice
        raise Rejected("the token is signed with a key that its issuer does not publish")
    return fitting[0]


def _signed(token: str, key: Key, algorithm: str) -> JsonObject:
    try:
        opened = PyJWS().decode_complete(
            token, key=key.by_algorithm[algorithm], algorithms=[algorithm]
        )
    except (PyJWTError, ValueError, TypeError) as error:
        raise Rejected("the token's signature does not hold") from error
    return _object(opened["payload"])


def _check_claims(said: JsonObject, entry: IssuerEntry, now: float) -> float:
    """Check what every token must say, and return when it ends."""
    if said.get("iss") != entry.issuer:
        raise Rejected("the token comes from an issuer that is not accepted here")
    audience = said.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if not any(isinstance(name, str) and name in entry.audience for name in named):
        raise Rejected("the token is not for this gateway: its audience is another")
    expires = _moment(said.get("exp"), "exp")
    if expires + entry.clock_skew <= now:
        raise Rejected("the token has expired")
    for claim in ("nbf", "iat"):
        if claim in said and _moment(said[claim], claim) - entry.clock_skew > now:
            raise Rejected("the token is not valid yet")
    return expires


def _check_kind(said: JsonObject) -> None:
    if not _ID_TOKEN_CLAIMS.isdisjoint(said) or said.get("typ") in _OTHER_KINDS:
        raise Rejected("the token is not an access token")
    if "cnf" in said:  # RFC 7800: whoever shows it also has to prove that he holds a key
        raise Rejected("the token is bound to a key, and can't be used as a bearer token")


def _moment(value: Json, claim: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise Rejected(f"the token has no usable `{claim}`")
    return float(value)
