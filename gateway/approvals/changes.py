"""What is new in a call against the one whose request it takes the place of."""

from collections.abc import Iterator
from enum import Enum
from itertools import zip_longest
from typing import Final, TypeAlias

from gateway import jsontext
from gateway.approvals.masking import Digest, Sight
from gateway.types.json import Json, JsonObject, JsonPointer


class _Absent(Enum):
    """What stands where one of the two has nothing."""

    HERE = "absent"


_ABSENT: Final = _Absent.HERE
_Value: TypeAlias = Json | _Absent


def changes(before: Sight, after: Sight, digest: Digest) -> Iterator[JsonObject]:
    """Yield `{pointer, before, after, masked}` for each place that differs.

    What is absent has no member; `masked` names those of the two that are masks. Numbers are equal
    as RFC 8785 says: `100` is `100.0`. A secret is compared by its digest.
    """
    old, old_masks = before.masked(digest)
    new, new_masks = after.masked(digest)
    yield from _Comparison(frozenset(old_masks), frozenset(new_masks)).between(old, new, "")


class _Comparison:
    """One walk down two values, as far as both go on in the same way; a mask is one value."""

    def __init__(self, old: frozenset[JsonPointer], new: frozenset[JsonPointer]) -> None:
        self._masks = {"before": old, "after": new}

    def between(self, before: _Value, after: _Value, pointer: JsonPointer) -> Iterator[JsonObject]:
        pairs: Iterator[tuple[str, _Value, _Value]] = iter(())
        is_open = not any(pointer in each for each in self._masks.values())
        match before, after:
            case dict(), dict() if is_open:
                names = {**before, **after}
                pairs = ((key, before.get(key, _ABSENT), after.get(key, _ABSENT)) for key in names)
            case list(), list() if is_open:
                both = enumerate(zip_longest(before, after, fillvalue=_ABSENT))
                pairs = ((str(index), old, new) for index, (old, new) in both)
            case _:
                if not _is_same(before, after):
                    yield self._change(before, after, pointer)
        for key, old, new in pairs:
            yield from self.between(old, new, f"{pointer}/{jsontext.escape(key)}")

    def _change(self, before: _Value, after: _Value, pointer: JsonPointer) -> JsonObject:
        change: JsonObject = {"pointer": pointer}
        if not isinstance(before, _Absent):
            change["before"] = before
        if not isinstance(after, _Absent):
            change["after"] = after
        masked: list[Json] = [name for name, each in self._masks.items() if pointer in each]
        return {**change, "masked": masked}


def _is_same(before: _Value, after: _Value) -> bool:
    if isinstance(before, _Absent) or isinstance(after, _Absent):
        return before is after
    return jsontext.canonical(before) == jsontext.canonical(after)
