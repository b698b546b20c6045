"""What a replay found, as reviewers read it: by cause and not by call, what is granted first."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from gateway.replay.examples import Example
from gateway.replay.permissions import Unused
from gateway.replay.tool_reports import ToolReport
from gateway.replay.tool_reports import as_json as _tool
from gateway.replay.types import Counters, Subject, Why
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean
from gateway.types.values import value

VERSION: Final = 1  # of the report as JSON; members are only ever added
RECORDED_ONLY: Final = (
    "each call alone: limits count what really took place, and not what would have gone ahead "
    "before it; `--counters simulated` counts that too, and so says how much limits would let pass"
)
NO_ROOM: Final = "no_room"  # in place of an effect: a limit is used up


def said(effect: str) -> str:
    """Return what becomes of a call in words for people: `over a limit` for one without room."""
    return "over a limit" if effect == NO_ROOM else effect


@value
class Sum:
    """An amount of one currency; an empty one where no argument says which."""

    amount: float
    currency: str


@value
class Group:
    """Calls of one tool that fare differently in the same way, by the same rules."""

    lean: Lean
    tool: str
    before: str  # allow | require_approval | deny | NO_ROOM
    after: str
    was: str  # the rule that decided, else the code of the check
    now: str
    was_at: str = ""  # file:line
    now_at: str = ""
    why: tuple[Why, ...] = ()
    calls: int = 0
    users: int = 0
    runs: int = 0
    denied_by_people: int = 0  # people said no to them, and would not be asked any more
    follows: int = 0  # of the calls: their run had come apart before
    money: tuple[Sum, ...] = ()  # of repeats of one operation, once
    repeats: int = 0  # of the calls: they would have moved nothing, as another one did
    first: Example

    @property
    def changes_effect(self) -> bool:
        """Whether it is another decision, and not the same with other demands."""
        return self.before != self.after


@value
class Unknown:
    """Calls of one tool that can't be decided for want of the same values."""

    tool: str
    missing: tuple[tuple[str, str], ...]  # (place, why it is gone)
    readers: tuple[str, ...]  # ids of rules, `schema`, `contract`, `runs.NAME`
    calls: int
    users: int
    certain: Mapping[str, int]  # effect → calls that would have it whatever is missing
    first: Example


@value
class Divergence:
    """Where a run first comes apart: its agent would have gone on another way."""

    run: str
    tool: str
    before: str
    after: str
    why: Why
    at: Example


@value
class Outside:
    """Calls of one tool with what they moved outside; repeats of one operation are one call."""

    tool: str
    calls: int
    money: tuple[Sum, ...]


@value
class Work:
    """How often the same people would have been asked, and how often they were."""

    people: str
    before: int
    after: int


class Wanted(StrEnum):
    """What a pipeline of changes may fail on."""

    GRANTS_MORE = "grants-more"
    GRANTS_LESS = "grants-less"
    CHANGED = "changed"
    UNDECIDABLE = "undecidable"
    INVALID_ARGUMENTS = "invalid-arguments"  # which were valid by the schema of then
    SCHEMA_BREAKS = "schema-breaks"  # of tools, rules or contracts
    REFUSED_CALLS = "refused-calls"  # of a transcript


@value
class Report:
    """A stretch of the log under another revision."""

    subject: Subject
    calls: int = 0
    runs: int = 0
    tenants: int = 0
    same: int = 0
    changed: int = 0
    undecidable: int = 0
    first: datetime | None = None  # when the first call came in
    last: datetime | None = None
    groups: tuple[Group, ...] = ()  # wider first; within, by calls
    unknown: tuple[Unknown, ...] = ()
    divergences: tuple[Divergence, ...] = ()  # the first of them
    diverged: int = 0  # runs
    follows: int = 0  # changed calls that follow a divergence
    prevented: tuple[Outside, ...] = ()  # took place, and would not
    withheld: tuple[Outside, ...] = ()  # took place, and would have waited for people
    unattended: tuple[Outside, ...] = ()  # nobody would have been asked any more
    workload: tuple[Work, ...] = ()
    idle: tuple[tuple[str, str], ...] = ()  # rules that held for no call: (id, file:line)
    elsewhere: frozenset[str] = frozenset()  # of these: about servers that no call used
    unused: tuple[Unused, ...] = ()  # permissions
    faithful: int = 0  # calls whose own revision says again what the log does
    unfaithful: tuple[Example, ...] = ()  # and does not: a fault, or somebody changed the log
    unchecked: int = 0  # their own revision is not in the store
    tools: tuple[ToolReport, ...] = ()  # where other definitions were given

    @property
    def idle_here(self) -> tuple[tuple[str, str], ...]:
        """Rules that held for no call although there were calls of a server that they name."""
        return tuple(each for each in self.idle if each[0] not in self.elsewhere)

    @property
    def caution(self) -> str:
        """What to know of sums where limits count only what took place; empty where none is."""
        is_recorded = self.subject.counters is Counters.RECORDED
        return RECORDED_ONLY if is_recorded and self.unattended else ""

    @property
    def weeks(self) -> float:
        """The weeks between the first call and the last, or in the period that was asked for."""
        begin, end = self.subject.since or self.first, self.subject.until or self.last
        if begin is None or end is None:
            return 0.0
        return max(0.0, (end - begin).total_seconds()) / (7 * 86_400)

    def of(self, lean: Lean) -> tuple[Group, ...]:
        """Return the groups that go one way."""
        return tuple(each for each in self.groups if each.lean is lean)

    def has(self, wanted: Wanted) -> bool:
        """Whether a change would have to be stopped over this."""
        match wanted:
            case Wanted.GRANTS_MORE:
                return bool(self.of(Lean.WIDER))
            case Wanted.GRANTS_LESS:
                return bool(self.of(Lean.NARROWER))
            case Wanted.CHANGED:
                return self.changed > 0
            case Wanted.UNDECIDABLE:
                return self.undecidable > 0
            case Wanted.INVALID_ARGUMENTS:
                return any(each.fits_no_more for each in self.tools)
            case Wanted.SCHEMA_BREAKS:
                return not all(each.passes for each in self.tools)
            case Wanted.REFUSED_CALLS:
                return False


def as_json(report: Report) -> JsonObject:
    """Return the report for programs; times as in events, counts as they are."""
    return {
        "v": VERSION,
        "subject": _subject(report.subject),
        "calls": report.calls,
        "runs": report.runs,
        "tenants": report.tenants,
        "same": report.same,
        "changed": report.changed,
        "undecidable": report.undecidable,
        "first": _time(report.first),
        "last": _time(report.last),
        "grants_more": [_group(each) for each in report.of(Lean.WIDER)],
        "grants_less": [_group(each) for each in report.of(Lean.NARROWER)],
        "other": [_group(each) for each in report.of(Lean.OTHER)],
        "unknown": [_unknown(each) for each in report.unknown],
        "diverged": report.diverged,
        "follows": report.follows,
        "divergences": [
            {
                "run": each.run,
                "tool": each.tool,
                "before": each.before,
                "after": each.after,
                "why": str(each.why),
                "at": each.at.as_json(),
            }
            for each in report.divergences
        ],
        "prevented": [_outside(each) for each in report.prevented],
        "withheld": [_outside(each) for each in report.withheld],
        "unattended": [_outside(each) for each in report.unattended],
        "caution": report.caution,
        "approvals": [
            {"people": each.people, "before": each.before, "after": each.after}
            for each in report.workload
        ],
        "idle_rules": [
            {"rule": rule, "place": place, "server_was_called": rule not in report.elsewhere}
            for rule, place in report.idle
        ],
        "unused_permissions": [each.as_json() for each in report.unused],
        "self_check": {
            "same": report.faithful,
            "different": [each.as_json() for each in report.unfaithful],
            "unchecked": report.unchecked,
        },
        **({"tools": [_tool(each) for each in report.tools]} if report.tools else {}),
    }


def _subject(subject: Subject) -> JsonObject:
    return {
        "revision": subject.revision,
        "before": list(subject.before),
        "counters": str(subject.counters),
        "since": _time(subject.since),
        "until": _time(subject.until),
        "tenant": subject.tenant,
        "run": subject.run,
        "definitions": subject.definitions,
    }


def _group(group: Group) -> JsonObject:
    return {
        "tool": group.tool,
        "before": group.before,
        "after": group.after,
        "said": [said(group.before), said(group.after)],
        "was": group.was,
        "was_at": group.was_at,
        "now": group.now,
        "now_at": group.now_at,
        "why": [str(each) for each in group.why],
        "calls": group.calls,
        "users": group.users,
        "runs": group.runs,
        "denied_by_people": group.denied_by_people,
        "follows": group.follows,
        "money": _sums(group.money),
        "repeats": group.repeats,
        "first": group.first.as_json(),
    }


def _unknown(unknown: Unknown) -> JsonObject:
    return {
        "tool": unknown.tool,
        "missing": [{"place": place, "why": why} for place, why in unknown.missing],
        "readers": list(unknown.readers),
        "calls": unknown.calls,
        "users": unknown.users,
        "certain": dict(unknown.certain),
        "first": unknown.first.as_json(),
    }


def _outside(outside: Outside) -> JsonObject:
    return {"tool": outside.tool, "calls": outside.calls, "money": _sums(outside.money)}


def _sums(sums: tuple[Sum, ...]) -> Json:
    return [{"amount": each.amount, "currency": each.currency} for each in sums]


def _time(at: datetime | None) -> Json:
    return at.isoformat() if at is not None else None
