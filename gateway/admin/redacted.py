"""What stands in place of a redacted value, in words that people read."""

import re
from typing import Final

_MARKER: Final = re.compile(r'\{"\$redacted":"([a-z_]+)"(?:,"[a-z]+":(?:"[^"{}]*"|\d+))*\}')


def in_words(text: str) -> str:
    """Return a text with each marker of a redacted value as `[redacted: KIND]`."""
    return _MARKER.sub(r"[redacted: \1]", text)
