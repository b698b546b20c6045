"""What the fronts need from the rest of the gateway, and nothing more."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from gateway import __version__
from gateway.identity.challenge import Challenge
from gateway.types.calls import Caller, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished
from gateway.types.refused import TurnedAway

INSTRUCTIONS = (
    "Every tool call is weighed before it crosses: it may pass, be changed, wait for a person, or "
    "be refused. A refusal is a tool result with `isError` and a `next` field that says what to do "
    "instead; do not repeat a refused call unchanged."
)

RawHeaders = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """How the gateway names itself to clients; for display, never for decisions."""

    name: str = "weighbridge"
    version: str = __version__
    instructions: str = INSTRUCTIONS


class ToolPage(Protocol):
    """One page of `tools/list`."""

    @property
    def tools(self) -> list[JsonObject]:
        """Definitions as they are exposed, in a stable order."""
        ...

    @property
    def next_cursor(self) -> str | None:
        """Where the next page begins, or None on the last one."""
        ...


class Authenticator(Protocol):
    """Tells who sends an HTTP request, from its headers alone."""

    async def authenticate(self, headers: RawHeaders) -> Principal | Challenge:
        """Return the verified principal, or what to answer instead; raises for no credential."""
        ...

    def insufficient_scope(self, scopes: Iterable[str]) -> Challenge:
        """Return the 403 for a call that needs these scopes."""
        ...

    def metadata(self) -> JsonObject:
        """Return the protected-resource metadata of the endpoint (RFC 9728)."""
        ...


class Gate(Protocol):
    """The pipeline as the fronts see it, the same for every transport and protocol era."""

    async def handle(self, call: ProposedCall) -> Finished:
        """Weigh one call and return its finished tool result; cancelled when the caller leaves."""
        ...

    async def list_tools(
        self, principal: Principal, caller: Caller, *, cursor: str | None
    ) -> ToolPage:
        """Return a page of the tools that this principal may call; raises BadCursor."""
        ...

    def tool_schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema under which this principal sees a tool, or None if it doesn't."""
        ...

    def on_tools_changed(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back, on the event loop, when any list may have changed; returns the way out."""
        ...

    def turned_away(self, what: TurnedAway) -> None:
        """Take note of a request that never became a call; never waits and never raises."""
        ...
