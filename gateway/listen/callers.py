"""The way back to a client while its call is under way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from gateway.errors import AskRefused
from gateway.listen.rpc import METHOD_NOT_FOUND, notification_bytes
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject

Report = Callable[[float, float | None, str | None], Awaitable[None]]

MODERN_VERSION: Final = "2026-07-28"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernHttpCaller:
    """A client of the stateless era over HTTP; progress begins its event stream."""

    push: Callable[[bytes], None]  # takes a notification, never waits
    token: str | int | None
    protocol_version: str = MODERN_VERSION
    era: Era = Era.MODERN
    transport: str = "http"
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    log_level: str = ""
    session: str = ""

    @property
    def wants_progress(self) -> bool:
        """Whether the request carries a progress token."""
        return self.token is not None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Put a progress notification on the response stream, without waiting for the network."""
        if self.token is None:
            return
        params: JsonObject = {"progressToken": self.token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self.push(notification_bytes("notifications/progress", params))

    async def log(self, params: JsonObject) -> None:
        """Put a log message on the response stream."""
        self.push(notification_bytes("notifications/message", params))

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Refuse: in this era a question is a result, and its answer a new request."""
        del params, within_s
        raise AskRefused(METHOD_NOT_FOUND, f"{method} can't be asked on a stateless request")


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkCaller:
    """A client whose connection the SDK keeps: the handshake era, and stdio in both."""

    era: Era
    protocol_version: str
    transport: str
    wants_progress: bool
    report: Report
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    log_level: str = ""
    session: str = ""

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress on the client's own request."""
        if self.wants_progress:
            await self.report(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Nothing is declared that would let a server log."""
        del params

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Nothing is declared that would let a server ask."""
        del params, within_s
        raise AskRefused(METHOD_NOT_FOUND, f"{method} is not offered")


def progress_token(meta: JsonObject) -> str | int | None:
    """Return the request's progress token, if it carries a usable one."""
    token: Json = meta.get("progressToken")
    if isinstance(token, str) or (isinstance(token, int) and not isinstance(token, bool)):
        return token
    return None
