"""What came back from a downstream, or why nothing did."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from gateway.types.json import Json, JsonObject


class Execution(StrEnum):
    """Whether the downstream may have acted."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


class Failure(StrEnum):
    """Why a request has no usable answer."""

    UNAVAILABLE = "unavailable"  # no connection, server down, start failed
    STARTING = "starting"
    BUSY = "busy"  # our own queue for this server is full
    TIMEOUT = "timeout"
    CLOSED = "closed"  # the connection ended while the call was in flight
    MALFORMED = "malformed"  # an answer that isn't JSON, or isn't a result
    TOO_LARGE = "too_large"
    UNAUTHORIZED = "unauthorized"  # the downstream refused the gateway's own credential
    RATE_LIMITED = "rate_limited"
    CANCELLED = "cancelled"  # our caller went away


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """How a downstream is reached, for spans and events only."""

    transport: str  # `http` or `stdio`
    version: str = ""  # the MCP revision that is spoken with it
    address: str = ""  # `host` or `host:port`; nothing of a URL that could hold a secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A result as received; `size` is the bytes of the message that carried it."""

    result: JsonObject
    size: int
    redactions: int = 0  # how often a credential of the gateway's own was taken out of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A JSON-RPC error from the downstream, as received."""

    code: int
    message: str
    data: Json = None
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """No usable answer, and whether the downstream may have acted all the same."""

    failure: Failure
    executed: Execution
    detail: str  # for people: names the server, holds no secrets
    retry_after_s: float | None = None


Delivery: TypeAlias = Delivered | Rejected | Undelivered


class VerificationState(StrEnum):
    """Whether an outcome was checked, kept apart from whether the call succeeded."""

    NOT_DECLARED = "not_declared"
    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks on an outcome said."""

    state: VerificationState
    detail: str = ""
