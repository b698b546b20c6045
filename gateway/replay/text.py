"""The report as text: what a reviewer reads in a terminal, and what CI keeps."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from gateway.replay import tool_reports
from gateway.replay.examples import Example
from gateway.replay.report import Group, Outside, Report, Sum, Unknown, said
from gateway.replay.types import Why
from gateway.types.leans import Lean
from gateway.types.values import replaced

_HEADS: Final = (
    (Lean.WIDER, "GRANTS MORE (review each)"),
    (Lean.NARROWER, "GRANTS LESS"),
    (Lean.OTHER, "OTHERWISE DIFFERENT"),
)
_MOST_RUNS: Final = 5
_MOST_ROLES: Final = 20
_SHORT: Final = 12  # characters of a digest
_DEMANDS: Final = {
    Why.LIMIT: "other limit",
    Why.APPROVAL: "other people",
    Why.CONSTRAINT: "other constraint",
    Why.OUTPUT: "other output",
    Why.CLASS: "other class",
    Why.RULE: "other rule",
}


def lines(report: Report) -> Iterator[str]:
    """Yield the lines of a report; names from outside are as they are."""
    report = alike(report)
    yield from _head(report)
    if not report.calls:
        yield ""
        yield "No call was judged in this period."
        yield from tool_reports.lines(report.tools)
        return
    for lean, title in _HEADS:
        groups = report.of(lean)
        if groups:
            yield ""
            yield f"{title}: {counted(sum(each.calls for each in groups), 'call')}"
            for group in groups:
                yield from _group(group)
    yield from _unknown(report.unknown)
    yield from tool_reports.lines(report.tools)
    yield from _outside(report)
    yield from _people(report)
    yield from _runs(report)
    yield from _idle(report)
    yield from _unused(report)
    yield from _check(report)


def _head(report: Report) -> Iterator[str]:
    subject = report.subject
    before = ", ".join(short(each) for each in subject.before) or "none"
    period = f"{_day(subject.since or report.first)} to {_day(subject.until or report.last)}"
    whose = f"tenant {subject.tenant}" if subject.tenant else counted(report.tenants, "tenant")
    whose += f", {subject.run}" if subject.run else ""
    other = " over other definitions of tools" if subject.definitions else ""
    yield f"Replay of {period}, {whose}: {before} → {short(subject.revision)}{other}"
    yield (
        f"{counted(report.calls, 'call')} in {counted(report.runs, 'run')}: "
        f"{report.same:,} same, {report.changed:,} changed, {report.undecidable:,} undecidable"
        f" (limits as {subject.counters})"
    )


def _group(group: Group) -> Iterator[str]:
    what = way(group.before, group.after, group.why)
    users = counted(group.users, "user")
    yield f"  {group.tool}: {what}  {counted(group.calls, 'call')}, {users}{_sums(group.money)}"
    was, now = (_said(*each) for each in ((group.was, group.was_at), (group.now, group.now_at)))
    yield f"      by {now}" if was == now else f"      {was} → {now}"
    if group.denied_by_people:
        yield f"      people had said NO to {group.denied_by_people:,} of these"
    if group.repeats:
        yield f"      {group.repeats:,} of these {repeat(group.repeats)}"
    if group.follows:
        yield f"      {group.follows:,} of these follow another change in their run"
    yield f"      first: {where(group.first)}"


def _unknown(unknown: Sequence[Unknown]) -> Iterator[str]:
    if not unknown:
        return
    yield ""
    yield f"UNDECIDABLE: {counted(sum(each.calls for each in unknown), 'call')}"
    for each in unknown:
        needs = ", ".join(f"{place} ({why})" for place, why in each.missing) or "more than is kept"
        readers = f", read by {', '.join(each.readers)}" if each.readers else ""
        yield f"  {each.tool}: {counted(each.calls, 'call')} need {needs}{readers}"
        for effect, calls in each.certain.items():
            yield f"      whatever it was, {counted(calls, 'call')} would be: {effect}"
        yield f"      first: {where(each.first)}"


def _outside(report: Report) -> Iterator[str]:
    parts = (
        ("would not have happened", report.prevented),
        ("would have waited for people", report.withheld),
        ("would have gone ahead with nobody asked", report.unattended),
    )
    if any(outside for _, outside in parts):
        yield ""
        yield "SIDE EFFECTS"
        for words, outside in parts:
            for each in outside:
                yield f"  {words}: {_moved(each)}"
        if report.caution:
            yield f"      {report.caution}"


def _people(report: Report) -> Iterator[str]:
    work = [each for each in report.workload if each.before != each.after]
    if not work:
        return
    yield ""
    yield "PEOPLE ASKED"
    for each in work:
        week = f", about {each.after / report.weeks:.1f} a week" if report.weeks >= 1 else ""
        yield f"  {each.people or 'anybody'}: {each.before:,} → {each.after:,}{week}"


def _runs(report: Report) -> Iterator[str]:
    if not report.diverged:
        return
    yield ""
    yield (
        f"{counted(report.diverged, 'run')} would have gone another way; {report.follows:,} of the"
        " changed calls come after such a point and may not have been made"
    )
    for each in report.divergences[:_MOST_RUNS]:
        yield f"  {each.tool}: {way(each.before, each.after, [each.why])}, {where(each.at)}"
    if report.diverged > _MOST_RUNS:
        yield f"  and {report.diverged - _MOST_RUNS:,} more"


def _idle(report: Report) -> Iterator[str]:
    if report.idle:
        yield ""
        yield "RULES that held for no call"
        yield from (f"  {_said(rule, place)}" for rule, place in report.idle_here)
        if report.elsewhere:
            yield f"  {elsewhere(report)}"


def _unused(report: Report) -> Iterator[str]:
    if report.unused:
        yield ""
        yield "PERMISSIONS that no call used"
        yield from (f"  {each}" for each in report.unused[:_MOST_ROLES])
        if len(report.unused) > _MOST_ROLES:
            yield f"  and those of {len(report.unused) - _MOST_ROLES:,} more roles"


def _check(report: Report) -> Iterator[str]:
    checked = report.calls - report.unchecked
    yield ""
    if report.faithful == checked:
        yield f"Self-check: {counted(checked, 'call')} judged by their own revision again, all same"
    else:
        different = checked - report.faithful
        yield (
            f"SELF-CHECK FAILED: {counted(different, 'call')} of {checked:,} are judged otherwise"
            " by their own revision: a fault of the gateway, or the log was changed"
        )
        for each in report.unfaithful:
            yield f"  {where(each)}"
    if report.unchecked:
        yield f"  {counted(report.unchecked, 'call')}: the store has not kept their revision"


def elsewhere(report: Report) -> str:
    """Say how many rules held for no call since nothing of their servers was called."""
    rules = counted(len(report.elsewhere), "rule")
    return f"and {rules} about servers that no call of this period used (JSON names them)"


def alike(report: Report) -> Report:
    """Return a report whose places have one form: files by their names, as revisions keep them."""
    folder = report.subject.folder
    if not folder:
        return report
    groups = tuple(
        replaced(
            each,
            was_at=each.was_at.removeprefix(folder),
            now_at=each.now_at.removeprefix(folder),
        )
        for each in report.groups
    )
    idle = tuple((rule, place.removeprefix(folder)) for rule, place in report.idle)
    return replaced(report, groups=groups, idle=idle)


def way(before: str, after: str, why: Sequence[Why]) -> str:
    """Say what becomes of a decision, or which of its demands is another one."""
    if before != after:
        return f"{said(before)} → {said(after)}"
    return f"{said(before)}, {' and '.join(_DEMANDS.get(each, str(each)) for each in why)}"


def repeat(count: int) -> str:
    """Say what some calls do that are about an operation which another one carries out."""
    return (
        "repeats an operation, and moves nothing"
        if count == 1
        else ("repeat operations, and move nothing")
    )


def moves(report: Report, group: Group) -> str:
    """Say what calls of a group move, with what to know of it; empty where no limit adds it up."""
    if not group.money:
        return ""
    repeated = f" ({group.repeats:,} of them {repeat(group.repeats)})" if group.repeats else ""
    caution = f"; {report.caution}" if group.lean is Lean.WIDER and report.caution else ""
    return f"{_sums(group.money).removeprefix(', ')}{repeated}{caution}"


def where(example: Example) -> str:
    """Say where to look at a call."""
    return str(example)


def short(digest: str) -> str:
    """Return enough of a revision's id to tell it from others."""
    kind, colon, rest = digest.partition(":")
    return rest[:_SHORT] if colon else kind[:_SHORT]


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, as in `1 call` and `2,000 calls`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _said(speaker: str, place: str) -> str:
    return f"{speaker or 'no rule'} ({place})" if place else speaker or "no rule"


def _moved(outside: Outside) -> str:
    return f"{outside.tool}, {counted(outside.calls, 'call')}{_sums(outside.money)}"


def _sums(sums: Sequence[Sum]) -> str:
    return "".join(f", {each.amount:,.2f} {each.currency}".rstrip() for each in sums)


def _day(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M") if at is not None else "now"
