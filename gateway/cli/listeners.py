"""The sockets that commands listen on, and how others learn of them."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
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
def bound(endpoint: Endpoint) -> Generator[socket.socket]:
    """Bind before anything starts: a taken port ends the command at once."""
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((endpoint.host, endpoint.port))
        except OSError as error:
            address = f"{endpoint.host}:{endpoint.port}"
            raise ConfigurationError(
                f"can't listen on `{address}`: {error.strerror}; stop what listens there, or set "
                "another address"
            ) from error
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
