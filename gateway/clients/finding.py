"""Where clients usually keep their servers, nearest first."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from gateway.clients.kinds import CLAUDE_CODE, CLAUDE_DESKTOP, CODEX, CURSOR, VS_CODE, Client
from gateway.types.values import value

# Ways out of a machine and onto its screen, without which many servers don't work, and which are
# nobody's credential.
_OF_THE_MACHINE: Final = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "DOCKER_HOST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
)


@value
class Place:
    """A file that a client may keep its servers in."""

    client: Client
    path: PurePath


def places(
    folder: PurePath, home: PurePath | None, platform: str, environ: Mapping[str, str]
) -> tuple[Place, ...]:
    """Return the usual files of a project folder, then those of the user; most won't be there.

    `platform` is `sys.platform`; variables by which clients are told of other folders are taken
    from `environ`.
    """
    found = [
        (CLAUDE_CODE, folder / ".mcp.json"),
        (VS_CODE, folder / ".vscode" / "mcp.json"),
        (CURSOR, folder / ".cursor" / "mcp.json"),
        (CODEX, folder / ".codex" / "config.toml"),
    ]
    if home is not None:
        data = _data(home, platform, environ)
        found += [
            (CLAUDE_CODE, PurePath(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"),
            (VS_CODE, data / "Code" / "User" / "mcp.json"),
            (CURSOR, home / ".cursor" / "mcp.json"),
            (CODEX, PurePath(environ.get("CODEX_HOME") or home / ".codex") / "config.toml"),
            (CLAUDE_DESKTOP, data / "Claude" / "claude_desktop_config.json"),
        ]
    each = {path: Place(client=client, path=path) for client, path in reversed(found)}
    return tuple(reversed(each.values()))


def inherited(client: Client, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of the machine that are set, for a client that hands them to servers."""
    if client in (CODEX, CLAUDE_DESKTOP):  # these hand on a few names, and none of these
        return ()
    return tuple(each for each in _OF_THE_MACHINE if environ.get(each))


def _data(home: PurePath, platform: str, environ: Mapping[str, str]) -> PurePath:
    """Return the folder in which programs with windows keep what is the user's."""
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return PurePath(environ.get("XDG_CONFIG_HOME") or home / ".config")
