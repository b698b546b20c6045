"""What the configuration says of the times and servers that contracts are held against."""

from gateway.config.settings import Settings
from gateway.policy.lint_terms import Terms


def terms(settings: Settings) -> Terms:
    """Return what `policy lint` holds contracts against."""
    servers = settings.servers.items()
    return Terms(
        keep_s=settings.operations.keep,
        late_window_s=settings.operations.late_window,
        timeout_s=settings.limits.call_timeout,
        timeouts_s={name: each.timeout for name, each in servers if each.timeout is not None},
        over_stdio=frozenset(name for name, each in servers if each.command is not None),
    )
