"""The headers of one request, gone through once for all who look at them."""

from collections.abc import Sequence
from typing import Final

_ROUTING: Final = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name"})
_KEY: Final = b"idempotency-key"
_KEPT: Final = _ROUTING | {b"content-type", b"content-length", b"accept", b"traceparent", _KEY}
_BLANKS: Final = b" \t"


class HeaderView:
    """The headers of a request, by their names in small letters."""

    __slots__ = ("duplicate", "is_plain", "raw", "run", "values")

    def __init__(self, raw: Sequence[tuple[bytes, bytes]], run: bytes = b"") -> None:
        self.raw = raw
        self.duplicate = b""  # a routing header that came twice
        self.values = values = dict(raw)  # as they came: blanks around one are no part of it
        # Nothing came twice, and no name is in capitals: `values` says all that `raw` does, so
        # that nobody has to go through that to see whether there is another of the same name.
        self.is_plain = False
        if len(values) == len(raw):
            self.is_plain = b"".join(values).islower()
        else:
            self._join(run)
        # The run that the header with this name, in small letters, is about.
        self.run = self.text(run) if run in values and run and run not in _KEPT else ""

    def _join(self, run: bytes) -> None:
        """Make one of those that came twice, where that is of consequence."""
        # Two are one list (RFC 9110, 5.3). A list is no key, and names no run: whoever reads it
        # refuses it.
        lists = {_KEY, run}
        names = [key for key, _ in self.raw]
        for key in self.values:
            if names.count(key) > 1 and key in _ROUTING:
                self.duplicate = key
            elif key in lists:
                shown = [value.strip(_BLANKS) for name, value in self.raw if name == key]
                self.values[key] = b", ".join(shown)

    def get(self, key: bytes) -> bytes | None:
        """Return a header without the blanks that parsers may leave (RFC 9110, 5.5), or None."""
        found = self.values.get(key)
        return None if found is None else found.strip(_BLANKS)

    def text(self, key: bytes) -> str:
        """Return a header as text, empty when it is absent."""
        found = self.values.get(key)
        return "" if found is None else found.strip(_BLANKS).decode("latin-1")

    def first(self, name: bytes) -> bytes | None:
        """Return the first header of a name, however its letters are written, or None."""
        if self.is_plain:
            return self.values.get(name)
        return next((value for key, value in self.raw if key.lower() == name), None)

    def differ(self, name: bytes) -> bool:
        """Whether a header comes with different values: proxies may each pick another."""
        if self.is_plain:
            return False
        return len({value for key, value in self.raw if key.lower() == name}) > 1

    @property
    def has_params(self) -> bool:
        """Whether there are Mcp-Param-* headers."""
        return any(key.startswith(b"mcp-param-") for key in self.values)

    @property
    def idempotency_key(self) -> str | None:
        """Return the host's key for this request as it came, or None."""
        found = self.values.get(_KEY)
        return None if found is None else found.strip(_BLANKS).decode("latin-1")
