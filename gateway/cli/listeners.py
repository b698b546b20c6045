"""The sockets that commands listen on, and how others learn of them."""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from gateway.config.addresses import Endpoint
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError
from gateway.listen.options import HttpOptions


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that whoever waits for it never sees half of."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)


@contextmanager
def bound(endpoint: Endpoint, *, shares: bool = False) -> Generator[socket.socket]:
    """Bind before anything starts: a taken port ends the command at once.

    With `shares`, others of this user that say so as well may have the port beside it.
    """
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            sock.bind((endpoint.host, endpoint.port))
        except OSError as error:
            address = f"{endpoint.host}:{endpoint.port}"
            raise ConfigurationError(
                f"can't listen on `{address}`: {error.strerror}; stop what listens there, or set "
                "another address"
            ) from error
        yield sock


@contextmanager
def bound_for_each(endpoint: Endpoint, workers: int) -> Generator[list[socket.socket]]:
    """Bind a socket for each worker, to one port: the system shares connections out among them.

    Only Linux does that; elsewhere all have the same socket.
    """
    if not sys.platform.startswith("linux"):
        with bound(endpoint) as sock:
            yield [sock] * workers
        return
    with bound(endpoint) as sock:  # not shared: whoever else has the port is found out
        port = int(sock.getsockname()[1])
    with ExitStack() as stack:
        at = replace(endpoint, port=port)
        yield [stack.enter_context(bound(at, shares=True)) for _ in range(workers)]


@contextmanager
def private_folder() -> Generator[Path]:
    """Make a folder that only this user can enter; the process that made it removes it."""
    folder, owner = Path(tempfile.mkdtemp(prefix="weighbridge-")), os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == owner:  # and not one that was forked meanwhile
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def bound_at(path: Path) -> Generator[socket.socket]:
    """Bind a socket for processes of this machine, in the place of one that was left there."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(str(path))
        yield sock


def url_of(sock: socket.socket) -> str:
    """Return the URL at which a listener answers, without a path."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def front_options(settings: Settings) -> HttpOptions:
    """Return how the listener for agents behaves, as the configuration has it."""
    return HttpOptions(
        path=settings.listen.path,
        allowed_hosts=tuple(settings.listen.hosts),
        allowed_origins=tuple(settings.listen.origins),
        max_body_bytes=settings.listen.max_body,
        max_requests=settings.listen.max_concurrency,
        max_requests_per_principal=settings.listen.share,
        run_header=settings.runs.header,
    )
