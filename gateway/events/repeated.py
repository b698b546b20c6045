"""What stands under a telling key, found in the other texts of the same value."""

from collections.abc import Collection
from typing import Final

from gateway.events import literals
from gateway.events.scanner import Cut, encodable, literal, marker
from gateway.types.tools import Sensitivity

_PATTERN: Final = literal("")
_PUT: Final = marker(Sensitivity.SECRET.value)


class Repeated:
    """Some texts in all their forms: few, and known for one value only, so nothing is compiled."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._whole = frozenset(secrets)
        self._forms = literals.every(secrets)

    def cut(self, text: str) -> Cut:
        """Replace each of them; a text that is one says so."""
        if text in self._whole:
            return Cut(_PUT, 1, _PATTERN)
        count, text = 0, encodable(text)
        for form in self._forms:
            if form in text:
                count += text.count(form)
                text = text.replace(form, _PUT)
        return Cut(text, count)
