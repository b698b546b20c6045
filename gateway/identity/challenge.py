"""What a caller without a usable credential is told (RFC 6750, RFC 9728)."""

import re
from dataclasses import dataclass
from typing import Final, Literal

_NOT_QUOTABLE: Final = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")  # RFC 6750, 3

ErrorCode = Literal["", "invalid_request", "invalid_token", "insufficient_scope", "unavailable"]


class Rejected(Exception):
    """A credential that proves nothing; ends in a challenge and never leaves this package.

    The reason is for the credential's owner, and holds no part of it.
    """

    def __init__(
        self,
        reason: str,
        *,
        error: ErrorCode = "invalid_token",
        status: int = 401,
        scopes: tuple[str, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error: ErrorCode = error
        self.status = status
        self.scopes = scopes
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """An HTTP answer that says which credential would do.

    `status` is 401, 403 for scopes, 400 for a malformed request, and 503 with `retry_after_s` while
    the keys of an issuer can't be had: a client must not throw its token away for that.
    """

    status: int
    error: ErrorCode
    description: str  # for people; no part of the credential
    resource_metadata: str  # URL of the protected-resource metadata
    scope: str = ""  # the scopes to ask for, with blanks between them
    retry_after_s: float | None = None

    def www_authenticate(self) -> str:
        """Return the value of the `WWW-Authenticate` header."""
        code = "" if self.error == "unavailable" else self.error
        # No credential at all gets no error code (RFC 6750, 3.1).
        parts = [("error", code), ("error_description", self.description if code else "")]
        parts += [("scope", self.scope), ("resource_metadata", self.resource_metadata)]
        return "Bearer " + ", ".join(f'{name}="{_quotable(text)}"' for name, text in parts if text)


def _quotable(text: str) -> str:
    return _NOT_QUOTABLE.sub("", text)
