"""An OpenID provider at which people log in (OpenID Connect Core 1.0; RFC 7636, RFC 9207)."""

import base64
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote_plus, urlencode

import aiohttp

from gateway import jsontext
from gateway.clock import Clock
from gateway.errors import JsonError, WeighbridgeError
from gateway.identity import claims
from gateway.identity.challenge import Rejected
from gateway.identity.jwks import UrlKeys
from gateway.identity.keys import KeysUnavailable
from gateway.identity.tokens import Issuer, proven
from gateway.types.calls import Principal
from gateway.types.json import Json, JsonObject

_TIMEOUT_S: Final = 10.0
_MAX_BYTES: Final = 256 << 10
_DISCOVERY: Final = "/.well-known/openid-configuration"
_KNOWN_S: Final = 600.0  # how long what a provider says about itself is taken as said


class ProviderUnavailable(WeighbridgeError):
    """The provider gives no usable answer; the people at it are neither in nor out."""


class PersonClaims(Protocol):
    """Where an ID token says who logs in."""

    @property
    def user(self) -> str:
        """The user."""
        ...

    @property
    def tenant(self) -> str | None:
        """The tenant; None when all who log in belong to one."""
        ...

    @property
    def roles(self) -> str:
        """The roles."""
        ...


class ProviderEntry(Protocol):
    """The provider as the configuration names it."""

    @property
    def issuer(self) -> str:
        """The exact `iss`."""
        ...

    @property
    def client_id(self) -> str:
        """The gateway's name there."""
        ...

    @property
    def client_secret(self) -> str | None:
        """Its secret; None for a public client."""
        ...

    @property
    def scopes(self) -> Collection[str]:
        """What is asked for."""
        ...

    @property
    def algorithms(self) -> Collection[str]:
        """Accepted signatures."""
        ...

    @property
    def clock_skew(self) -> float:
        """Seconds by which its clock may differ from ours."""
        ...

    @property
    def claims(self) -> PersonClaims:
        """Where its tokens say who logs in."""
        ...

    @property
    def tenant(self) -> str | None:
        """The tenant of all who log in, instead of a claim."""
        ...

    @property
    def tenants(self) -> Collection[str]:
        """The only tenants that it may name; empty means any."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One login under way; only the browser that began it holds these."""

    state: str
    nonce: str
    verifier: str  # RFC 7636


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claims:
    user: str
    tenant: str | None
    roles: str
    scopes: str = ""  # an ID token gives nobody scopes
    client: str = "azp"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """The provider as an issuer of tokens for this gateway alone."""

    issuer: str
    audience: tuple[str, ...]
    algorithms: Collection[str]
    clock_skew: float
    claims: _Claims
    tenant: str | None
    tenants: Collection[str]
    token_type: str = "id"  # noqa: S105 - a kind of token, no secret
    required_scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the provider says about itself."""

    authorize: str
    token: str
    issuer: Issuer
    uses_post: bool  # the secret goes into the form, because it takes it in no header
    names_itself: bool  # its answers say whose they are (RFC 9207)


class Provider:
    """Sends people to their provider, and learns from it who they are."""

    def __init__(self, entry: ProviderEntry, *, clock: Clock, is_trusted: "Trusted") -> None:
        self._entry = entry
        self._clock = clock
        self._is_trusted = is_trusted
        self._known: _Known | None = None
        self._known_until = 0.0

    async def problem(self) -> str:
        """Say why nobody could log in there right now; empty when people can."""
        try:
            known = await self._discovered()
            await known.issuer.source.keys(kid="")
        except (ProviderUnavailable, KeysUnavailable) as error:
            return str(error)
        return ""

    async def address(self, attempt: Attempt, *, redirect_uri: str) -> str:
        """Return where the browser goes to log in; raises ProviderUnavailable."""
        known = await self._discovered()
        challenge = hashlib.sha256(attempt.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._entry.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(dict.fromkeys(("openid", *self._entry.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{known.authorize}{'&' if '?' in known.authorize else '?'}{urlencode(asked)}"

    async def person(
        self, attempt: Attempt, *, code: str, said_issuer: str, redirect_uri: str
    ) -> Principal:
        """Return who logged in; raises Rejected for who didn't, and ProviderUnavailable.

        `said_issuer` is the `iss` of the answer, empty when it had none.
        """
        known = await self._discovered()
        if said_issuer != self._entry.issuer and (said_issuer or known.names_itself):
            raise Rejected("the answer comes from another provider")
        token = await self._redeemed(known, attempt, code, redirect_uri)
        said = (await proven(token, known.issuer, now=self._clock.now())).claims
        self._check(said, attempt)
        return claims.principal(said, known.issuer.entry)

    def _check(self, said: JsonObject, attempt: Attempt) -> None:
        """Check what only ID tokens have to say (OpenID Connect Core, 3.1.3.7)."""
        if said.get("nonce") != attempt.nonce:
            raise Rejected("the token is of another login")
        audience = said.get("aud")
        is_shared = isinstance(audience, list) and len(audience) > 1
        if said.get("azp", None if is_shared else self._entry.client_id) != self._entry.client_id:
            raise Rejected("the token was made for another client")

    async def _redeemed(self, known: _Known, attempt: Attempt, code: str, redirect_uri: str) -> str:
        """Change the code for an ID token."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": attempt.verifier,
        }
        headers: dict[str, str] = {}
        name, secret = self._entry.client_id, self._entry.client_secret
        if secret is None:
            form["client_id"] = name
        elif known.uses_post:
            form |= {"client_id": name, "client_secret": secret}
        else:  # RFC 6749, 2.3.1: both are encoded as in a form first
            pair = f"{quote_plus(name)}:{quote_plus(secret)}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        status, answer = await _said("POST", known.token, form=form, headers=headers)
        if status == 400:
            raise Rejected("the provider does not know this login any more; log in again")
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise ProviderUnavailable(f"the provider's token endpoint answered HTTP {status}")
        return token

    async def _discovered(self) -> _Known:
        if self._known is None or self._clock.monotonic() >= self._known_until:
            url = self._entry.issuer.rstrip("/") + _DISCOVERY
            status, document = await _said("GET", url)
            if status != 200:
                raise ProviderUnavailable(f"`{url}` answered HTTP {status}")
            self._known = self._read(document, url)
            self._known_until = self._clock.monotonic() + _KNOWN_S
        return self._known

    def _read(self, document: JsonObject, url: str) -> _Known:
        if document.get("issuer") != self._entry.issuer:
            raise ProviderUnavailable(f"`{url}` is of another issuer than `{self._entry.issuer}`")
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        takes = methods if isinstance(methods, list) else []
        keys = UrlKeys(self._url(document, "jwks_uri", url), clock=self._clock)
        return _Known(
            authorize=self._url(document, "authorization_endpoint", url),
            token=self._url(document, "token_endpoint", url),
            issuer=Issuer(entry=_issuer_of(self._entry), source=keys),
            uses_post="client_secret_basic" not in takes and "client_secret_post" in takes,
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        )

    def _url(self, document: JsonObject, name: str, url: str) -> str:
        found = document.get(name)
        if not isinstance(found, str) or not self._is_trusted(found):
            raise ProviderUnavailable(f"`{url}` names no usable `{name}`; it has to be `https://`")
        return found


class Trusted(Protocol):
    """Whether what is sent to a URL can't be read on the way."""

    def __call__(self, text: str, /) -> bool:
        """Judge a URL."""
        ...


def _issuer_of(entry: ProviderEntry) -> _Entry:
    where = entry.claims
    return _Entry(
        issuer=entry.issuer,
        audience=(entry.client_id,),
        algorithms=entry.algorithms,
        clock_skew=entry.clock_skew,
        claims=_Claims(user=where.user, tenant=where.tenant, roles=where.roles),
        tenant=entry.tenant,
        tenants=entry.tenants,
    )


async def _said(
    method: str,
    url: str,
    *,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, JsonObject]:
    """Return status and JSON object of an answer; raises ProviderUnavailable.

    INVARIANT: only URLs that are trusted get here. A redirect could lead the gateway, and the
    client's secret, anywhere, so none is followed.
    """
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.request(method, url, data=form, headers=sent, allow_redirects=False) as answer,
        ):
            data = await answer.content.read(_MAX_BYTES + 1)
            while len(data) <= _MAX_BYTES and (more := await answer.content.read(_MAX_BYTES)):
                data += more
            return answer.status, _object(data, url)
    except TimeoutError as error:
        raise ProviderUnavailable(f"no answer of `{url}` within {_TIMEOUT_S:g} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise ProviderUnavailable(f"`{url}`: {type(error).__name__}") from error


def _object(data: bytes, url: str) -> JsonObject:
    value: Json = None
    try:
        value = jsontext.parse(data, max_bytes=_MAX_BYTES)
    except JsonError as error:
        raise ProviderUnavailable(f"the answer of `{url}` is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ProviderUnavailable(f"the answer of `{url}` is not a JSON object")
    return value
