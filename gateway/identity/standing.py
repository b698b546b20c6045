"""Who somebody is today, for calls that the gateway sends without their caller."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.identity.apikeys import KeyEntry, principal_of
from gateway.identity.local import LocalEntry, local_principal
from gateway.types.calls import AuthMethod, Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Looks a principal of earlier up in the configuration of now."""

    keys: Mapping[str, KeyEntry]
    """The API keys that are accepted, by id."""
    local: LocalEntry
    issuers: Collection[str]
    """The issuers whose tokens are accepted."""

    def today(self, principal: Principal, now: datetime) -> Principal | None:
        """Return the principal with the rights of now; None when the credential is no longer good.

        Of a token nothing newer can be known than what it said: its issuer has to be accepted
        still, and how long a decision may take bounds how old its word gets.
        """
        match principal.method:
            case AuthMethod.API_KEY:
                entry = self.keys.get(principal.subject)
                if entry is None or (entry.expires is not None and entry.expires <= now):
                    return None
                found = principal_of(entry)
            case AuthMethod.LOCAL:
                found = local_principal(self.local)
            case AuthMethod.JWT:
                return principal if principal.issuer in self.issuers else None
        return found if found.owner == principal.owner else None
