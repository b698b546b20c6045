"""What of the log somebody may see: that of his tenant, or what the configuration adds to it."""

from dataclasses import dataclass
from typing import Final

from gateway.config.settings import Settings
from gateway.types.approvals import Approver

ALL: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one person sees."""

    own: str  # his tenant
    tenants: frozenset[str] = frozenset()  # his own among them
    is_all: bool = False  # every tenant, and what belongs to none
    is_auditor: bool = False  # also policies, and past calls under others

    def looks_at(self, asked: str) -> tuple[str, ...] | None:
        """Return the tenants to look for, none for any; None if that is one he can't see."""
        if self.is_all:
            return (asked,) if asked else ()
        if not asked:
            return tuple(sorted(self.tenants))
        return (asked,) if asked in self.tenants else None

    def sees(self, tenant: object) -> bool:
        """Whether something of a tenant may be shown to him."""
        return self.is_all or tenant in self.tenants

    @property
    def others(self) -> bool:
        """Whether he sees more than one tenant."""
        return self.is_all or len(self.tenants) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditors:
    """Who sees more than his own tenant's events, by the configuration.

    A role counts for the people of one tenant: whoever says which roles another tenant's people
    have, such as its own identity provider, opens nothing of this one.
    """

    settings: Settings

    def sight(self, person: Approver) -> Sight:
        """Return what somebody sees."""
        admin = self.settings.admin
        if not admin.asks_who:  # whoever runs the gateway has it to himself
            return Sight(
                own=person.tenant,
                tenants=frozenset({person.tenant}),
                is_all=True,
                is_auditor=True,
            )
        entries = [
            each
            for each in admin.auditors
            if each.tenant == person.tenant
            and (not each.roles or not each.roles.isdisjoint(person.roles))
        ]
        seen = frozenset(tenant for each in entries for tenant in each.sees)
        return Sight(
            own=person.tenant,
            tenants=(seen - {ALL}) | {person.tenant},
            is_all=ALL in seen,
            is_auditor=bool(entries),
        )

    def is_one(self, person: Approver) -> bool:
        """Whether somebody sees policies, and past calls under others."""
        return self.sight(person).is_auditor
