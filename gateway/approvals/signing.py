"""Signatures of notices, after Standard Webhooks 1.0: HMAC-SHA256 over id, time and body."""

import base64
import hashlib
import hmac
from collections.abc import Mapping


def signed(notice_id: str, at_s: int, body: bytes, key: bytes) -> Mapping[str, str]:
    """Return the headers of one attempt at `at_s` (seconds since 1970); none without a key.

    The id is the same at every attempt, so that a receiver can tell a repetition.
    """
    if not key:
        return {}
    content = b".".join((notice_id.encode(), str(at_s).encode(), body))
    made = hmac.new(key, content, hashlib.sha256).digest()
    return {
        "webhook-id": notice_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": f"v1,{base64.b64encode(made).decode()}",
    }
