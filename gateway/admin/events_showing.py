"""What the pages say of events: one line for each, and all of one. Texts are `visible` here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import quote

from gateway import jsontext
from gateway.actions import timeline
from gateway.actions.timeline import Line
from gateway.admin.auditors import Sight
from gateway.admin.log_reader import Inclusion
from gateway.admin.proposals import laid_out
from gateway.admin.redacted import in_words, pairs
from gateway.admin.showing import Moment, moment_of
from gateway.admin.verdicts import Verdict, verdict
from gateway.approvals.visible import visible
from gateway.store.events import StoredEvent
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject

_LONGEST: Final = 280  # characters of a reason in a list
_SHORT: Final = 12  # of a digest
_END: Final = 6  # characters by which ids are told apart in a list
_VERBS: Final = frozenset(
    {"wanted", "calls", "was", "called", "changed", "read", "logged", "made"}
)  # of who is named before
_REFUSED: Final = frozenset({"denied", "invalid_arguments", "phase_blocked", "limit_exceeded"})
_ACTIONS: Final[Mapping[str, str]] = {
    "log_read": "read the log",
    "gateway_started": "the gateway started",
    "gateway_stopped": "the gateway stopped",
    "policy_activated": "a policy was put in force",
    "policy_refused": "a policy was refused",
    "logged_in": "logged in",
    "logged_out": "logged out",
    "login_link_made": "made a login link",
    "auth_rejected": "a credential was rejected",
    "request_refused": "requests were turned away",
    "events_refused": "events could not be kept",
    "tool_quarantined": "a tool was quarantined",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An event in a list."""

    seq: int
    id: str
    day: str
    time: str
    iso: str
    verdict: Verdict
    kind: str
    title: str
    is_verb: bool  # the title goes on from who did it
    tool: str
    who: str
    rule: str
    detail: str
    run: str  # as it is, for addresses
    call: str
    run_end: str
    call_end: str
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that an event says, with where it leads to."""

    name: str
    text: str
    to: str = ""  # a path of ours
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSheet:
    """An event on its own page."""

    line: EventLine
    at: Moment
    facts: Sequence[Fact]
    about: Sequence[Fact]  # searches for what belongs to it
    arguments: Sequence[tuple[str, str]]
    json: str
    kept: Sequence[str]  # of what was removed or masked, where it was
    inclusion: Inclusion
    bytes: int


def days(events: Iterable[StoredEvent]) -> list[tuple[str, list[EventLine]]]:
    """Return events as lines, by day, in their order."""
    lines = [line_of(each) for each in events]
    return [(day, [*some]) for day, some in groupby(lines, key=lambda each: each.day)]


def line_of(event: StoredEvent) -> EventLine:
    """Return one event as a line."""
    told, told_line = event.json(), timeline.line(event)
    body = _object(told.get("body"))
    action = _text(body, "action") if told_line.kind == "admin" else ""
    said = told_line.detail or _asked(body) or _first(body.get("errors"))
    by, user = told_line.by or _text(body, "by"), _text(body, "user")
    if action == "login_link_made":  # by an account of the machine, for a person
        by, said = by or _text(body, "account"), said or f"for {user}"
    detail = visible(in_words(said))
    title = _title(told_line, action)
    return EventLine(
        seq=event.seq,
        id=_text(told, "id"),
        day=told_line.at[:10],
        time=told_line.at[11:19],
        iso=told_line.at,
        verdict=verdict(told_line),
        kind=told_line.kind,
        title=title,
        is_verb=title.partition(" ")[0] in _VERBS,
        tool=visible(told_line.tool),
        who=visible(by or user),
        rule=visible(told_line.rule),
        detail=detail if len(detail) <= _LONGEST else f"{detail[:_LONGEST]}…",
        run=_text(told, "run"),
        call=_text(told, "call"),
        run_end=visible(_text(told, "run")[-_END:]),
        call_end=visible(_text(told, "call")[-_END:]),
        tenant=visible(_text(told, "tenant")),
    )


def sheet(event: StoredEvent, sight: Sight, inclusion: Inclusion, now: int) -> EventSheet:
    """Return an event with all that there is to see of it."""
    told, body = event.json(), _object(event.json().get("body"))
    line = line_of(event)
    found = body.get("arguments")
    return EventSheet(
        line=line,
        at=moment_of(_at(line.iso), now),
        facts=[*_facts(told, body, sight)],
        about=[*_about(told)],
        arguments=pairs(found) if isinstance(found, dict) and found else (),
        json=laid_out(told),
        kept=[
            f"{visible(place)} {how}"
            for how in ("erased", "masked")
            for place in _texts(told.get(how))
        ],
        inclusion=inclusion,
        bytes=len(event.body),
    )


def _facts(told: JsonObject, body: JsonObject, sight: Sight) -> Iterable[Fact]:
    actor, tenant = _object(told.get("actor")), _text(told, "tenant")
    is_own = tenant == sight.own
    run, approval, revision = _text(told, "run"), _text(body, "approval"), _text(body, "revision")
    yield Fact(name="Kind", text=f"{_text(told, 'kind')}, {_text(told, 'stage')}")
    yield from _said("Tenant", tenant)
    yield from _said("Who", _text(actor, "user") or _text(body, "by"))
    yield from _said("Roles", ", ".join(_texts(actor.get("roles"))))
    yield from _said("Client", _text(actor, "client"))
    yield from _said("Outcome", _text(body, "outcome") or _text(body, "status"))
    yield from _said("Rule", _text(body, "rule"), is_code=True)
    yield from _said("Where", _text(body, "place"), is_code=True)
    yield from _said("Reason", _text(body, "reason") or _text(body, "why"))
    if revision:
        id = revision.removeprefix("sha256:")
        to = f"/policies/{quote(id, safe='')}" if sight.is_auditor else ""
        short = id[:_SHORT]
        yield Fact(name="Policy", text=visible(short), to=to, is_code=True)
    if approval:
        to = f"/approvals/{quote(approval, safe='')}" if is_own else ""
        yield Fact(name="Request", text=visible(approval), to=to, is_code=True)
    if run:
        to = f"/runs/{quote(run, safe='')}" if is_own else ""
        yield Fact(name="Run", text=visible(run), to=to, is_code=True)
    yield from _said("Phase", _text(told, "phase"))
    yield from _said("Operation", _text(body, "op"), is_code=True)
    yield from _said("Part of", _text(told, "parent"), is_code=True)


def _about(told: JsonObject) -> Iterable[Fact]:
    """Yield the searches that find what an event belongs to."""
    for name, words in (
        ("call", "All events of this call"),
        ("run", "All events of this run"),
        ("trace_id", "All events of this trace"),
    ):
        if text := _text(told, name):
            to = f"/events?{name.removesuffix('_id')}={quote(text, safe='')}"
            yield Fact(name=words, text=visible(text), to=to, is_code=True)


def _said(name: str, text: str, *, is_code: bool = False) -> Iterable[Fact]:
    if text:
        yield Fact(name=name, text=visible(text), is_code=is_code)


def _title(line: Line, action: str) -> str:
    if action:
        return _ACTIONS.get(action, visible(action.replace("_", " ")))
    match line.kind, line.stage:
        case "authorization", _:
            return "wanted"
        case "tool_call", "started":
            return "calls"
        case "tool_call", "failed" if line.outcome in _REFUSED:
            return "was refused"
        case "tool_call", _:
            return "called"
        case "side_effect", _:
            return "changed something by"
        case _:
            return line.title


def _asked(body: JsonObject) -> str:
    """Say what somebody who read the log had asked for."""
    asked = body.get("asked")
    if not isinstance(asked, dict):
        return ""
    return ", ".join(f"{name} {value}" for name, value in asked.items() if value)


def _first(value: Json) -> str:
    return next(iter(_texts(value)), "")


def _at(iso: str) -> int:
    return microseconds(timeline.moment(iso))


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _texts(value: Json) -> list[str]:
    if not isinstance(value, list):
        return []
    return [each if isinstance(each, str) else jsontext.dump(each).decode() for each in value]


def _text(found: JsonObject, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
