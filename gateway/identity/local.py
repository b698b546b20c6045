"""The caller that needs no credential: the operator's own configuration says who acts."""

from collections.abc import Collection
from typing import Protocol

from gateway.types.calls import AuthMethod, Principal


class LocalEntry(Protocol):
    """Who acts over stdio, as the configuration names it."""

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


def local_principal(entry: LocalEntry) -> Principal:
    """Return the principal of stdio; what the client says about itself changes nothing."""
    return Principal(
        issuer="local",
        subject=entry.user,
        client="local",
        tenant=entry.tenant,
        user=entry.user,
        roles=frozenset(entry.roles),
        scopes=frozenset(entry.scopes),
        method=AuthMethod.LOCAL,
    )
