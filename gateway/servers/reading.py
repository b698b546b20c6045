"""Reads messages of a server, and takes the credentials out of them that it was given."""

from typing import Final, NamedTuple

from gateway import jsontext
from gateway.errors import JsonError
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Listed

_MARK: Final = "[secret]"
# An escape in which a server may write what a credential consists of, and need not.
_ASCII_ESCAPE: Final = b"\\u00"
_ESCAPE: Final = b"\\u"
_LISTS: Final = frozenset(each.value for each in Listed)
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
        try:
            message = jsontext.parse_result(data)
        except JsonError:
            message = _list_with_halves(data)
            if message is None:
                raise
        if not self._credentials or not self._may_hold(data):
            return Read(message)
        taken = _Taken(self._credentials)
        return Read(taken.out_of(message), taken.count)

    def _may_hold(self, data: bytes) -> bool:
        for needle in self._needles:
            if needle in data:
                return True
        return b"\\" in data and any(escape in data for escape in self._escapes)


def _list_with_halves(data: bytes) -> JsonObject | None:
    """Return a page of a list in which only entries hold half surrogate pairs, or None.

    Such an entry can't be passed on, but `listing.vet` keeps it back alone.
    """
    try:
        message = jsontext.parse_halves(data)
        result = message.get("result") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(result, dict):
            return None
        rest = {name: each for name, each in result.items() if not _is_list(name, each)}
        if len(rest) == len(result):
            return None
        jsontext.refuse_surrogates({**message, "result": rest}, "")
    except JsonError:
        return None
    return message


def _is_list(name: str, member: Json) -> bool:
    return name in _LISTS and isinstance(member, list)


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
