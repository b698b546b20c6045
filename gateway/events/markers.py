"""What stands where a value was: `{"$redacted": …}` in structures, `[redacted:…]` in texts."""

import hashlib
import hmac
import re
from typing import Final

from gateway import jsontext
from gateway.events.scanner import marker
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity

KEY: Final = "$redacted"
SIZE: Final = "size"  # too many values
DEPTH: Final = "depth"  # nested too deeply
_KINDS: Final = frozenset({*Sensitivity, SIZE, DEPTH})
_DIGEST: Final = re.compile(r"hmac-sha256:[0-9a-f]{32}")


def erased(kind: str) -> JsonObject:
    """Return the marker that keeps nothing of a value but why it is gone."""
    return {KEY: kind}


def personal(value: Json, key: bytes) -> JsonObject:
    """Return the marker for a personal value: a keyed digest of 16 bytes, and its length.

    Texts that differ in case, spaces or dashes only have the same digest.
    """
    text = value if isinstance(value, str) else jsontext.dump(value).decode()
    normal = "".join(text.casefold().replace("-", "").split())
    digest = hmac.digest(key, normal.encode("utf-8", "replace"), hashlib.sha256)[:16].hex()
    return {KEY: Sensitivity.PERSONAL.value, "hmac": f"hmac-sha256:{digest}", "len": len(text)}


def is_marker(value: Json) -> bool:
    """Whether a value is exactly what this module writes: anything more could hide something."""
    if not isinstance(value, dict):
        return False
    kind = value.get(KEY)
    if not isinstance(kind, str) or kind not in _KINDS:
        return False
    if len(value) == 1:
        return True
    digest, length = value.get("hmac"), value.get("len")
    return (
        len(value) == 3
        and isinstance(digest, str)
        and _DIGEST.fullmatch(digest) is not None
        and type(length) is int
        and 0 <= length < 2**31
    )


def in_text(value: Json) -> str:
    """Return the marker for texts that stands for a marker of structures."""
    kind = value.get(KEY) if isinstance(value, dict) else None
    return marker(kind if isinstance(kind, str) else Sensitivity.SECRET.value)
