"""From the claims of a verified token to a principal."""

import re
from collections.abc import Collection
from typing import Final, Protocol

from gateway import jsontext
from gateway.identity.challenge import Rejected
from gateway.types.calls import AuthMethod, Principal
from gateway.types.json import Json, JsonObject

_NAME: Final = re.compile(r"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]{0,254}[^\x00-\x20\x7f])?")
_MOST_NAMES: Final = 1000


class ClaimsEntry(Protocol):
    """Where an issuer's tokens say who acts: a claim, a dotted path or a JSON Pointer."""

    @property
    def user(self) -> str:
        """The user."""
        ...

    @property
    def tenant(self) -> str | None:
        """The tenant; None when all tokens of the issuer belong to one."""
        ...

    @property
    def roles(self) -> str:
        """The roles: a text is one role."""
        ...

    @property
    def scopes(self) -> str:
        """The scopes: a text holds them with blanks between them (RFC 8693, 4.2)."""
        ...

    @property
    def client(self) -> str:
        """The client; `azp` when it is missing."""
        ...


class TenantEntry(Protocol):
    """For whom an issuer may speak."""

    @property
    def issuer(self) -> str:
        """The exact `iss`."""
        ...

    @property
    def claims(self) -> ClaimsEntry:
        """Where its tokens say who acts."""
        ...

    @property
    def tenant(self) -> str | None:
        """The tenant of all its tokens, instead of a claim."""
        ...

    @property
    def tenants(self) -> Collection[str]:
        """The only tenants that it may name; empty means any."""
        ...

    @property
    def required_scopes(self) -> Collection[str]:
        """Scopes that every token must have."""
        ...


def find(claims: JsonObject, path: str) -> Json:
    """Return the value at a path, None when there is none.

    A claim with exactly this name comes first: `https://acme.example/tenant` is a usual name.
    """
    if path in claims:
        return claims[path]
    keys = jsontext.tokens(path) if path.startswith("/") else path.split(".")
    value: Json = claims
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def principal(claims: JsonObject, entry: TenantEntry) -> Principal:
    """Return who a verified token speaks for, or reject it for what it doesn't say.

    A claim of the wrong form is rejected and never ignored: rules that deny a role count on it.
    """
    tenant = entry.tenant
    if tenant is None:
        tenant = _name(claims, entry.claims.tenant or "", "tenant")
        if entry.tenants and tenant not in entry.tenants:
            raise Rejected("the token's issuer may not speak for the token's tenant")
    scopes = _names(claims, entry.claims.scopes, "scopes", split=True)
    missing = [scope for scope in entry.required_scopes if scope not in scopes]
    if missing:
        raise Rejected(
            f"the token lacks the scope {' '.join(missing)}",
            error="insufficient_scope",
            status=403,
            scopes=tuple(entry.required_scopes),
        )
    user = _name(claims, entry.claims.user, "user")
    return Principal(
        issuer=entry.issuer,
        subject=_optional(claims, "sub") or user,
        client=_optional(claims, entry.claims.client) or _optional(claims, "azp"),
        tenant=tenant,
        user=user,
        roles=_names(claims, entry.claims.roles, "roles", split=False),
        scopes=scopes,
        method=AuthMethod.JWT,
    )


def _name(claims: JsonObject, path: str, what: str) -> str:
    value = find(claims, path)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # some issuers number their organisations
    if value is None or value == "":
        raise Rejected(f"the token names no {what}")
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Rejected(f"the token's {what} is not a name")
    return value


def _optional(claims: JsonObject, path: str) -> str:
    value = find(claims, path)
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""


def _names(claims: JsonObject, path: str, what: str, *, split: bool) -> frozenset[str]:
    value = find(claims, path)
    if value is None or value == "":
        return frozenset()
    if isinstance(value, str):
        value = [*value.split(" ")] if split else [value]
    if not isinstance(value, list) or len(value) > _MOST_NAMES:
        raise Rejected(f"the token's {what} are not a list of names")
    names = {name for name in value if isinstance(name, str) and _NAME.fullmatch(name)}
    if len(names) < len({repr(name) for name in value if name != ""}):
        raise Rejected(f"the token's {what} are not a list of names")
    return frozenset(names)
