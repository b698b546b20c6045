"""One request on its way to a server, and what may come back before its answer does."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from gateway.types.calls import Era, Method, Principal
from gateway.types.decisions import Decision
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

URL_REQUIRED: Final = -32042
"""The JSON-RPC error by which a server refuses until URLs were visited (MCP 2025-11-25 alone)."""

Told: TypeAlias = Callable[[JsonObject], None]  # hears news that a server sends; never waits


def lane_of(principal: Principal, session: str) -> str:
    """Return the name of what a server may keep together: one caller's, in one session."""
    # As JSON: no two callers have the same name, whatever their parts are made of.
    return json.dumps([*principal.owner, session])


class Presence(Protocol):
    """Whether the caller of a request still waits for it."""

    def on_left(self, told: Callable[[], None]) -> None:
        """Have `told` called once the caller leaves; at once when it has."""
        ...


@value
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
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """What goes along over HTTP: a key that the server knows a repeated request by."""
    late_s: float = 0.0
    """How long the answer is taken after the deadline, once the request is sent."""
    may_cancel: bool = False
    """A write whose contract lets its server be told that nobody waits; of reads it always is."""
    presence: Presence | None = None
    """Of the caller of a write that may be cancelled; other writes don't learn that it left."""
    patience: Presence | None = None
    """Ends once the caller is answered without it: a request that goes on keeps no place then."""
    may_leave: Callable[[], bool] | None = None
    """Asked directly before it is sent: whether it still may be."""
    written: bytes = b""
    """The arguments of a read as JSON, where nothing but them is sent: no key of the caller's."""
    owner: str = ""
    """Names the caller, whatever its session: one has a share of all lanes. Empty: no caller."""

    @property
    def may_ask(self) -> bool:
        """Whether the server may come back with a question for the caller."""
        return any(kind in self.capabilities for kind in ("elicitation", "sampling", "roots"))


class AskOutcome(StrEnum):
    """What became of a question of a server."""

    ASKED = "asked"  # it was put to the caller
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"
    ANSWERED = "answered"  # with anything but an action
    ERROR = "error"  # the client answered with one
    TIMEOUT = "timeout"
    FORBIDDEN = "forbidden"  # by policy
    WITHDRAWN = "withdrawn"  # its server or its call gave it up
    UNSENT = "unsent"  # it could not be put to the caller

    @classmethod
    def of(cls, result: JsonObject) -> "AskOutcome":
        """Return what an answer says: the action of a form or URL, if it is one."""
        action = result.get("action")
        return cls(action) if action in _ACTIONS else cls.ANSWERED


_ACTIONS = (AskOutcome.ACCEPT, AskOutcome.DECLINE, AskOutcome.CANCEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question of a server at one moment, for the event log."""

    outcome: AskOutcome
    method: Method | None = None  # None: an answer does not tell
    params: JsonObject | None = None  # as the server sent them; None: an earlier request asked
    decision: Decision | None = None
    result: JsonObject | None = None
    error_code: int | None = None  # of JSON-RPC
    key: str = ""  # in `inputRequests` and `inputResponses`


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

    async def completed(self, elicitation_id: str) -> None:
        """Hear that what the caller was sent to a URL for is done, maybe long after the call."""
        ...

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a question that a server of the handshake era asks; raises AskRefused."""
        ...


class Turns(Protocol):
    """The part of a ticket that keeps what callers and their models were asked."""

    def sampled(self, request: JsonObject, result: JsonObject | None, error: str) -> None:
        """Keep one turn of the caller's model, or why there was none."""
        ...

    def inquired(self, inquiry: Inquiry) -> bool:
        """Keep what became of a question, at once; False when that can't be kept."""
        ...


@value
class Underway:
    """A request that was sent, and who hears and keeps what its server says meanwhile."""

    outbound: Outbound
    ear: Ear | None  # None when nobody wants to hear
    turns: Turns
