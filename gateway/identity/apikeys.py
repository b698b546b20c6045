"""API keys: 256 random bits behind a public id, kept as a SHA-256.

Agents and the programs that manage runs have keys of two kinds, told apart by how they begin: one
never opens what the other is for.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from gateway.identity.challenge import Rejected
from gateway.types.calls import AuthMethod, Principal
from gateway.types.json import JsonObject

PREFIX: Final = "wb_"  # of agents' keys
ADMIN_PREFIX: Final = "wba_"  # of keys for `/v1`
_KEY: Final = re.compile(r"(wba?_)([A-Za-z0-9-]{1,40})_[0-9a-f]{64}", re.ASCII)
_ISSUERS: Final = {PREFIX: "api_keys", ADMIN_PREFIX: "admin.api_keys"}
_NOBODY: Final = "sha256:" + "0" * 64


class KeyEntry(Protocol):
    """One key as the configuration names it."""

    @property
    def id(self) -> str:
        """Name of the key."""
        ...

    @property
    def hash(self) -> str:
        """`sha256:` and 64 hex digits over the whole key."""
        ...

    @property
    def user(self) -> str:
        """Name of the user."""
        ...

    @property
    def tenant(self) -> str:
        """Name of the tenant."""
        ...

    @property
    def roles(self) -> Collection[str]:
        """Roles, for policies."""
        ...

    @property
    def scopes(self) -> Collection[str]:
        """Scopes, for contracts."""
        ...

    @property
    def client(self) -> str | None:
        """Name of the client; None means the key's id."""
        ...

    @property
    def expires(self) -> datetime | None:
        """When the key stops to work, in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key to hand over once, and the entry that lets it in: as values, and as a line of YAML."""

    key: str
    entry: JsonObject
    config_line: str


def hash_key(key: str) -> str:
    """Return the form in which a key is kept.

    One SHA-256 is enough: a slow hash protects secrets that people choose, and no table or guess
    reaches 256 random bits. A slow one would let anybody who sends junk keep a core busy.
    """
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def new_api_key(
    key_id: str,
    *,
    user: str,
    tenant: str,
    roles: Iterable[str] = (),
    scopes: Iterable[str] = (),
    client: str = "",
    expires: datetime | None = None,
    prefix: str = PREFIX,
) -> NewKey:
    """Make a key and its entry for the configuration; what isn't given is left out of it."""
    key = f"{prefix}{key_id}_{secrets.token_hex(32)}"
    if not _KEY.fullmatch(key):
        raise ValueError("a key id has up to 40 letters, digits and `-`")
    entry: JsonObject = {
        "id": key_id,
        "hash": hash_key(key),
        "user": user,
        "tenant": tenant,
        "roles": [*roles],
        "scopes": [*scopes],
        "client": client,
        "expires": expires.isoformat() if expires is not None else "",
    }
    said: JsonObject = {name: value for name, value in entry.items() if value}
    # JSON texts are YAML texts, whatever the names hold.
    line = ", ".join(f"{name}: {json.dumps(value)}" for name, value in said.items())
    return NewKey(key=key, entry=said, config_line=f"- {{{line}}}")


class Hashed(NamedTuple):
    """A key as it is recognised, which opens nothing."""

    id: str  # empty: it has not the form of one
    hash: str


class ApiKeys:
    """The keys of one kind that are accepted, by id."""

    def __init__(self, entries: Iterable[KeyEntry], *, prefix: str = PREFIX) -> None:
        self._prefix = prefix
        self._entries = {entry.id: entry for entry in entries}
        self._principals = {
            id: principal_of(entry, prefix=prefix) for id, entry in self._entries.items()
        }

    def principal(self, key: str, *, now: datetime) -> Principal:
        """Return who a key belongs to, or reject it the same way whatever is wrong with it."""
        return self.recognised(self.hashed(key), now=now)

    def hashed(self, key: str) -> Hashed:
        """Return what a key is recognised by."""
        found = _KEY.fullmatch(key)
        is_ours = found is not None and found[1] == self._prefix
        return Hashed(found[2] if found and is_ours else "", hash_key(key))

    def recognised(self, key: Hashed, *, now: datetime) -> Principal:
        """Return whose key it is; raises Rejected as `principal` does."""
        entry = self._entries.get(key.id)
        # An unknown id takes the same steps as a wrong secret, so that time tells no ids.
        right = hmac.compare_digest(key.hash, entry.hash if entry else _NOBODY)
        if entry is None or not right:
            raise Rejected("the API key is not valid")
        if entry.expires is not None and entry.expires <= now:
            raise Rejected("the API key has expired")
        return self._principals[entry.id]


def principal_of(entry: KeyEntry, *, prefix: str = PREFIX) -> Principal:
    """Return who acts by a key."""
    return Principal(
        issuer=_ISSUERS[prefix],
        subject=entry.id,
        client=entry.client or entry.id,
        tenant=entry.tenant,
        user=entry.user,
        roles=frozenset(entry.roles),
        scopes=frozenset(entry.scopes),
        method=AuthMethod.API_KEY,
    )
