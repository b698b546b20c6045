"""What a child process gets to see: its own entry, a small safe base, and nothing else."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.servers.connection import ConnectFault
from gateway.servers.entry import Entry

# Names without which programs don't start properly; none of them holds a credential.
SAFE_NAMES = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command, ready to run without a shell."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None  # None: the gateway's own


def child_environment(base: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the safe part of `base`, overlaid with what the entry names."""
    return {name: base[name] for name in SAFE_NAMES if name in base} | dict(own)


def launch(entry: Entry, *, base: Mapping[str, str], folder: Path) -> Launch:
    """Resolve an entry's command and folder; raises ConnectFault when either is missing.

    A bare command is looked up in the child's PATH. A relative command with a slash and a
    relative `cwd` start at `folder`, which is where the config file lies.
    """
    env = child_environment(base, entry.env)
    cwd = folder / Path(entry.cwd).expanduser() if entry.cwd else None
    if cwd is not None and not cwd.is_dir():
        raise ConnectFault(
            f"the folder `{entry.shown_cwd}` of `{entry.name}` does not exist", slow=True
        )
    command = _resolve(entry, env.get("PATH", ""), folder)
    return Launch(argv=(command, *entry.args), env=env, cwd=str(cwd) if cwd else None)


def _resolve(entry: Entry, path: str, folder: Path) -> str:
    if "/" in entry.command:
        candidate = folder / Path(entry.command).expanduser()
        if candidate.is_file():
            return str(candidate)
        looked = "" if "command" in entry.written else f"; looked for `{candidate}`"
        raise ConnectFault(
            f"the command `{entry.shown_command}` of `{entry.name}` does not exist{looked}",
            slow=True,
        )
    found = shutil.which(entry.command, path=path)
    if found is None:
        raise ConnectFault(
            f"the command `{entry.shown_command}` of `{entry.name}` is not in PATH (`{path}`)",
            slow=True,
        )
    return found
