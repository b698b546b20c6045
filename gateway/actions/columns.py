"""What each event says in one line: named columns, the same for tables, spreadsheets and pages.

The names are kept for good: whatever reads them goes on working. New ones come at the end.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.actions import timeline
from gateway.approvals.matching import same_person
from gateway.store.events import StoredEvent
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject

SHORT: Final = (
    *("seq", "time", "kind", "stage", "tenant", "who"),
    *("method", "tool", "outcome", "rule", "code", "call"),
)
OF_APPROVALS: Final = (
    *("seq", "time", "stage", "tenant", "approval", "tool"),
    *("outcome", "who", "channel", "assurance", "reason", "rule", "call"),
)
OF_RUNS: Final = (
    *("seq", "time", "stage", "tenant", "run", "template"),
    *("phase", "by", "user", "detail", "call"),
)


@dataclass(frozen=True, slots=True)
class Told:
    """An event as columns look at it."""

    stored: StoredEvent
    event: JsonObject
    body: JsonObject


Say = Callable[[Told], str]


def usual(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that people see of events of some kinds, unless they name others."""
    match kinds:
        case [EventKind.APPROVAL]:
            return OF_APPROVALS
        case [EventKind.RUN]:
            return OF_RUNS
        case _:
            return SHORT


def cells(event: StoredEvent, names: Sequence[str]) -> tuple[str, ...]:
    """Return what an event says in some columns; empty where it says nothing of the kind."""
    read = event.json()
    told = Told(event, read, _object(read.get("body")))
    return tuple(COLUMNS[name].say(told) for name in names)


def _of_event(*names: str) -> Say:
    return lambda told: _first(told.event, names)


def _of_body(*names: str) -> Say:
    return lambda told: _first(told.body, names)


def _of_actor(name: str) -> Say:
    return lambda told: _text(_object(told.event.get("actor")).get(name))


def _first(value: JsonObject, names: Sequence[str]) -> str:
    return next((_text(value[name]) for name in names if value.get(name)), "")


def _outcome(told: Told) -> str:
    """Say in one word what came of it."""
    event, body = told.event, told.body
    match event.get("kind"):
        case EventKind.AUTHORIZATION if isinstance(observed := body.get("observed"), dict):
            return f"observed: {_text(observed.get('would'))}"
        case EventKind.AUTHORIZATION:
            return _first(body, ("outcome", "decision"))
        case EventKind.APPROVAL:
            return _first(body, ("cast", "status"))
        case EventKind.RUN:
            return _text(body.get("stop_reason") or event.get("phase"))
        case EventKind.SIDE_EFFECT:
            return _first(body, ("state", "status"))
        case EventKind.RETRIEVAL:
            count = body.get("count")
            return f"{count} document{'' if count == 1 else 's'}" if count else "nothing"
        case EventKind.MODEL_TURN:
            return "failed" if body.get("error") else _first(body, ("status", "model"))
        case EventKind.TOOL_CALL:
            return _first(body, ("status",)) or _text(event.get("stage"))
        case EventKind.ADMIN if body.get("action") == "log_read":
            return f"log_read {_text(body.get('how'))}".rstrip()
        case _:
            return _first(body, ("status", "action"))


def _who(told: Told) -> str:
    """Say who brought it about; of a request, for whom: the one who asked for the call."""
    event, body = told.event, told.body
    user = _text(_object(event.get("actor")).get("user"))
    if event.get("kind") == EventKind.ADMIN.value:
        return user or _first(body, ("by", "account", "user"))
    if event.get("kind") != EventKind.APPROVAL.value:
        return user
    requester = _text(_object(body.get("requester")).get("user"))
    if not requester:
        return user
    if "cast" not in body:  # nobody's word: it was asked for, used, or over
        return f"for {requester}"
    own = " (self)" if same_person(user, requester) else ""
    return f"{user} for {requester}{own}"


def _detail(told: Told) -> str:
    return next((line.detail for line in timeline.lines([told.stored])), "")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it says of an event, and of what that is made."""

    say: Say
    of: str


def _event(*names: str) -> Column:
    return Column(_of_event(*names), _either(names))


def _body(*names: str) -> Column:
    return Column(_of_body(*names), _either([f"body.{name}" for name in names]))


def _actor(name: str) -> Column:
    return Column(_of_actor(name), f"`actor.{name}`")


def _either(names: Sequence[str]) -> str:
    return ", or else ".join(f"`{name}`" for name in names)


COLUMNS: Final[Mapping[str, Column]] = {
    "seq": _event("seq"),
    "time": _event("ts"),
    "id": _event("id"),
    "kind": _event("kind"),
    "stage": _event("stage"),
    "tenant": _event("tenant"),
    "who": Column(
        _who,
        "`actor.user`; of a request for approval, for whom as well; of `admin` events `body.by`, "
        "or else `body.account`, `body.user`",
    ),
    "user": _actor("user"),
    "client": _actor("client"),
    "auth": _actor("auth_method"),
    "roles": _actor("roles"),
    "method": _body("question", "method"),
    "server": _body("server"),
    "tool": _body("tool", "name"),
    "effect": _body("effect"),
    "risk": _body("risk"),
    "outcome": Column(_outcome, "what came of it in a word or two, by kind"),
    "decision": _body("decision"),
    "status": _body("status"),
    "code": _body("code"),
    "rule": _body("rule"),
    "reason": _body("reason", "why"),
    "revision": _body("revision"),
    "executed": _body("executed"),
    "approval": _body("approval"),
    "channel": _body("channel"),
    "assurance": _body("assurance"),
    "op": _body("op"),
    "run": _event("run"),
    "template": _body("template"),
    "phase": _event("phase"),
    "by": _body("by"),
    "action": _body("action"),
    "detail": Column(_detail, "the words of rules, people and models, as timelines have them"),
    "call": _event("call"),
    "parent": _event("parent"),
    "trace": _event("trace_id"),
    "duration_us": _body("duration_us"),
    "arguments_digest": _body("arguments_digest"),
    "masked": _event("masked"),
    "erased": _event("erased"),
    "instance": Column(
        lambda told: _text(_object(told.event.get("gateway")).get("instance")), "`gateway.instance`"
    ),
}


def _text(value: Json) -> str:
    match value:
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case list():
            return " ".join(_text(each) for each in value)
        case _:
            return ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
