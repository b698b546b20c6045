"""Who acts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, for which tenant, through which client; made from the principal only."""

    user: str
    tenant: str
    roles: frozenset[str]
    scopes: frozenset[str]
    client: str
    method: str
    issuer: str
