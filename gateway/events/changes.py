"""What a write changed, told from the data before and after it; only what may be kept is shown.

A value stands beside its redacted form; what is hidden at one place is hidden at every place.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events import markers
from gateway.events.redact import Redacted
from gateway.events.scanner import marker
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Sensitivity
from gateway.types.values import value

_SHORTEST: Final = 4  # characters: shorter texts would be found inside of innocent words

Tags = Mapping[JsonPointer, Sensitivity]
Redact = Callable[[Json, Tags], Redacted]

_Path = tuple[str, ...]


@value
class Shown:
    """A value, and the form of it that may be kept: as the redactor makes it, in the same order."""

    raw: Json
    kept: Json

    @property
    def is_hidden(self) -> bool:
        """Whether nothing of the value itself may be kept."""
        return markers.is_marker(self.kept)

    def members(self) -> "list[tuple[str, str, Shown]] | None":
        """Return key, kept name and value of each member or item; None of anything else."""
        match self.raw, self.kept:
            case dict() as raw, dict() as kept if len(raw) == len(kept) and not self.is_hidden:
                pairs = zip(raw.items(), kept.items(), strict=True)
                return [
                    (key, name, Shown(raw=value, kept=shown))
                    for (key, value), (name, shown) in pairs
                ]
            case list() as raw, list() as kept if len(raw) == len(kept):
                pairs = enumerate(zip(raw, kept, strict=True))
                return [
                    (str(at), str(at), Shown(raw=one, kept=shown)) for at, (one, shown) in pairs
                ]
            case _:
                return None


@value
class Change:
    """One field that a write set, by its place in the answer; `before` is None if nobody saw it."""

    pointer: JsonPointer
    before: Shown | None
    after: Shown


def shown(value: Json, tags: Tags, redact: Redact) -> Shown:
    """Return a value beside what may be kept of it."""
    try:
        return Shown(raw=value, kept=redact(value, tags).value)
    except JsonError:  # what can't be written has no digest, and nothing else that could be kept
        return Shown(raw=value, kept=markers.erased(Sensitivity.SECRET.value))


def covered(values: Iterable[Shown], secrets: Iterable[str] = ()) -> list[Shown]:
    """Hide at every place what is hidden at one, in keys and inside of longer texts too."""
    values = list(values)
    hidden: dict[str, Json] = {}
    for one in values:
        _collect(one, hidden)
    hidden |= {secret: markers.erased(Sensitivity.SECRET.value) for secret in secrets if secret}
    if not hidden:
        return values
    long = tuple(text for text in hidden if len(text) >= _SHORTEST)
    return [replace(one, kept=_cover(one.kept, hidden, long)) for one in values]


def changes(old: Shown | None, new: Shown, sent: Shown) -> Iterator[Change]:
    """Yield the fields that differ from the data before, and those that repeat what was sent.

    Without a value before it, a field counts if it is named like an argument and has its value:
    that the answer repeats it says that it was taken over.
    """
    arguments: dict[str, list[tuple[_Path, Shown]]] = {}
    for path, leaf in _leaves(sent, ()):
        if path:
            arguments.setdefault(path[-1], []).append((path, leaf))
    yield from _differing(old, new, (), "", arguments)


def _differing(
    old: Shown | None,
    new: Shown,
    path: _Path,
    pointer: JsonPointer,
    arguments: Mapping[str, list[tuple[_Path, Shown]]],
) -> Iterator[Change]:
    before = None if old is None else old.members()
    after = new.members()
    if after and (old is None or _is_alike(before, after, new)):
        earlier = {key: member for key, _, member in before or ()}
        for key, name, member in after:
            place = f"{pointer}/{jsontext.escape(name)}"
            yield from _differing(earlier.get(key), member, (*path, key), place, arguments)
    elif old is not None:
        if not _is_same(old.raw, new.raw):
            yield Change(pointer=pointer, before=old, after=new)
    else:
        given = _given(path, new, arguments)
        if given is not None:
            after_it = given if given.is_hidden else new
            yield Change(pointer=pointer, before=None, after=after_it)


def _is_alike(
    before: "list[tuple[str, str, Shown]] | None",
    after: "list[tuple[str, str, Shown]]",
    new: Shown,
) -> bool:
    """Whether two containers can be compared part by part: items of a list have no names."""
    if before is None:
        return False
    is_object = isinstance(new.raw, dict)
    return is_object or [key for key, _, _ in before] == [key for key, _, _ in after]


def _given(
    path: _Path, leaf: Shown, arguments: Mapping[str, list[tuple[_Path, Shown]]]
) -> Shown | None:
    """Return the argument that a field of the answer repeats, under its name or a longer one."""
    for sent, given in arguments.get(path[-1], ()) if path else ():
        if path[-len(sent) :] == sent and _is_same(given.raw, leaf.raw):
            return given
    return None


def _leaves(value: Shown, path: _Path) -> Iterator[tuple[_Path, Shown]]:
    members = value.members()
    if not members:
        yield path, value
        return
    for key, _, member in members:
        yield from _leaves(member, (*path, key))


def _is_same(one: Json, other: Json) -> bool:
    """Compare as JSON does: `true` is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _collect(value: Shown, hidden: dict[str, Json]) -> None:
    """Note the texts and numbers of which the redactor kept nothing, with what stands for them."""
    if value.raw is value.kept:  # nothing is hidden in most
        return
    for _, leaf in _leaves(value, ()):
        kind = leaf.kept.get(markers.KEY) if isinstance(leaf.kept, dict) else None
        if not leaf.is_hidden or leaf.raw == leaf.kept:
            continue
        is_whole = not isinstance(leaf.raw, dict | list)
        for text in _texts(leaf.raw):
            if kind == Sensitivity.SECRET.value:
                hidden[text] = markers.erased(Sensitivity.SECRET.value)
            elif kind == Sensitivity.PERSONAL.value:
                hidden.setdefault(text, leaf.kept if is_whole else markers.erased(str(kind)))


def _texts(value: Json) -> Iterator[str]:
    todo: list[Json] = [value]
    while todo:
        match todo.pop():
            case dict() as members:
                todo.extend(members.values())
            case list() as items:
                todo.extend(items)
            case other:
                text = _text(other)
                if text:
                    yield text


def _text(value: Json) -> str:
    """Return a text or number as a text; flags and gaps tell nothing, so they have none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return ""
    return str(value)


def _cover(value: Json, hidden: Mapping[str, Json], long: tuple[str, ...]) -> Json:
    if markers.is_marker(value):
        return value
    if isinstance(value, dict):
        kept: JsonObject = {}
        for key, member in value.items():
            kept[_name(key, hidden, long, kept)] = _cover(member, hidden, long)
        return kept
    if isinstance(value, list):
        return [_cover(item, hidden, long) for item in value]
    text = _text(value)
    if text in hidden:
        return hidden[text]
    if any(secret in text for secret in long):
        return markers.erased(Sensitivity.SECRET.value)
    return value


def _name(key: str, hidden: Mapping[str, Json], long: tuple[str, ...], taken: JsonObject) -> str:
    is_telling = key in hidden or any(secret in key for secret in long)
    name = shown = marker(Sensitivity.SECRET.value) if is_telling else key
    number = 1
    while name in taken:
        number += 1
        name = f"{number}#{shown}"
    return name
