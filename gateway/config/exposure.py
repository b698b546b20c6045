"""A listener that others can reach needs to know who they are."""

from dataclasses import dataclass

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
    if not settings.admin.is_local:
        return OpenListener(
            section="admin",
            message=f"`admin` can be reached by others (`{settings.admin.address}`) but asks for "
            "no credential; listen on `127.0.0.1:8701` alone",
        )
    return None


def refuse_open_listeners(settings: Settings) -> None:
    """Raise ConfigurationError for an open listener, as after a change on the command line."""
    found = find_open_listener(settings)
    if found is not None:
        raise ConfigurationError(found.message)


def _reach(listen: ListenSettings) -> str:
    shown = [listen.address, listen.public_url or "", *sorted(listen.allowed_hosts)]
    return ", ".join(f"`{text}`" for text in shown if text)
