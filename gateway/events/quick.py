"""The quick way of the redactor: one look over a whole value, where most values end."""

from collections.abc import Collection, Iterable
from typing import Final

from gateway.events.patterns import names_secret
from gateway.events.profile import Profile
from gateway.events.scanner import Scanner
from gateway.types.json import Json

_KNOWN_KEYS: Final = 4_096
_LONGEST_KEY: Final = 64
_CARD_SIZED: Final = 10**11  # the shortest card number has 12 digits
_MAYBE_JSON: Final = frozenset('{[" \t\r\n')


class QuickLook:
    """Looks at all texts of a value at once; safe to share between threads."""

    def __init__(self, scanner: Scanner, profile: Profile) -> None:
        self._scanner = scanner
        self._profile = profile
        self._clean_keys: set[str] = set()

    def clean(self, value: Json) -> int | None:
        """Return how many keys a value has that needs no change, or None if it may need one."""
        caps = self._profile
        texts: list[str] = []
        level: Collection[Json] = (value,)
        nodes = keys = depth = 0
        jsonish = False
        if isinstance(value, dict) and self._clean_keys >= value.keys():
            # As nearly all are: begin with what is in it.
            level, nodes, keys, depth = value.values(), 1, len(value), 1
        while level:
            nodes += len(level)
            if nodes > caps.max_nodes or depth > caps.max_depth:
                return None
            below: list[Json] = []
            for item in level:
                if isinstance(item, str):
                    texts.append(item)
                    jsonish = jsonish or item[:1] in _MAYBE_JSON
                elif isinstance(item, dict):
                    if not (self._clean_keys >= item.keys() or self._all_clean(item)):
                        return None
                    keys += len(item)
                    below += item.values()
                elif isinstance(item, list):
                    below += item
                elif isinstance(item, int) and item >= _CARD_SIZED and caps.personal:
                    return None
            level = below
            depth += 1
        text = "\n".join(texts)
        is_long = len(text) > caps.max_text and max(map(len, texts)) > caps.max_text
        return None if is_long or self._scanner.suspects(text, jsonish=jsonish) else keys

    def _all_clean(self, keys: Iterable[str]) -> bool:
        """Look at keys that were not seen before, and remember the harmless ones."""
        clean = self._clean_keys
        for key in keys:
            if key in clean:
                continue
            if names_secret(key) or self._scanner.suspects(key, jsonish=False):
                return False
            if len(clean) >= _KNOWN_KEYS:
                clean.clear()
            if len(key) <= _LONGEST_KEY:
                clean.add(key)
        return True
