"""Requests that never became calls: malformed ones, and ones whose credential proves nothing."""

from dataclasses import dataclass
from enum import StrEnum


class TurnedAwayFor(StrEnum):
    """Why a request was turned away; a code, never anything of the request itself."""

    # The request can't be a call as it stands.
    PARSE_ERROR = "parse_error"
    INVALID_REQUEST = "invalid_request"
    METHOD_NOT_FOUND = "method_not_found"
    INVALID_PARAMS = "invalid_params"
    HEADER_MISMATCH = "header_mismatch"
    UNSUPPORTED_VERSION = "unsupported_version"
    UNKNOWN_SESSION = "unknown_session"
    HTTP_METHOD = "http_method"
    NOT_ACCEPTABLE = "not_acceptable"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"
    OVERLOADED = "overloaded"
    HOST_REFUSED = "host_refused"
    ORIGIN_REFUSED = "origin_refused"
    # The credential opens nothing.
    NO_CREDENTIAL = "no_credential"
    INVALID_CREDENTIAL = "invalid_credential"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    KEYS_UNAVAILABLE = "keys_unavailable"

    @property
    def is_about_credential(self) -> bool:
        """Whether the sender could not prove who it is, rather than what it sent."""
        return self in _CREDENTIALS


_CREDENTIALS = frozenset(
    {
        TurnedAwayFor.NO_CREDENTIAL,
        TurnedAwayFor.INVALID_CREDENTIAL,
        TurnedAwayFor.INSUFFICIENT_SCOPE,
        TurnedAwayFor.KEYS_UNAVAILABLE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """One such request. INVARIANT: holds neither its credential nor anything of its body."""

    reason: TurnedAwayFor
    transport: str  # `http`, `stdio`, or `admin`: the listener for people
    peer: str = ""  # the address of the other end of the connection
    method: str = ""  # a method that MCP knows, or nothing
    detail: str = ""  # about a credential: what its owner was told
