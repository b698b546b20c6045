"""Relative paths in a configuration file start in the folder that holds it."""

from pathlib import Path
from typing import Final

from gateway.config.events import CheckpointsSettings, EventsSettings
from gateway.config.identity import IdentitySettings
from gateway.config.servers import ServerSettings
from gateway.config.settings import Settings

_SQLITE: Final = "sqlite:///"


def beside(path: Path, *, folder: Path, home: str | None) -> Path:
    """Return one path of a configuration as `resolve` makes all of them."""
    return _Base(folder, home).path(path)


def resolve(settings: Settings, *, folder: Path, home: str | None) -> Settings:
    """Return the settings with absolute paths; `~/` stands for `home` when there is one."""
    base = _Base(folder, home)
    servers = {name: _server(entry, base) for name, entry in settings.servers.items()}
    store = settings.store.model_copy(update={"url": _store(settings.store.url, base)})
    return settings.model_copy(
        update={
            "servers": servers,
            "identity": _identity(settings.identity, base),
            "policies": base.path(settings.policies),
            "env_file": base.path(settings.env_file) if settings.env_file else None,
            "store": store,
            "events": _events(settings.events, base),
        }
    )


class _Base:
    """The folder that relative paths start in, and the one that `~` stands for."""

    def __init__(self, folder: Path, home: str | None) -> None:
        self._folder = folder.absolute()
        self._home = home

    def path(self, path: Path) -> Path:
        if self._home and path.parts[:1] == ("~",):
            return Path(self._home, *path.parts[1:])
        return self._folder / path


def _server(entry: ServerSettings, base: _Base) -> ServerSettings:
    update: dict[str, object] = {}
    if entry.cwd is not None:
        update["cwd"] = base.path(entry.cwd)
    if entry.tls.ca is not None:
        update["tls"] = entry.tls.model_copy(update={"ca": base.path(entry.tls.ca)})
    if entry.command is not None and "/" in entry.command:  # a bare name is looked up in PATH
        update["command"] = str(base.path(Path(entry.command)))
    return entry.model_copy(update=update)


def _identity(identity: IdentitySettings, base: _Base) -> IdentitySettings:
    issuers = tuple(
        issuer.model_copy(update={"jwks_file": base.path(issuer.jwks_file)})
        if issuer.jwks_file is not None
        else issuer
        for issuer in identity.jwt
    )
    return identity.model_copy(update={"jwt": issuers})


def _events(events: EventsSettings, base: _Base) -> EventsSettings:
    update: dict[str, object] = {"checkpoints": _checkpoints(events.checkpoints, base)}
    if events.sealing.key is not None:
        key = base.path(events.sealing.key)
        update["sealing"] = events.sealing.model_copy(update={"key": key})
    return events.model_copy(update=update)


def _checkpoints(checkpoints: CheckpointsSettings, base: _Base) -> CheckpointsSettings:
    key, copies = checkpoints.key, checkpoints.to
    return checkpoints.model_copy(
        update={
            "key": base.path(key) if key is not None else None,
            "to": tuple(
                each.model_copy(update={"file": base.path(each.file)}) if each.file else each
                for each in copies
            ),
        }
    )


def _store(url: str, base: _Base) -> str:
    """Return the URL with an absolute path: `sqlite:////data/weighbridge.db`."""
    if not url.startswith(_SQLITE):
        return url
    return _SQLITE + str(base.path(Path(url.removeprefix(_SQLITE))))
