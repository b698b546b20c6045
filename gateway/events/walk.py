"""The slow way of the redactor: over every part of one value, where something has to be hidden."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events import digits, markers
from gateway.events.patterns import names_secret
from gateway.events.profile import Profile
from gateway.events.quick import QuickLook
from gateway.events.repeated import Repeated
from gateway.events.scanner import Scanner, marker
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Sensitivity

_POINTERS: Final = 100  # how many places are listed; all are counted
_READ: Final = 1 << 20  # characters of an over-long text that are looked at, before it is cut
_ROOM: Final = 40  # for the note at the end of a text that was cut
_KEY: Final = re.compile(r'"[ \t\r\n]*:')  # in texts too, so there are at least as many as keys
_NESTED: Final = 4  # how many times JSON inside a text inside JSON is opened


class Walk:
    """One pass over one value; remembers where it changed what."""

    def __init__(
        self,
        scanner: Scanner,
        quick: QuickLook,
        profile: Profile,
        key: Callable[[], bytes],
        again: Repeated | None = None,
    ) -> None:
        """Begin; `again` finds what stands under a telling key wherever else it stands."""
        self._again = again
        self._scanner = scanner
        self._quick = quick
        self._profile = profile
        self._key = key
        self._nodes = 0
        self._opened = 0
        self.masked: list[JsonPointer] = []
        self.erased: list[JsonPointer] = []
        self.count = 0

    def tagged(self, value: Json, tags: Mapping[JsonPointer, Sensitivity]) -> Json:
        """Hide what a contract names."""
        for pattern, kind in tags.items():
            for pointer, found in list(jsontext.walk(value, pattern)):
                if found is not None and not self._is_hidden(found):
                    value = jsontext.replace(value, pointer, self._hidden(found, kind, pointer))
        return value

    def value(self, value: Json, pointer: JsonPointer = "", depth: int = 0) -> Json:
        """Return the value with everything hidden that keys, forms and caps ask for."""
        self._nodes += 1
        if isinstance(value, str):
            return self._text(value, pointer)
        if isinstance(value, int | float | Decimal) and self._is_named(str(value)):
            return self._hidden(value, Sensitivity.SECRET, pointer)
        if isinstance(value, int) and self._profile.personal and digits.is_card(str(value)):
            return self._hidden(str(value), Sensitivity.PERSONAL, pointer)
        if not isinstance(value, dict | list) or not value or markers.is_marker(value):
            return value
        if depth >= self._profile.max_depth:
            return self._dropped(markers.DEPTH, pointer)
        if self._nodes + len(value) > self._profile.max_nodes:
            return self._dropped(markers.SIZE, pointer)
        if isinstance(value, dict):
            return self._object(value, pointer, depth)
        return [
            self.value(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value)
        ]

    def _object(self, value: JsonObject, pointer: JsonPointer, depth: int) -> JsonObject:
        redacted: JsonObject = {}
        for key, member in value.items():
            name = self._name(key, redacted)
            place = f"{pointer}/{jsontext.escape(name)}"
            if names_secret(key) and self._tells(member):
                redacted[name] = self._hidden(member, Sensitivity.SECRET, place)
            else:
                redacted[name] = self.value(member, place, depth + 1)
        return redacted

    def _name(self, key: str, taken: JsonObject) -> str:
        """Return a key as it may be kept; keys of free maps can be secrets themselves."""
        known = self._again.cut(key) if self._again is not None else None
        cut = self._scanner.cut(key if known is None else known.text)
        if known is not None:
            cut = replace(cut, count=cut.count + known.count)
        if not cut.count:
            return cut.text
        self.count += cut.count
        name, number = cut.text, 1
        while name in taken:
            number += 1
            name = f"{number}#{cut.text}"  # in front: behind, it could belong to a secret
        return name

    def _tells(self, value: Json) -> bool:
        """Whether a value under a telling key is more than a flag or a gap, and not yet hidden."""
        if value is None or isinstance(value, bool) or value in ("", [], {}):
            return False
        return not self._is_hidden(value)

    def _is_named(self, text: str) -> bool:
        """Whether the whole text stands under a telling key elsewhere."""
        return self._again is not None and self._again.cut(text).whole is not None

    def _is_hidden(self, value: Json) -> bool:
        return markers.is_marker(value) or value in (marker("secret"), marker("personal"))

    def _hidden(self, value: Json, kind: Sensitivity, pointer: JsonPointer) -> Json:
        if kind is Sensitivity.SECRET:
            self._note(self.erased, pointer)
            return markers.erased(kind.value) if self._profile.objects else marker(kind.value)
        self._note(self.masked, pointer)
        if self._profile.objects:
            return markers.personal(value, self._key())
        return marker(kind.value)

    def _dropped(self, reason: str, pointer: JsonPointer) -> Json:
        self._note(self.erased, pointer)
        return markers.erased(reason)

    def _note(self, places: list[JsonPointer], pointer: JsonPointer) -> None:
        self.count += 1
        if len(places) < _POINTERS:
            places.append(pointer)

    def _text(self, text: str, pointer: JsonPointer) -> Json:
        known = self._again.cut(text) if self._again is not None else None
        if known is not None and known.whole is not None and self._profile.objects:
            return self._hidden(text, Sensitivity.SECRET, pointer)
        opened = self._json(text, pointer) if text.lstrip()[:1] in ("{", "[", '"') else None
        if opened is not None:
            return self._capped(opened)
        if known is not None and known.count:
            self._note(self.masked, pointer)
            text = known.text
        cut = self._scanner.cut(text[:_READ] if self._profile.max_text < _READ else text)
        if cut.count:
            if cut.whole is not None and self._profile.objects:
                return self._hidden(text, cut.whole.kind, pointer)
            self.count += cut.count - 1
            self._note(self.masked, pointer)
        elif len(cut.text) == len(text):
            return self._capped(text)
        return self._capped(cut.text, len(text) - len(cut.text))

    def _capped(self, text: str, more: int = 0) -> str:
        if len(text) <= self._profile.max_text:
            return text
        head = self._scanner.cut(text[: self._profile.max_text - _ROOM]).text
        left = max(0, len(text) - len(head)) + max(0, more)
        self.count += 1
        return f"{head[: self._profile.max_text - _ROOM]}… [{left} more characters]"

    def _json(self, text: str, pointer: JsonPointer) -> str | None:
        """Redact JSON inside a text; None if the text is to be taken as a text."""
        is_told = self._again is not None and self._again.cut(text).count > 0
        if self._opened >= _NESTED or not (is_told or self._scanner.suspects(text, jsonish=True)):
            return None
        value = _parsed(text)
        if not isinstance(value, dict | list | str):
            return None
        keys = self._quick.clean(value) if not is_told else None
        if keys is not None and (keys == len(_KEY.findall(text)) or _is_strict(text)):
            return text
        self._opened += 1
        before = self.count
        listed = len(self.masked), len(self.erased)
        redacted = self.value(value)
        self._opened -= 1
        if self.count == before and _is_strict(text):
            return text
        if self.count != before:
            del self.masked[listed[0] :], self.erased[listed[1] :]
            if len(self.masked) < _POINTERS:
                self.masked.append(pointer)
        # Also where nothing was hidden: of two equal keys the reader may have kept only one.
        return jsontext.dump(redacted).decode()


def _is_strict(text: str) -> bool:
    """Whether the text has no second of two equal keys, nor anything else that is read away."""
    try:
        jsontext.parse(text, max_bytes=len(text) * 4)
    except JsonError:
        return False
    return True


def _parsed(text: str) -> Json:
    try:
        return jsontext.parse_result(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None
