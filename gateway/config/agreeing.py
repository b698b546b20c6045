"""Who may agree with a changed policy, out of the settings about people."""

from collections.abc import Iterable

from gateway.approvals.agreeing import Say
from gateway.config.activation import ActivationSettings
from gateway.config.admin import AccountSettings, AdminSettings


def say_of(
    activation: ActivationSettings, admin: AdminSettings, accounts: Iterable[AccountSettings]
) -> Say:
    """Return who may agree; its tenant is empty where none is named and several have people."""
    people = {(each.tenant, each.user): each.roles for each in accounts}
    provided = admin.oidc.only_tenants if admin.oidc is not None else frozenset[str]()
    tenants = {tenant for tenant, _ in people} | provided
    is_any = admin.oidc is not None and not provided
    (only,) = tenants if len(tenants) == 1 and not is_any else ("",)
    return Say(
        tenant=activation.tenant or only,
        roles=activation.roles,
        accounts=people,
        issuer=admin.oidc.issuer if admin.oidc is not None else "",
        tenants=provided,
    )
