"""Arguments as approvers may see them: secrets hidden, and told apart by length and digest."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gateway import jsontext
from gateway.types.json import Json, JsonObject, JsonPointer

# What stands where something is hidden. Arguments could spell it too: the list of pointers that
# comes with them says which of them are masks.
MASK: Final = "$masked"
SECRET: Final = "secret"  # noqa: S105 - nothing of it is shown
PART: Final = "part"  # the rest is in `shown`

Digest: TypeAlias = Callable[[Json], str]

_MARKER: Final = re.compile(r"\[redacted:[^\[\]]{1,60}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The same arguments twice: whole, and as the redactor lets people see them."""

    whole: JsonObject
    safe: JsonObject

    def masked(self, digest: Digest) -> tuple[JsonObject, tuple[JsonPointer, ...]]:
        """Return what may be shown, and where in it a mask stands for something hidden."""
        hiding = _Hiding(digest)
        shown = hiding.value(self.whole, self.safe, "")
        return (shown, tuple(hiding.pointers)) if isinstance(shown, dict) else ({}, ("",))


def is_masked(pointer: JsonPointer, masked: frozenset[JsonPointer]) -> bool:
    """Whether a place is hidden, by itself or with what it is in."""
    while pointer not in masked:
        if not pointer:
            return False
        pointer = pointer.rpartition("/")[0]
    return True


@dataclass(slots=True)
class _Hiding:
    digest: Digest
    pointers: list[JsonPointer] = field(default_factory=list[JsonPointer])

    def value(self, whole: Json, safe: Json, pointer: JsonPointer) -> Json:
        match whole, safe:
            case dict(), dict() if list(whole) == list(safe):
                return {
                    key: self.value(whole[key], safe[key], f"{pointer}/{jsontext.escape(key)}")
                    for key in whole
                }
            case list(), list() if len(whole) == len(safe):
                pairs = enumerate(zip(whole, safe, strict=True))
                return [self.value(*pair, f"{pointer}/{index}") for index, pair in pairs]
            case _ if whole is safe or (type(whole) is type(safe) and whole == safe):
                return whole
            case _:
                self.pointers.append(pointer)
                return self._mask(whole, safe)

    def _mask(self, whole: Json, safe: Json) -> JsonObject:
        length = len(whole) if isinstance(whole, str) else len(jsontext.dump(whole))
        mask: JsonObject = {MASK: SECRET, "length": length, "digest": self.digest(whole)}
        if not isinstance(safe, str):  # keys were hidden, or a value of another type stands there
            return {**mask, MASK: PART, "shown": safe}
        return mask if _MARKER.fullmatch(safe) else {**mask, MASK: PART, "shown": safe}
