"""One request on its way to a server, and what may come back before its answer does."""

import json
from dataclasses import dataclass, field
from typing import Protocol

from gateway.types.calls import Era, Method, Principal
from gateway.types.json import Json, JsonObject


def lane_of(principal: Principal, session: str) -> str:
    """Return the name of what a server may keep together: one caller's, in one session."""
    # As JSON: no two callers have the same name, whatever their parts are made of.
    return json.dumps([*principal.owner, session])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """A request as a server gets it, but for what belongs to the hop."""

    method: Method
    params: JsonObject  # `_meta` without keys of this hop
    deadline_s: float  # seconds; waiting for a person to answer a question doesn't count
    is_read: bool  # may be sent again when the connection broke before any answer
    traceparent: str = ""
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    """What the caller can do, as far as policy lets this server make use of it."""
    log_level: str = ""
    era: Era = Era.MODERN
    """Of the caller: a server that knows both asks its questions in the caller's way."""
    lane: str = ""
    """Names whose state a server of the handshake era may keep together; empty: nobody's."""
    owner: str = ""
    """Names the caller, whatever its session: one has a share of all lanes. Empty: no caller."""

    @property
    def may_ask(self) -> bool:
        """Whether the server may come back with a question for the caller."""
        return any(kind in self.capabilities for kind in ("elicitation", "sampling", "roots"))


class Ear(Protocol):
    """Who hears what a server says while it works on a request. Owned by one call."""

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress."""
        ...

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress, which only rises."""
        ...

    async def log(self, params: JsonObject) -> None:
        """Hear a log message."""
        ...

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a question that a server of the handshake era asks; raises AskRefused."""
        ...
