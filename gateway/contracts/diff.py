"""What a server changed in a tool's definition since a person reviewed it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.contracts.pins import pinned
from gateway.jsontext import canonical, escape
from gateway.types.json import Json, JsonPointer


class ChangeKind(StrEnum):
    """How a field differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field that differs; a side that doesn't have it is None."""

    pointer: JsonPointer
    before: Json
    after: Json
    kind: ChangeKind


def diff(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[Change, ...]:
    """Return every pinned field that differs, descriptions included: they steer a model too."""
    return tuple(_compare(pinned(old), pinned(new), ""))


def _compare(old: Json, new: Json, pointer: JsonPointer) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _compare_members(old, new, pointer)
    elif isinstance(old, list) and isinstance(new, list):
        before = {str(index): value for index, value in enumerate(old)}
        after = {str(index): value for index, value in enumerate(new)}
        yield from _compare_members(before, after, pointer)
    elif canonical(old) != canonical(new):  # `1` is `1.0`, but `true` is not `1`
        yield Change(pointer=pointer, before=old, after=new, kind=ChangeKind.CHANGED)


def _compare_members(
    old: Mapping[str, Json], new: Mapping[str, Json], pointer: JsonPointer
) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        place = f"{pointer}/{escape(key)}"
        if key not in new:
            yield Change(pointer=place, before=old[key], after=None, kind=ChangeKind.REMOVED)
        elif key not in old:
            yield Change(pointer=place, before=None, after=new[key], kind=ChangeKind.ADDED)
        else:
            yield from _compare(old[key], new[key], place)
