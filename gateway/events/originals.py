"""What an event keeps of a result that did not leave as it was.

A contract names fields of the data. What is hidden there is hidden wherever else the result has
it: in the text that repeats the data, and in sentences about it.
"""

from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events.changes import Redact, Shown, Tags, covered, shown
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Contract, Sensitivity

_DATA: Final = "structuredContent"


def kept(
    original: JsonObject, contract: Contract | None, sent: JsonObject, *, redact: Redact
) -> Json:
    """Return as much of a result as may be kept; it may repeat arguments, which were `sent`."""
    if contract is None or not (contract.sensitive or contract.sensitive_results):
        return redact(original, {}).value
    fields = {**contract.sensitive, **contract.sensitive_results}
    opened = _Opened(unknown=None if _DATA in original else _worst(contract.sensitive_results))
    result = opened.value(original)
    places = [f"/{_DATA}", *opened.data]
    tags = {f"{place}{field}": kind for place in places for field, kind in fields.items()}
    whole, _ = covered(
        [
            shown(result, tags | opened.texts, redact),
            shown(sent, contract.sensitive, redact),
        ]
    )
    return _closed(whole, "", opened.data)


def _worst(tags: Tags) -> Sensitivity | None:
    """Return what a text counts as in which a tagged field may stand anywhere."""
    kinds = set(tags.values())
    return Sensitivity.SECRET if Sensitivity.SECRET in kinds else next(iter(kinds), None)


class _Opened:
    """A result whose texts were read as data, where they are that; places by pointer."""

    def __init__(self, unknown: Sensitivity | None) -> None:
        self.data: list[JsonPointer] = []
        self.texts: dict[JsonPointer, Sensitivity] = {}
        self._unknown = unknown  # of a text that is no data, and with no data to know it by

    def value(self, value: Json, pointer: JsonPointer = "") -> Json:
        """Return a value with the data in place of the texts."""
        match value:
            case dict():
                return {key: self._member(key, member, pointer) for key, member in value.items()}
            case list():
                return [self.value(item, f"{pointer}/{at}") for at, item in enumerate(value)]
            case _:
                return value

    def _member(self, key: str, member: Json, pointer: JsonPointer) -> Json:
        place = f"{pointer}/{jsontext.escape(key)}"
        if place == f"/{_DATA}":
            return member
        if key != "text" or not isinstance(member, str):
            return self.value(member, place)
        data = _read(member)
        if isinstance(data, dict | list):
            self.data.append(place)
            return data
        if self._unknown is not None:
            self.texts[place] = self._unknown
        return member


def _read(text: str) -> Json:
    try:
        return jsontext.parse_result(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def _closed(value: Shown, pointer: JsonPointer, data: list[JsonPointer]) -> Json:
    """Return what may be kept, with texts again where data was read from them."""
    if pointer in data and not value.is_hidden:
        return jsontext.dump(value.kept).decode()
    members = value.members()
    if members is None:
        return value.kept
    kept = [
        (name, _closed(member, f"{pointer}/{jsontext.escape(key)}", data))
        for key, name, member in members
    ]
    return dict(kept) if isinstance(value.raw, dict) else [each for _, each in kept]
