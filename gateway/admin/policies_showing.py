"""What the pages say of policies: what was in force when, and what a change of it does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final, Literal

from gateway.actions.timeline import moment
from gateway.admin.shelves import short
from gateway.admin.showing import Moment, moment_of
from gateway.approvals.visible import visible
from gateway.store.events import StoredEvent
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean

_MOST_LINES: Final = 4_000  # of a difference that is shown
_WHY: Final = {"start": "with the start of a gateway", "reload": "by a reload"}

Kind = Literal["same", "added", "removed", "place", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A policy that was put in force, or one that was refused."""

    seq: int
    at: Moment
    id: str  # empty: refused
    short: str
    before: str
    by: str
    warnings: int
    tests: int
    wider: int
    narrower: int
    other: int
    errors: Sequence[str]
    is_in_force: bool

    @property
    def is_told(self) -> bool:
        """Whether it was tried what the change does."""
        return bool(self.wider or self.narrower or self.other)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a difference."""

    kind: Kind
    text: str


def changes(events: Sequence[StoredEvent], in_force: str, now: int) -> list[Change]:
    """Return what was done to policies, the newest first; the one in force is marked once."""
    found: list[Change] = []
    for event in events:
        told = event.json()
        body = _object(told.get("body"))
        change = _object(body.get("change"))
        id = _text(body, "revision") if body.get("action") == "policy_activated" else ""
        is_new = id == in_force and not any(each.is_in_force for each in found)
        by = _text(body, "by")
        found.append(
            Change(
                seq=event.seq,
                at=moment_of(microseconds(moment(_text(told, "ts"))), now),
                id=id.removeprefix("sha256:"),
                short=short(id),
                before=_text(body, "from").removeprefix("sha256:"),
                by=_WHY.get(by, visible(by)),
                warnings=_count(body, "warnings"),
                tests=_count(body, "tests"),
                wider=_count(change, Lean.WIDER.value),
                narrower=_count(change, Lean.NARROWER.value),
                other=_count(change, Lean.OTHER.value),
                errors=[visible(each) for each in _texts(body.get("errors"))],
                is_in_force=bool(id) and is_new,
            )
        )
    return found


def difference(old: JsonObject, new: JsonObject) -> list[DiffLine]:
    """Return what two policies' files differ in, line by line; what hides is written out."""
    before, after = _object(old["texts"]), _object(new["texts"])
    lines: list[DiffLine] = []
    for name in sorted({*before, *after}):
        some = [*_file(_text(before, name), _text(after, name))]
        if some:
            lines += [DiffLine(kind="file", text=visible(name)), *some]
        if len(lines) > _MOST_LINES:
            left = f"… more than {_MOST_LINES:,} lines differ; `weighbridge policy diff` has all"
            return [*lines[:_MOST_LINES], DiffLine(kind="file", text=left)]
    return lines


def _file(old: str, new: str) -> Iterator[DiffLine]:
    found = unified_diff(old.splitlines(), new.splitlines(), lineterm="")
    for number, line in enumerate(found):
        if number < 2:  # the names, which are told already
            continue
        kinds: dict[str, Kind] = {"+": "added", "-": "removed", "@": "place"}
        kind = kinds.get(line[:1], "same")
        bare = line[1:] if kind != "place" else line
        indent = len(bare) - len(bare.lstrip(" "))
        yield DiffLine(kind=kind, text=" " * indent + visible(bare[indent:]))


def _count(found: JsonObject, name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _text(found: JsonObject, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
