"""The way back to a client of the handshake era, or over stdio, while its call is under way."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

from gateway.errors import AskFailed, AskRefused, AskUnanswered
from gateway.listen.asking import can_answer
from gateway.listen.clients import Client
from gateway.listen.levels import reaches
from gateway.listen.methods import ELICITED, MESSAGE
from gateway.protocol.words import METHOD_NOT_FOUND
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject

# A slow client loses notifications; it never holds up the server whose news they are.
_NOTIFY_DEADLINE_S: Final = 1.0


class Channel(Protocol):
    """What goes to the client beside the answer to its request: the SDK's way, or our own."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress under the token of the request."""
        ...

    async def notify(self, method: str, params: JsonObject | None) -> None:
        """Tell something."""
        ...

    async def send_raw_request(self, method: str, params: JsonObject | None) -> dict[str, Any]:
        """Ask something, and return the result; raises MCPError for an error."""
        ...


@dataclass(slots=True, kw_only=True)
class ChannelCaller:
    """A client of the handshake era, or one over stdio in either era."""

    era: Era
    protocol_version: str
    transport: str
    wants_progress: bool
    channel: Channel  # bound to the client's own request; silent once that is answered
    carried: Callable[[JsonObject], JsonObject]
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    log_level: str = ""
    session: str = ""
    client: Client | None = None  # of the handshake era: what is left when the request is over
    is_answered: bool = False
    _reached: float = -math.inf

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress on the client's own request."""
        if not self.wants_progress or progress <= self._reached:  # it MUST increase
            return
        self._reached = progress
        with anyio.move_on_after(_NOTIFY_DEADLINE_S):
            await self.channel.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Hand on a log message on the client's own request.

        Without a level, a client of the handshake era gets what there is, and any other nothing.
        """
        wanted = reaches(params, self.log_level) if self.log_level else self.era is Era.LEGACY
        if wanted:
            with anyio.move_on_after(_NOTIFY_DEADLINE_S):
                await self.channel.notify(MESSAGE, self.carried(params))

    async def completed(self, params: JsonObject) -> None:
        """Tell that an elicitation is done: on the request's own stream, or that of the session."""
        if self.client is None:
            return
        if self.is_answered:
            self.client.tell(ELICITED, params)
        else:
            with anyio.move_on_after(_NOTIFY_DEADLINE_S):
                await self.channel.notify(ELICITED, params)

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Ask the client on the stream of its own request; raises AskRefused.

        When the time is over or the request is cancelled, the client is told that nobody waits any
        more. What it answers then is dropped.
        """
        if self.era is not Era.LEGACY or not can_answer(self.capabilities, method, params):
            raise AskRefused(METHOD_NOT_FOUND, f"`{method}` is not offered by this client")
        try:
            with anyio.fail_after(within_s):
                return await self.channel.send_raw_request(method, self.carried(params))
        except TimeoutError:
            raise AskUnanswered(REQUEST_TIMEOUT, "the client gave no answer in time") from None
        except MCPError as refused:
            error = refused.error
            raise AskFailed(error.code, error.message, error.data) from None
