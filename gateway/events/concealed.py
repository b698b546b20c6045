"""What a contract calls secret or personal stays so wherever else it turns up in events of a call.

A field is tagged at its place. Its value may stand elsewhere as well: in what a server says of it,
in another argument, and in calls that the gateway makes with it, to check or undo a write.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events import literals, markers
from gateway.events.patterns import names_secret
from gateway.events.scanner import marker
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Sensitivity

_SHORTEST: Final = 3  # characters: anything shorter stands in innocent texts everywhere
_WHOLE: Final = 5  # shorter ones count as whole words only
_TELLING: Final = 6  # shorter ones under such a key may be any word: none, basic, page
_HIDDEN: Final = [marker(each.value) for each in Sensitivity]
_MOST: Final = 64  # values under telling keys that are looked for, each in many forms
_MOST_CHARACTERS: Final = 16_384
_MOST_OPENED: Final = 64  # texts of one value that are read as JSON
_LONGEST_OPENED: Final = 1 << 16  # characters of one
_TELLS: Final = re.compile(
    "pass|pwd|secret|token|key|auth|cookie|credential|jwt|bearer|assertion|cvv|cvc|otp",
    re.IGNORECASE,
)
_CUT: Final = "…"  # what a text of the gateway ends a quotation with that was too long

Tags = Mapping[JsonPointer, Sensitivity]
Concealed = Mapping[str, Sensitivity]
"""Values as texts, each with what it counts as."""


def values(value: Json, tags: Tags) -> dict[str, Sensitivity]:
    """Return the texts and numbers at tagged places; what is secret anywhere is secret."""
    found: dict[str, Sensitivity] = {}
    for pattern, kind in tags.items():
        for _, tagged in jsontext.walk(value, pattern):
            for text in (text for _, text in _leaves(tagged, "")):
                if len(text) >= _SHORTEST and found.get(text) is not Sensitivity.SECRET:
                    found[text] = kind
    return found


def named(value: Json) -> dict[str, Sensitivity]:
    """Return the texts under keys that say that they are secret: they may stand elsewhere as well.

    Keys of JSON inside of a text count. No more are returned than `are_too_many`.
    """
    found: dict[str, Sensitivity] = {}
    level: list[Json] = [value]
    opened = 0
    while level and not are_too_many(found):
        item = level.pop()
        if isinstance(item, str) and opened < _MOST_OPENED and _may_tell(item):
            opened += 1
            level.append(_read(item))
        elif isinstance(item, list):
            level += item
        elif isinstance(item, dict):
            for key, member in item.items():
                if not names_secret(key):
                    level.append(member)
                    continue
                texts = (text for _, text in _leaves(member, "") if len(text) >= _TELLING)
                found |= dict.fromkeys(islice(texts, _MOST), Sensitivity.SECRET)
    for hidden in _HIDDEN:
        found.pop(hidden, None)
    return found


def are_too_many(concealed: Concealed) -> bool:
    """Whether values are too many or too long to look for each: then nothing may be kept."""
    return len(concealed) >= _MOST or sum(map(len, concealed)) > _MOST_CHARACTERS


def _may_tell(text: str) -> bool:
    """Whether a text may be JSON with a telling key in it."""
    is_jsonish = text.lstrip()[:1] in ("{", "[", '"') and len(text) <= _LONGEST_OPENED
    return is_jsonish and ("\\" in text or _TELLS.search(text) is not None)


def _read(text: str) -> Json:
    try:
        return jsontext.parse_result(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def tagged(value: Json, tags: Tags, concealed: Concealed) -> Tags:
    """Return tags that name the places as well at which a concealed value stands."""
    if not concealed:
        return tags
    known = _Known(concealed)
    found: dict[JsonPointer, Sensitivity] = {}
    for pointer, text in _leaves(value, ""):
        kind = concealed.get(text)
        if kind is not None:
            found[pointer] = kind
        elif known.without(text) != text:
            found[pointer] = Sensitivity.SECRET
    return {**found, **tags}


def in_text(text: str, concealed: Concealed) -> str:
    """Return a text without such values, also where it was cut in the middle of one."""
    return _Known(concealed).without(text)


class _Known:
    """Concealed values in all their forms, to be looked for in many texts."""

    def __init__(self, concealed: Concealed) -> None:
        self._secrets = [
            (secret, marker(str(kind)), () if len(secret) < _WHOLE else (*literals.forms(secret),))
            for secret, kind in sorted(concealed.items(), key=lambda item: -len(item[0]))
        ]

    def without(self, text: str) -> str:
        """Return a text without them."""
        for secret, put, forms in self._secrets:
            if not forms:
                if secret in text:
                    text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", put, text)
                continue
            for form in forms:
                if form in text:
                    text = text.replace(form, put)
            text = _without_beginning(text, secret, put)
        return text


def _without_beginning(text: str, secret: str, put: str) -> str:
    if _CUT not in text:
        return text
    for length in range(len(secret) - 1, _SHORTEST, -1):
        text = text.replace(secret[:length] + _CUT, put + _CUT)
    return text


def _leaves(value: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, str]]:
    match value:
        case dict() if markers.is_marker(value):
            return
        case dict() as members:
            for key, member in members.items():
                yield from _leaves(member, f"{pointer}/{jsontext.escape(key)}")
        case list() as items:
            for at, item in enumerate(items):
                yield from _leaves(item, f"{pointer}/{at}")
        case bool() | None:
            return
        case str() as text:
            yield pointer, text
        case int() | float() | Decimal() as number:
            yield pointer, str(number)


def to_json(concealed: Concealed) -> JsonObject:
    """Return the form in which a row keeps them, sealed."""
    return {text: str(kind) for text, kind in concealed.items()}


def from_json(kept: Json) -> dict[str, Sensitivity]:
    """Return what a row keeps; nothing where it keeps none."""
    members = kept if isinstance(kept, dict) else {}
    return {text: Sensitivity(str(kind)) for text, kind in members.items()}
