"""A listener that others can reach needs to know who they are."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.config.admin import AdminSettings
from gateway.config.settings import ListenSettings, Settings
from gateway.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenListener:
    """A section whose listener can be reached by others without a credential, and the mend."""

    section: str
    message: str


def find_open_listener(settings: Settings) -> OpenListener | None:
    """Return a listener beyond this machine that asks for no credential."""
    if not settings.listen.is_local and not settings.identity.authenticates:
        return OpenListener(
            section="listen",
            message=f"`listen` can be reached by others ({_reach(settings.listen)}) but asks for "
            "no credential; add `identity.api_keys` or `identity.jwt`, or listen on "
            "`127.0.0.1:8700` alone",
        )
    admin = settings.admin
    if not admin.is_local and not admin.asks_who:
        return OpenListener(
            section="admin",
            message=f"`admin` can be reached by others ({_reach_admin(admin)}) but does not say "
            "who may log in; add `admin.oidc` or `admin.accounts`, or listen on `127.0.0.1:8701` "
            "alone",
        )
    if not admin.is_local and not admin.is_https:
        return OpenListener(
            section="admin",
            message=f"`admin` can be reached by others ({_reach_admin(admin)}) but its pages can "
            "be read on the way; put a proxy that speaks TLS in front, and set "
            "`admin.public_url: https://…`",
        )
    return None


def refuse_open_listeners(settings: Settings) -> None:
    """Raise ConfigurationError for an open listener, as after a change on the command line."""
    found = find_open_listener(settings)
    if found is not None:
        raise ConfigurationError(found.message)


def _reach(listen: ListenSettings) -> str:
    return _shown(listen.address, listen.public_url, listen.allowed_hosts)


def _reach_admin(admin: AdminSettings) -> str:
    return _shown(admin.address, admin.public_url, admin.hosts)


def _shown(address: str, url: str | None, hosts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in (address, url or "", *sorted(hosts)) if text)
