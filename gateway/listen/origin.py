"""Host and Origin checks, which keep web pages from reaching the gateway by DNS rebinding.

Host is checked whatever Origin says (OWASP AISVS 10.3.3), Origin on every request that carries one
(MCP 2026-07-28, transports, "Security").
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.listen.replies import send_json

_LOCAL_HOSTS: Final = ("localhost:*", "127.0.0.1:*", "[::1]:*")
_LOCAL_ORIGINS: Final = tuple(
    f"{scheme}://{host}" for scheme in ("http", "https") for host in _LOCAL_HOSTS
)
_AUTHORITY: Final = re.compile(
    r"(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?)(?::(\d{1,5}))?"
)
_REMEMBERED: Final = 256
_ONE_HOST: Final = "exactly one Host header is required"


class OriginCheck:
    """Which names the gateway may be reached under, and from which web origins.

    An entry ends in `:*` for any port (and none); others match exactly. The loopback names are
    always allowed, as Host and as Origin.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        host_mend: str = "add it to `listen.allowed_hosts`",
        origin_mend: str = "add it to `listen.allowed_origins`",
    ) -> None:
        self._host_mend, self._origin_mend = host_mend, origin_mend
        self._hosts = _Allowed((*_LOCAL_HOSTS, *hosts))
        self._origins = _Allowed((*_LOCAL_ORIGINS, *origins))
        self._passed: set[tuple[bytes, bytes | None]] = set()

    def refuse(self, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the HTTP status and reason to refuse a request with, or None."""
        found = dict(headers)
        host, origin = found.get(b"host"), found.get(b"origin")
        if len(found) != len(headers):  # some header came twice
            names = [key for key, _ in headers]
            if names.count(b"host") > 1:
                return 400, _ONE_HOST
            if names.count(b"origin") > 1:
                return 403, "more than one Origin header"
        if host is None:
            return 400, _ONE_HOST
        pair = (host, origin)
        if pair in self._passed:
            return None
        refusal = self._judge(*pair)
        if refusal is None and len(self._passed) < _REMEMBERED:
            self._passed.add(pair)
        return refusal

    def _judge(self, host: bytes, origin: bytes | None) -> tuple[int, str] | None:
        name = host.decode("latin-1").lower()
        if _AUTHORITY.fullmatch(name) is None:
            return 400, "malformed Host header"
        if not self._hosts.allow(name):
            return 421, f"this Host is not served here; {self._host_mend}"
        if origin is not None and not self._origins.allow(origin.decode("latin-1").lower()):
            return 403, f"this Origin is not allowed; {self._origin_mend}"
        return None


def guarded(app: ASGIApp, check: OriginCheck) -> ASGIApp:
    """Return the application behind a check of Host and Origin."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = check.refuse(scope["headers"]) if scope["type"] == "http" else None
        if refusal is None:
            await app(scope, receive, send)
        else:
            await send_json(send, refusal[0], {"error": refusal[1]})

    return guard


class _Allowed:
    """Names that match exactly, and names that match with any port."""

    def __init__(self, entries: Iterable[str]) -> None:
        lowered = [entry.lower() for entry in entries]
        self._exact = frozenset(entry for entry in lowered if not entry.endswith(":*"))
        self._any_port = frozenset(entry[:-2] for entry in lowered if entry.endswith(":*"))

    def allow(self, name: str) -> bool:
        if name in self._exact or name in self._any_port:
            return True
        bare, colon, port = name.rpartition(":")
        return bool(colon) and port.isascii() and port.isdigit() and bare in self._any_port
