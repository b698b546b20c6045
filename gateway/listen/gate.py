"""What the fronts need from the rest of the gateway, and nothing more."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from gateway import __version__
from gateway.identity.challenge import Challenge
from gateway.identity.shown import Shown
from gateway.types.calls import Caller, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished
from gateway.types.refused import TurnedAway
from gateway.types.tools import Kind, Listed

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


class Page(Protocol):
    """One page of a list."""

    @property
    def items(self) -> list[JsonObject]:
        """Tools, resources, templates or prompts as they are exposed, in a stable order."""
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

    def at_once(
        self, headers: Mapping[bytes, bytes], shown: Shown | None = None
    ) -> Principal | Challenge | None:
        """Return the same without waiting, or None where that has to be awaited.

        The names of the headers are in small letters, and each is there once. `shown` is of those
        headers alone, whose credential is then read once.
        """
        ...

    def insufficient_scope(self, scopes: Iterable[str]) -> Challenge:
        """Return the 403 for a call that needs these scopes."""
        ...

    def metadata(self) -> JsonObject:
        """Return the protected-resource metadata of the endpoint (RFC 9728)."""
        ...


class Gate(Protocol):
    """The pipeline as the fronts see it, the same for every transport and protocol era."""

    def handle(self, call: ProposedCall) -> Awaitable[Finished]:
        """Weigh one request and return its finished result; cancelled when the caller leaves."""
        ...

    async def watch(
        self, call: ProposedCall, told: Callable[[], None]
    ) -> Callable[[], None] | Finished:
        """Weigh a subscription; returns the way out of it, or why there is none.

        `told` is called on the event loop whenever the resource was updated; it must not wait.
        """
        ...

    async def follow(
        self, call: ProposedCall, told: Callable[[JsonObject], None]
    ) -> Callable[[], None] | Finished:
        """Weigh a `tasks/get` and follow its task; returns the way out, or why there is none.

        `told` is called on the event loop with the task whenever its server tells of it; it must
        not wait.
        """
        ...

    async def list_items(
        self, kind: Listed, principal: Principal, caller: Caller, *, cursor: str | None
    ) -> Page:
        """Return a page of what this principal may use; raises BadCursor."""
        ...

    def offers(self) -> JsonObject:
        """Return the capabilities of the gateway as a server, extensions included."""
        ...

    def tool_schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema under which this principal sees a tool, or None if it doesn't."""
        ...

    def on_changed(self, callback: Callable[[Kind], None]) -> Callable[[], None]:
        """Call back, on the event loop, when a list may have changed; returns the way out."""
        ...

    def roots_changed(self, principal: Principal, session: str) -> None:
        """Hand on that a client's roots changed, to servers that may have asked for them."""
        ...

    def turned_away(self, what: TurnedAway) -> None:
        """Take note of a request that never became a call; never waits and never raises."""
        ...
