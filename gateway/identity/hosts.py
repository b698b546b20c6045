"""Who manages runs over `/v1`: programs with a key of their own, by `Authorization` alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gateway.clock import Clock
from gateway.identity.apikeys import ADMIN_PREFIX, ApiKeys, KeyEntry
from gateway.identity.challenge import Rejected
from gateway.types.calls import Principal

_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)  # RFC 6750, 2.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Why nobody is known by a request; holds no part of a credential."""

    reason: str
    was_shown: bool  # whether there was a credential at all


class Hosts:
    """Takes keys of `admin.api_keys`, and nothing that opens the agents' endpoint.

    No cookie, no query and no other header says who somebody is.
    """

    def __init__(self, entries: Iterable[KeyEntry], *, clock: Clock) -> None:
        self._keys = ApiKeys(entries, prefix=ADMIN_PREFIX)
        self._clock = clock

    def authenticate(self, headers: Iterable[tuple[bytes, bytes]]) -> Principal | Unknown:
        """Return whose key came with a request."""
        shown = [value for name, value in headers if name.lower() == b"authorization"]
        if not shown:
            return Unknown(
                reason="send a key of `admin.api_keys` as `Authorization: Bearer wba_…`",
                was_shown=False,
            )
        found = _BEARER.fullmatch(shown[0].strip()) if len(shown) == 1 else None
        if found is None:
            return Unknown(
                reason="one `Authorization` header has to read `Bearer` and one key",
                was_shown=True,
            )
        try:
            return self._keys.principal(found[1].decode("ascii"), now=self._clock.now())
        except Rejected as rejected:
            return Unknown(reason=rejected.reason, was_shown=True)
