"""The only reader of the environment, and what of it a child process gets."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

# What programs need to start, find their files and speak the user's language; no credentials.
# XDG_RUNTIME_DIR and SSH_AUTH_SOCK are left out: they lead to sockets of the user's agents.
SAFE_BASE: Final = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        # Windows can't start a process without most of these.
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    }
)


def environ() -> Mapping[str, str]:
    """Return the environment of this process as it is now."""
    return MappingProxyType(dict(os.environ))  # noqa: TID251 - this is the one place


def child_environment(
    environment: Mapping[str, str], *, named: Mapping[str, str], inherit: Sequence[str] = ()
) -> dict[str, str]:
    """Return what a child process gets: a safe base, what it may inherit, and its own values."""
    child = {
        name: value
        for name, value in environment.items()
        if name.upper() in SAFE_BASE or name.startswith("LC_") or name in inherit
    }
    # A function exported by bash would run as code in a child that is a shell script.
    child = {name: value for name, value in child.items() if not value.startswith("()")}
    return child | dict(named)
