"""What the page of one replayed call says: how it was judged, and how it would be, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gateway.admin.redacted import pairs
from gateway.approvals.visible import visible
from gateway.replay.tally import effect
from gateway.replay.types import Compared, Grade, Judgement
from gateway.types.json import JsonObject

_NONE: Final = "–"

_SAID: Final = {
    "allow": "allowed",
    "deny": "denied",
    "require_approval": "asked about",
    "no_room": "over a limit",
}
Change = Literal["same", "first", "more"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One line of both judgements."""

    name: str
    before: str
    after: str
    change: Change
    is_code: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSheet:
    """A call under two revisions."""

    call: str
    run: str
    seq: int
    tool: str
    user: str
    tenant: str
    roles: str
    at: str
    arguments: Sequence[tuple[str, str]]
    before: str  # effects
    after: str
    title: str
    why: Sequence[str]
    sides: Sequence[Side]
    missing: Sequence[tuple[str, str, str]]  # (place, why it is gone, who reads it)
    certain: str
    said_no: Sequence[str]  # people who had refused it
    is_unfaithful: bool


def sheet(found: Compared, arguments: JsonObject) -> CallSheet:
    """Return what there is to see of a call; of its arguments, those that may be."""
    call = found.recorded
    after = effect(found.after) if found.after is not None else ""
    return CallSheet(
        call=call.call,
        run=call.run,
        seq=call.seq,
        tool=visible(call.tool),
        user=visible(call.actor.user),
        tenant=call.tenant,
        roles=visible(", ".join(sorted(call.actor.roles))),
        at=f"{call.at:%Y-%m-%d %H:%M:%S}",
        arguments=pairs(arguments),
        before=effect(found.before),
        after=after,
        title=_title(found, after),
        why=[str(each) for each in found.why],
        sides=[*_sides(found)],
        missing=[
            (visible(each.place), str(each.why).replace("_", " "), visible(", ".join(each.readers)))
            for each in found.missing
        ],
        certain=str(found.certain) if found.certain is not None else "",
        said_no=[
            visible(each.by)
            for each in (call.asked.words if call.asked is not None else ())
            if each.choice == "deny"
        ],
        is_unfaithful=found.is_faithful is False,
    )


def _title(found: Compared, after: str) -> str:
    before = _SAID.get(effect(found.before), effect(found.before))
    if found.after is None:
        return f"{before} then, and nobody can know what now"
    if found.grade is Grade.SAME:
        return f"{before}, then and now"
    if after == effect(found.before):
        return f"{before} as well, but not in the same way"
    return f"{before} then, {_SAID.get(after, after)} now"


def _sides(found: Compared) -> Iterator[Side]:
    """Yield the lines in which at least one side says something, the first difference marked."""
    is_first = True
    after = found.after
    others = [*_lines(after)] if after is not None else []
    for number, (name, text, is_code) in enumerate(_lines(found.before)):
        other = others[number][1] if others else _NONE
        if text == other == _NONE or (not others and text == _NONE):
            continue
        change: Change = "same"
        if others and text != other:
            change, is_first = ("first" if is_first else "more"), False
        yield Side(
            name=name,
            before=visible(text),
            after=visible(other) if others else "?",
            change=change,
            is_code=is_code,
        )


def _lines(judged: Judgement) -> Iterator[tuple[str, str, bool]]:
    """Yield the lines of one judgement; every judgement has the same names in the same order."""
    yield "Decision", _SAID.get(effect(judged), effect(judged)), False
    yield "By", judged.rule or judged.code or _NONE, True
    yield "Where", judged.place or _NONE, True
    yield "Reason", judged.reason or _NONE, False
    yield "Rules that held", ", ".join(judged.matched) or _NONE, True
    yield "Class", f"{judged.does} {judged.risk}" if judged.does and judged.risk else _NONE, False
    yield "Phase", judged.phase or _NONE, False
    yield "People", judged.people or _NONE, False
    yield "Constraints", _joined(f"{each.kind} {each.pointer}" for each in judged.constraints), True
    limits = _joined(f"{each.id} takes {_number(each.amount)}" for each in judged.limits)
    yield "Limits", limits, True
    yield "No room in", judged.exceeded or _NONE, True
    yield "Keeps", _joined(judged.keep), True
    redacts = _joined(f"{path} as {form}" for path, form in judged.redact.items())
    yield "Redacts", redacts, True
    yield "Rows", _joined(each.where for each in judged.rows), True


def _joined(texts: Iterator[str] | tuple[str, ...]) -> str:
    return ", ".join(texts) or _NONE


def _number(amount: float | None) -> str:
    return "?" if amount is None else f"{amount:g}"
