"""Answers about the policy: how rules came to be as they are, and every change with its tests.

What was in force is told by `policy_activated` events, and what it said by the kept revisions.
"""

import difflib
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway import jsontext
from gateway.actions import questions
from gateway.actions.questions import Log
from gateway.errors import FileError
from gateway.events.envelope import timestamp
from gateway.policy import files
from gateway.store.events import StoredEvent
from gateway.store.revisions import StoredRevision
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject

RULE_CHANGES: Final = ("time", "change", "rule", "place", "revision", "by", "tests", "diff")
POLICY_CHANGES: Final = (
    *("time", "what", "revision", "from", "by", "warnings", "tests"),
    *("wider", "narrower", "other", "reason", "files", "errors", "diff"),
)
_ACTIVATED: Final = "policy_activated"
_WHAT: Final[Mapping[str, str]] = {
    _ACTIVATED: "in force",
    "policy_refused": "refused",
    "policy_proposed": "proposed",
    "policy_approved": "agreed with",
    "policy_rejected": "turned down",
}

Kept = Callable[[str], Awaitable[StoredRevision | None]]
"""Finds a revision by its id, as the store keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A revision that was put in force, or files that could not be."""

    at: str
    revision: str  # empty where it was refused
    body: JsonObject


async def changes(log: Log, wanted: Selection, *actions: str) -> AsyncIterator[Change]:
    """Yield what was put in force, in the order of the log. Raises StoreUnavailable."""
    selected = replace(wanted, kinds=(EventKind.ADMIN.value,), actions=actions or (_ACTIVATED,))
    async for event in questions.each(log, selected):
        yield _change(event)


async def before(log: Log, at: datetime) -> Change | None:
    """Return what was put in force last before a time. Raises StoreUnavailable."""
    wanted = Selection(kinds=(EventKind.ADMIN.value,), actions=(_ACTIVATED,), until=at)
    found = await questions.page(log, wanted, limit=1, newest_first=True)
    return _change(found.events[0]) if found.events else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What left the log, and the revision that was put in force last, as the store keeps it."""

    size: int  # events 1 to this one
    at: datetime  # none of them is later, UTC
    newest: StoredRevision | None

    def holds(self, at: datetime) -> bool:
        """Whether events of a time, or later ones, may be among what left."""
        return at <= self.at


async def archived(store: Store) -> Archived | None:
    """Return what left the log; None where nothing did. Raises StoreUnavailable."""
    left = await store.retention.sealed()
    if left is None:
        return None
    newest = await store.revisions.latest(1)
    return Archived(size=left.size, at=left.at, newest=newest[0] if newest else None)


async def before_archived(log: Log, at: datetime, left: Archived) -> Change | None:
    """Return what was in force at a time before which no event tells it; None: it isn't known.

    The next change names what it replaced. Without one, it is what the store keeps as the last, if
    that was put in force by then: kept revisions know their last time only. Raises
    StoreUnavailable.
    """
    if left.holds(at):
        return None
    wanted = Selection(kinds=(EventKind.ADMIN.value,), actions=(_ACTIVATED,), since=at)
    later = await questions.page(log, wanted, limit=1)
    if later.events:
        replaced = str(_change(later.events[0]).body.get("from") or "")
        return Change(at="", revision=replaced, body={}) if replaced else None
    if left.newest is None or left.newest.at > at:
        return None
    return Change(at=timestamp(left.newest.at), revision=left.newest.id, body={})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A rule as it stands in a file, with the sets that it names."""

    place: str
    lines: tuple[str, ...]
    meaning: str  # the same for the same rule, however it is laid out


async def rule_changes(log: Log, rule: str, kept: Kept) -> AsyncIterator[JsonObject]:
    """Yield each revision in which a rule was added, changed or removed, with the difference.

    A change of a set that the rule names counts, and so does `mode` of its file; where it stands,
    and comments, don't. Raises StoreUnavailable.
    """
    last: _Written | None = None
    revision = ""
    async for change in changes(log, Selection()):
        if change.revision == revision:
            continue
        is_first, revision = not revision, change.revision
        found = await kept(revision)
        if found is None:
            yield _changed(change, rule, "not kept", "", ())
            continue
        try:
            now = _rule_in(found.texts, rule)
        except FileError:
            yield _changed(change, rule, "not readable", "", ())
            continue
        before_, after = last, now
        last = now
        if (before_ and before_.meaning) == (after and after.meaning):
            continue
        what = "removed" if after is None else "changed" if before_ is not None else "added"
        what = "there at first" if is_first and after is not None else what
        old = before_.lines if before_ is not None else ()
        new = after.lines if after is not None else ()
        place = (after or before_ or _Written(place="", lines=(), meaning="")).place
        yield _changed(change, rule, what, place, _diff(old, new, place))


def _changed(change: Change, rule: str, what: str, place: str, diff: Sequence[str]) -> JsonObject:
    return {
        "time": change.at,
        "change": what,
        "rule": rule,
        "place": place,
        "revision": change.revision,
        "by": change.body.get("by"),
        "tests": change.body.get("tests"),
        "diff": "\n".join(diff),
    }


def _rule_in(texts: Mapping[str, str], rule: str) -> _Written | None:
    """Find a rule in the files of a revision.

    Raises FileError where it may be in one that can't be read, as it is of another version.
    """
    read: list[files.PolicyFile] = []
    fault: FileError | None = None
    for name, text in sorted(texts.items()):
        if "/" not in name:
            try:
                read.append(files.load(text, file=name))
            except FileError as error:
                fault = error
    sets = {name: values for file in read for name, values in file.content.sets.items()}
    for file in read:
        for index, each in enumerate(file.content.rules):
            if each.id == rule:
                return _written(file, index, sets)
    if fault is not None:
        raise fault
    return None


def _written(file: files.PolicyFile, index: int, sets: Mapping[str, Sequence[object]]) -> _Written:
    start, _ = file.document.place(("rules", index))
    following, _ = file.document.place(("rules", index + 1))
    lines = file.text.splitlines()
    end = following - 1 if following > start else _end(lines, start)
    block = _trimmed(lines[start - 1 : end])
    text = "\n".join(block)
    named = [
        f"set {name}: {jsontext.dump([*map(str, values)]).decode()}"
        for name, values in sorted(sets.items())
        if f"sets.{name}" in text or f"in_set: {name}" in text
    ]
    mode = [f"mode of the file: {file.content.mode}"] if file.content.mode else []
    value: Json = file.document.value
    rules = _object(value).get("rules")
    meant = rules[index] if isinstance(rules, list) else None
    whole: Json = [meant, [*named], [*mode]]
    return _Written(
        place=f"{file.name}:{start}",
        lines=(*block, *named, *mode),
        meaning=jsontext.dump(whole).decode(),
    )


def _end(lines: Sequence[str], start: int) -> int:
    """Return the last line of the last rule: before whatever is no part of the list."""
    for number in range(start, len(lines)):
        if lines[number][:1] not in ("", " ", "-", "#"):
            return number
    return len(lines)


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Return lines without the comments and blanks at their end, which are of what follows."""
    found = [*lines]
    while found and (not found[-1].strip() or found[-1].lstrip().startswith("#")):
        found.pop()
    return found


async def policy_changes(
    log: Log, wanted: Selection, kept: Kept, *, with_diff: bool = False
) -> AsyncIterator[JsonObject]:
    """Yield what was proposed, agreed with, put in force or refused, with tests and changes.

    `files` names the files that differ from the revision before; with `with_diff`, how they do.
    Raises StoreUnavailable.
    """
    async for change in changes(log, wanted, *_WHAT):
        body = change.body
        old, new = str(body.get("from") or ""), change.revision
        texts = await _texts(kept, old), await _texts(kept, new)
        differing = _differing(*texts) if all(texts) and new != old else []
        counts = _object(body.get("change"))
        yield {
            "time": change.at,
            "what": _WHAT[str(body.get("action"))],
            "revision": new,
            "from": old,
            "by": body.get("by"),
            "warnings": body.get("warnings"),
            "tests": body.get("tests"),
            **{lean: counts.get(lean) for lean in ("wider", "narrower", "other")},
            "reason": body.get("reason") or body.get("because"),
            "files": [*differing],
            "errors": body.get("errors"),
            "diff": "\n".join(_diffs(*texts, differing)) if with_diff else "",
        }


async def _texts(kept: Kept, id: str) -> Mapping[str, str]:
    found = await kept(id) if id else None
    return found.texts if found is not None else {}


def _differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _diffs(old: Mapping[str, str], new: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        texts = (old.get(name, "").splitlines(), new.get(name, "").splitlines())
        yield from _diff(*texts, name)


def _diff(old: Sequence[str], new: Sequence[str], name: str) -> list[str]:
    return [*difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")]


def _change(event: StoredEvent) -> Change:
    told = event.json()
    body = _object(told.get("body"))
    return Change(at=str(told.get("ts", "")), revision=str(body.get("revision") or ""), body=body)


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
