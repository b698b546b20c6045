"""What approvers read, line by line: the same for page, terminal and notices, and nothing hides.

Every text here is `visible` already. A surface has to keep one row on its own line or cell, and to
escape what its own language would read (HTML, the markup of a chat).
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from gateway import jsontext
from gateway.approvals.marks import Marks, marks
from gateway.approvals.masking import MASK, PART
from gateway.approvals.presenting import VERSION
from gateway.approvals.visible import visible
from gateway.errors import WeighbridgeError
from gateway.types.json import Json, JsonObject, JsonPointer

MOST_BYTES: Final = 64 * 1024  # of arguments that a person can be expected to read
LONG: Final = 4 * 1024  # characters of one value; a longer one is folded
_END: Final = 512  # characters of a folded value that are shown of each end
_MOST_ROWS: Final = 200  # of arguments; more of them are shown as JSON, each in one row
_LITERALS: Final = frozenset('-0123456789"([{')  # what begins a text that could be taken for more
_WORDS: Final = frozenset({"", "true", "false", "null"})


class Group(StrEnum):
    """What a row is about, in the order in which people need it."""

    SUMMARY = "summary"
    TOP = "top"  # what the contract wants shown first
    CALL = "call"
    CHANGES = "changes"  # against the request that this one replaces
    ARGUMENTS = "arguments"
    REQUESTER = "requester"
    RULE = "rule"
    NOTE = "note"  # words of the agent: apart from all others


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A label and a text; of a `long` one `text` is the ends only, and `whole` has all of it.

    Whoever approves has to have seen `whole`.
    """

    group: Group
    label: str
    text: str
    marks: Marks = field(default_factory=Marks)
    long: bool = False
    whole: str = ""
    length: int = 0  # characters of a long one, as it was received
    digest: str = ""  # `sha256:…` of the same


class Unreadable(WeighbridgeError):
    """A document that this gateway can't show; nobody may decide about what he can't see."""


def summary(document: JsonObject) -> str:
    """Return the text of the first row alone, as lists need it; raises Unreadable."""
    _check(document)
    return _row(Group.SUMMARY, "Request", _string(document.get("summary"))).text


def rows(document: JsonObject) -> tuple[Row, ...]:
    """Return everything that approvers are shown, in order; raises Unreadable."""
    _check(document)
    return tuple(_Lines(document).all())


def _check(document: JsonObject) -> None:
    if document.get("v") != VERSION:
        raise Unreadable("this request was made by another version of the gateway")


class _Lines:
    """The rows of one document, group by group."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._masked = frozenset(
            each for each in _list(document.get("masked")) if isinstance(each, str)
        )

    def all(self) -> Iterator[Row]:
        yield _row(Group.SUMMARY, "Request", self._text("summary"))
        for each in map(_map, _list(self._document.get("top"))):
            yield _row(Group.TOP, _string(each.get("label")), *_of_top(each))
        yield from self._call()
        for each in map(_map, _list(self._document.get("changes"))):
            yield from self._change(each)
        yield from self._arguments()
        yield from self._requester()
        yield from self._rule()
        if note := self._text("note"):
            yield _row(Group.NOTE, "The agent says", note)

    def _text(self, name: str) -> str:
        return _string(self._document.get(name))

    def _call(self) -> Iterator[Row]:
        title, because = self._text("title"), self._text("risk_reason")
        yield _row(Group.CALL, "Server", self._text("server"))
        yield _row(Group.CALL, "Tool", _with(self._text("tool"), title))
        yield _row(Group.CALL, "Effect", self._text("effect"))
        yield _row(Group.CALL, "Risk", _with(self._text("risk"), because))
        yield _row(Group.CALL, "Undo", _undo(_map(self._document.get("undo"))))
        key = _map(self._document.get("injected"))
        if key:
            where = f"{_string(key.get('where'))} {_string(key.get('name'))}"
            yield _row(Group.CALL, "Added when sent", f"a key against repeats, as {where}")

    def _change(self, each: JsonObject) -> Iterator[Row]:
        name, masked = _name(_string(each.get("pointer"))), _list(each.get("masked"))
        for label, member in (("before", "before"), ("now", "after")):
            text = ("(not there)",)
            if member in each:
                text = _shown(each[member], is_mask=member in masked)
            yield _row(Group.CHANGES, f"{name} ({label})", *text)

    def _arguments(self) -> Iterator[Row]:
        arguments = _map(self._document.get("arguments"))
        if not arguments:
            yield _row(Group.ARGUMENTS, "Arguments", "(none)")
            return
        leaves = [*islice(_leaves(arguments, "", self._masked), _MOST_ROWS + 1)]
        if len(leaves) > _MOST_ROWS:
            leaves = [(f"/{jsontext.escape(key)}", value) for key, value in arguments.items()]
        if len(leaves) > _MOST_ROWS:
            leaves = [("", arguments)]
        for pointer, value in leaves:
            yield _row(
                Group.ARGUMENTS, _name(pointer), *_shown(value, is_mask=pointer in self._masked)
            )

    def _requester(self) -> Iterator[Row]:
        who, run = _map(self._document.get("requester")), _map(self._document.get("run"))
        roles = ", ".join(map(_string, _list(who.get("roles"))))
        yield _row(Group.REQUESTER, "Asked by", _string(who.get("user")))
        yield _row(Group.REQUESTER, "Roles", roles or "(none)")
        yield _row(Group.REQUESTER, "Tenant", _string(who.get("tenant")))
        yield _row(Group.REQUESTER, "Client", _string(who.get("client")))
        run_id = _string(run.get("id"))
        yield _row(
            Group.REQUESTER, "Run", _with(run_id or "none of its own", _string(run.get("phase")))
        )

    def _rule(self) -> Iterator[Row]:
        yield _row(Group.RULE, "Rule", self._text("rule") or "(none)")
        if reason := self._text("reason"):
            yield _row(Group.RULE, "Reason", reason)
        for each in _list(self._document.get("provenance")):
            yield _row(Group.RULE, "Origin", _string(each))


# --- rows ----------------------------------------------------------------------------------------


def _row(group: Group, label: str, shown: str, judged: str | None = None) -> Row:
    """Return a row; `judged` is the text that marks are looked for in, where it is another."""
    found = marks(f"{label}\n{shown if judged is None else judged}")
    name, text = visible(label), visible(shown)
    if len(text) <= LONG and len(shown) <= LONG:
        return Row(group=group, label=name, text=text, marks=found)
    digest = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()
    left = f"{len(shown):,} characters in all, sha256 {digest}"
    ends = f"{visible(shown[:_END])} … [{left}] … {visible(shown[-_END:])}"
    return Row(
        group=group,
        label=name,
        text=ends,
        marks=found,
        long=True,
        whole=text,
        length=len(shown),
        digest=f"sha256:{digest}",
    )


def _name(pointer: JsonPointer) -> str:
    """Return how a place in the arguments is called: its pointer, without the first slash."""
    return pointer[1:] or "Arguments"


def _with(text: str, more: str) -> str:
    return f"{text} ({more})" if more else text


def _of_top(each: JsonObject) -> tuple[str, ...]:
    if "value" not in each:
        return ("(hidden)" if each.get("hidden") else "(not there)",)
    return _shown(each["value"])


def _shown(value: Json, *, is_mask: bool = False) -> tuple[str, ...]:
    """Return what is shown of a value, and the texts in it that marks are looked for in."""
    match value:
        case dict() if is_mask:
            return _hidden(value)
        case str():
            return _as_text(value), value
        case dict() | list() if value:
            return jsontext.dump(value).decode(), "\n".join(_strings(value))
        case _:
            return (jsontext.dump(value).decode(),)


def _as_text(value: str) -> str:
    """Put a text in quotes where it could be taken for another kind of value, or for our words."""
    is_plain = value[:1] not in _LITERALS and value not in _WORDS
    return value if is_plain else f'"{value}"'


def _hidden(mask: JsonObject) -> tuple[str, ...]:
    """Say what a mask stands for: so long, and another digest for another value."""
    about = f"{mask.get('length')} characters, {_string(mask.get('digest'))}"
    if mask.get(MASK) != PART:
        return (f"(hidden: {about})",)
    text, *judged = _shown(mask.get("shown"))
    return (f"{text} (in parts hidden: {about})", *judged)


def _undo(back: JsonObject) -> str:
    tool, reason, deadline = _string(back.get("tool")), back.get("reason"), back.get("deadline_s")
    match back.get("kind"):
        case "not_needed":
            return "not needed: it changes nothing"
        case "irreversible" | "pivot":
            text = "can't be undone"
        case "compensatable" | "retriable":
            text = f"can be undone by {tool}"
        case _:
            text = "unknown: nobody has said whether it can be undone"
    if isinstance(deadline, int | float):
        text += f", for {_duration(deadline)}"
    return _with(text, _string(reason))


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} seconds"


# --- JSON that was kept ---------------------------------------------------------------------------


def _leaves(
    value: Json, pointer: JsonPointer, masked: frozenset[JsonPointer]
) -> Iterator[tuple[JsonPointer, Json]]:
    members: Iterable[tuple[str, Json]] = ()
    if pointer not in masked:
        match value:
            case dict():
                members = value.items()
            case list():
                members = ((str(index), item) for index, item in enumerate(value))
            case _:
                pass
    is_leaf = True
    for key, member in members:
        is_leaf = False
        yield from _leaves(member, f"{pointer}/{jsontext.escape(key)}", masked)
    if is_leaf:
        yield pointer, value


def _strings(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from value
            for member in value.values():
                yield from _strings(member)
        case list():
            for item in value:
                yield from _strings(item)
        case _:
            return


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _map(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
