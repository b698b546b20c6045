"""Reads messages of a server, and takes the credentials out of them that it was given."""

from typing import Final, NamedTuple

from gateway import jsontext
from gateway.types.json import Json

_MARK: Final = "[secret]"
# An escape in which a server may write what a credential consists of, and need not.
_ASCII_ESCAPE: Final = b"\\u00"
_ESCAPE: Final = b"\\u"
_SLASH: Final = b"\\/"


class Read(NamedTuple):
    """A message, and how many credentials were taken out of it."""

    message: Json
    redactions: int = 0


class Reader:
    """Reads the messages of one server; `credentials` are its own, longest first.

    Texts only are looked at, and only in a message whose bytes hold a credential or an escape that
    could stand for a part of one: in any other it costs one search of the bytes for each.
    """

    def __init__(self, credentials: tuple[str, ...]) -> None:
        self._credentials = credentials
        needles = [jsontext.dump(each)[1:-1] for each in credentials]
        # `Bearer X` is there only where X is.
        self._needles = tuple(
            one for one in needles if not any(part in one for part in needles if part != one)
        )
        self._escapes: tuple[bytes, ...] = ()
        if credentials:
            self._escapes = (
                _ASCII_ESCAPE if all(map(str.isascii, credentials)) else _ESCAPE,
                *((_SLASH,) if any("/" in each for each in credentials) else ()),
            )

    def read(self, data: bytes) -> Read:
        """Return the message; raises JsonError."""
        message = jsontext.parse_result(data)
        if not self._may_hold(data):
            return Read(message)
        taken = _Taken(self._credentials)
        return Read(taken.out_of(message), taken.count)

    def _may_hold(self, data: bytes) -> bool:
        for needle in self._needles:
            if needle in data:
                return True
        return b"\\" in data and any(escape in data for escape in self._escapes)


class _Taken:
    """What was taken out of one message so far."""

    def __init__(self, credentials: tuple[str, ...]) -> None:
        self._credentials = credentials
        self.count = 0

    def out_of(self, value: Json) -> Json:
        match value:
            case str():
                return self._out_of_text(value)
            case list():
                return [self.out_of(item) for item in value]
            case dict():
                return {self._out_of_text(key): self.out_of(item) for key, item in value.items()}
            case _:
                return value

    def _out_of_text(self, text: str) -> str:
        for credential in self._credentials:
            found = text.count(credential)
            if found:
                self.count += found
                text = text.replace(credential, _MARK)
        return text
