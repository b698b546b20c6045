"""Who may decide, as the configuration says it now."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.config.admin import AccountSettings
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.values import replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The local accounts, and the provider whose people come in."""

    accounts: tuple[AccountSettings, ...]
    issuer: str = ""  # of the provider; empty without one
    tenants: frozenset[str] = frozenset()  # the only ones it may speak for; empty: any

    def account(self, tenant: str, user: str) -> Approver | None:
        """Return somebody with a local account, as he stands in the configuration."""
        for each in self.accounts:
            if (each.tenant, each.user) == (tenant, user):
                return Approver(
                    tenant=each.tenant,
                    user=each.user,
                    roles=each.roles,
                    assurance=Assurance.LOCAL,
                    channel=Channel.PAGE,
                )
        return None

    def of_today(self, person: Approver) -> Approver | None:
        """Return who logged in once, with what he may do now; None when he may no longer come in.

        A local account's roles are those of now. A provider's were told at the login, and last as
        long as that; they are worth nothing once another provider is configured, or this one may
        no longer speak for the tenant.
        """
        if person.account is not None:  # by a link; whoever made it stays behind it
            today = self.account(person.tenant, person.user)
            return None if today is None else replaced(today, issuer=person.issuer)
        is_his_to_say = not self.tenants or person.tenant in self.tenants
        return person if person.issuer == self.issuer and is_his_to_say else None


def named(accounts: Iterable[AccountSettings], user: str, tenant: str) -> list[AccountSettings]:
    """Return the accounts that a user's and a tenant's name can mean; empty names mean any."""
    return [
        each
        for each in accounts
        if (not user or each.user == user) and (not tenant or each.tenant == tenant)
    ]
