"""A proposed call, and who proposes it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.types.json import JsonObject


class Era(StrEnum):
    """The two families of MCP revisions: with a handshake, and stateless since 2026-07-28."""

    LEGACY = "legacy"
    MODERN = "modern"


class AuthMethod(StrEnum):
    """How a principal proved who it is."""

    LOCAL = "local"  # a child process of the host: the operator's config says who acts
    API_KEY = "api_key"
    JWT = "jwt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified credential; nothing in here comes from arguments or unauthenticated headers."""

    issuer: str
    subject: str
    client: str
    tenant: str
    user: str
    roles: frozenset[str]
    scopes: frozenset[str]
    method: AuthMethod


class Caller(Protocol):
    """The way back to the client while its call is under way."""

    @property
    def era(self) -> Era:
        """The family of the revision that the client speaks."""
        ...

    @property
    def protocol_version(self) -> str:
        """The MCP revision of the request, such as `2026-07-28`."""
        ...

    @property
    def transport(self) -> str:
        """`http` or `stdio`."""
        ...

    @property
    def wants_progress(self) -> bool:
        """Whether the request carries a progress token."""
        ...

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress; does nothing when the client did not ask for it."""
        ...


class Nobody:
    """A caller that nothing can be told to: for listing, tests and explanations."""

    era = Era.MODERN
    protocol_version = ""
    transport = ""
    wants_progress = False

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell nobody."""
        del progress, total, message


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceContext:
    """W3C trace context: lower-case hex ids of 32 and 16 digits, flags of one byte."""

    trace_id: str
    span_id: str
    sampled: bool
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """What a model asked for; nothing in it has been checked but the credential."""

    call_id: str
    name: str
    arguments: JsonObject
    meta: JsonObject  # the request's `_meta`, hop-owned keys included
    principal: Principal
    caller: Caller
    received_at: datetime  # UTC
    request_id: str = ""  # the JSON-RPC id as text, for spans and events only
    trace_header: str = ""  # the HTTP `traceparent`; `_meta.traceparent` wins over it
    peer: str = ""  # address of the client, for spans and events only
    input_error: str = ""  # what is wrong with the arguments as text, when they can't be read
