"""What the page of one replayed call says: how it was judged, and how it would be, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.admin.redacted import pairs
from gateway.approvals.visible import visible
from gateway.replay.sides import Side, beside
from gateway.replay.tally import effect
from gateway.replay.types import Compared, Grade
from gateway.types.json import JsonObject
from gateway.types.values import replaced

_SAID: Final = {
    "allow": "allowed",
    "deny": "denied",
    "require_approval": "asked about",
    "no_room": "over a limit",
}


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
    for each in beside(found.before, found.after):
        before, after = each.before, each.after
        if each.name == "decision":
            before, after = _SAID.get(before, before), _SAID.get(after, after)
        name = each.name.capitalize()
        yield replaced(each, name=name, before=visible(before), after=visible(after))
