"""The way back to a stateless client while its call is under way."""

import math
from collections.abc import Callable

from gateway.errors import AskRefused
from gateway.listen.levels import reaches
from gateway.listen.methods import MESSAGE, PROGRESS
from gateway.listen.rpc import notification_bytes
from gateway.protocol.words import METHOD_NOT_FOUND, MODERN_VERSION
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject


class ModernHttpCaller:
    """A client of the stateless era over HTTP; progress begins its event stream."""

    __slots__ = ("_push", "_reached", "_token", "capabilities", "log_level")

    # The same for all of them, so that no call has to set them.
    protocol_version = MODERN_VERSION
    era = Era.MODERN
    transport = "http"
    session = ""

    def __init__(
        self,
        *,
        push: Callable[[bytes], None],  # takes a notification, never waits
        token: str | int | None,
        capabilities: JsonObject | None = None,
        log_level: str = "",
    ) -> None:
        self._push = push
        self._token = token
        self._reached = -math.inf
        self.capabilities: JsonObject = {} if capabilities is None else capabilities
        self.log_level = log_level

    @property
    def wants_progress(self) -> bool:
        """Whether the request carries a progress token."""
        return self._token is not None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Put a progress notification on the response stream, without waiting for the network."""
        if self._token is None or progress <= self._reached:  # it MUST increase
            return
        self._reached = progress
        params: JsonObject = {"progressToken": self._token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._push(notification_bytes(PROGRESS, params))

    async def log(self, params: JsonObject) -> None:
        """Put a log message on the response stream, if the request asked for its level."""
        if self.log_level and reaches(params, self.log_level):
            self._push(notification_bytes(MESSAGE, params))

    async def completed(self, params: JsonObject) -> None:
        """Tell nothing: this era has no such news."""
        del params

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Refuse: in this era a question is a result, and its answer a new request."""
        del params, within_s
        raise AskRefused(METHOD_NOT_FOUND, f"`{method}` can't be asked on a stateless request")


def progress_token(meta: JsonObject) -> str | int | None:
    """Return the request's progress token, if it carries a usable one."""
    token: Json = meta.get("progressToken")
    if isinstance(token, str) or (isinstance(token, int) and not isinstance(token, bool)):
        return token
    return None
