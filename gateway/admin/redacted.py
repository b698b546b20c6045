"""Values as people read them: by name, and what was redacted in words. All of it is `visible`."""

import re
from collections.abc import Sequence
from typing import Final

from gateway import jsontext
from gateway.approvals.visible import visible
from gateway.types.json import Json

_LONGEST: Final = 2_000  # characters of one value on a page
_MARKER: Final = re.compile(r'\{"\$redacted":"([a-z_]+)"(?:,"[a-z]+":(?:"[^"{}]*"|\d+))*\}')


def in_words(text: str) -> str:
    """Return a text with each marker of a redacted value as `[redacted: KIND]`."""
    return _MARKER.sub(r"[redacted: \1]", text)


def shown(value: Json) -> str:
    """Return a value as a page shows it: a text as it is, all else as JSON, and cut if long."""
    text = value if isinstance(value, str) else jsontext.dump(value).decode()
    found = visible(in_words(text))
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}… ({len(text)} characters)"


def pairs(value: Json) -> Sequence[tuple[str, str]]:
    """Return the members of an object by name; anything else is one value without a name."""
    if isinstance(value, dict):
        return [(visible(name), shown(member)) for name, member in value.items()]
    return [("", shown(value))]
