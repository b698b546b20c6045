"""Names below `localhost` as browsers resolve them (RFC 6761, 6.3); not every library does."""

import socket
from typing import Any

_resolve = socket.getaddrinfo


def _as_browsers_do(host: Any, *rest: Any, **named: Any) -> Any:
    is_ours = isinstance(host, str) and host.endswith(".localhost")
    return _resolve("127.0.0.1" if is_ours else host, *rest, **named)


def resolve_as_browsers_do() -> None:
    """Let every client of this process find names below `localhost` on this machine."""
    socket.getaddrinfo = _as_browsers_do
