"""Whether a form was sent from our own page: by its origin, and by a token that the page holds."""

import hashlib
import hmac
from typing import Final

from starlette.datastructures import Headers

_BYTES: Final = 16


def token(secret: str, path: str) -> str:
    """Return the token of one form of one login: good for this login, and for this address."""
    return hmac.digest(secret.encode(), f"form:{path}".encode(), hashlib.sha256)[:_BYTES].hex()


def holds(secret: str, path: str, given: str) -> bool:
    """Whether a form carries the token that our page put into it."""
    return hmac.compare_digest(token(secret, path).encode(), given.encode("utf-8", "replace"))


def is_from_here(headers: Headers, base_url: str) -> bool:
    """Whether a browser says that a form was sent by a page of this very host and port.

    `base_url` is where people reach us, for a proxy that passes `Host` on as another one; `Host` is
    one of ours in any case, the listener has checked it. Another port of the same machine is
    another program, which may belong to an agent, though the browser sends it the same cookies.
    """
    origin = headers.get("origin")
    if origin is None:  # an old browser, or none: then the other header has to say so
        return headers.get("sec-fetch-site") == "same-origin"
    host = headers.get("host", "").lower()
    return origin.lower() in (f"http://{host}", f"https://{host}", base_url)
