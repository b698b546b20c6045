"""What the configuration says of the times, servers and roles that contracts are held against."""

from typing import Final

from gateway.config.settings import Settings
from gateway.policy.lint_terms import Terms

_FILE: Final = "sqlite:///"  # beside which gateways make a key


def terms(settings: Settings) -> Terms:
    """Return what `policy lint` holds contracts against."""
    servers, identity = settings.servers.items(), settings.identity
    people = (identity.local, *settings.accounts, *identity.api_keys)
    return Terms(
        keep_s=settings.operations.keep,
        late_window_s=settings.operations.late_window,
        timeout_s=settings.limits.call_timeout,
        timeouts_s={name: each.timeout for name, each in servers if each.timeout is not None},
        over_stdio=frozenset(name for name, each in servers if each.command is not None),
        roles=frozenset(role for each in people for role in each.roles),
        can_seal=settings.events.sealing.key is not None or settings.store.url.startswith(_FILE),
        are_all_roles=settings.admin.oidc is None,  # who decides has no other way in
    )
