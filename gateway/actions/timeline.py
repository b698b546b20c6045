"""What happened in a run, as its events tell it: one line each, for pages and terminals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gateway.store.events import StoredEvent
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject
from gateway.types.operations import VerificationState
from gateway.types.outcomes import Status

_STOPS: Final = frozenset({Stage.STOPPED, Stage.HANDED_OVER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that happened."""

    seq: int
    at: str  # ISO 8601
    kind: str
    title: str  # in the gateway's own words
    tool: str  # as `server.name`; empty where it is about none
    outcome: str  # a status, a decision or a phase: one word
    detail: str  # words of rules, people and models
    by: str  # who, where that is told
    call: str
    op: str
    approval: str
    rule: str = ""  # that decided
    phase: str = ""  # of the run, when it happened
    stage: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether it did not go as somebody wanted."""
        return self.outcome in _BAD


_BAD: Final = frozenset(
    {
        *("denied", "failed", "stopped", "refused", "expired", "indeterminate", "tool_failed"),
        *("timeout", "unavailable", "phase_blocked", "provenance_failed", "limit_exceeded"),
        *("approval_denied", "approval_expired", "invalid_arguments", "postcondition_failed"),
    }
)
_TITLES: Final = {
    "authorization": "weighed",
    "tool_call": "called",
    "retrieval": "read",
    "approval": "people were asked",
    "side_effect": "effect",
    "run": "run",
    "model_turn": "model",
    "admin": "by hand",
}
_RUNS: Final = {
    Stage.STARTED: "the run began",
    Stage.MOVED: "the run went on",
    Stage.CHANGED: "the run was changed",
    Stage.PAUSED: "the run was paused",
    Stage.RESUMED: "the run goes on again",
    Stage.STOPPED: "the run stopped",
    Stage.HANDED_OVER: "the run was handed over",
}
_APPROVALS: Final = {
    Stage.REQUESTED: "people were asked",
    Stage.VOTED: "somebody voted",
    Stage.REFUSED: "a decision did not count",
    Stage.ESCALATED: "more people may decide",
    Stage.DECIDED: "people decided",
    Stage.EXPIRED: "nobody decided in time",
    Stage.USED: "the approval was used",
    Stage.VOIDED: "the request was taken back",
    Stage.REOPENED: "it may be asked for again",
}


def moment(at: str) -> datetime:
    """Return the time of a line; that of nothing where it has none."""
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def line(event: StoredEvent) -> Line:
    """Return one event as a line."""
    told = event.json()
    body = told.get("body")
    kind, stage = str(told.get("kind")), str(told.get("stage"))
    return _line(event.seq, told, kind, stage, body if isinstance(body, dict) else {})


def lines(events: Sequence[StoredEvent]) -> tuple[Line, ...]:
    """Return what happened, in the order of the log.

    Left out are starts of what has an end, and ends that only say again why a call was refused.
    """
    told: dict[str, str] = {}  # by call, what weighing it came to
    found: list[Line] = []
    for each in _lines(events):
        if each.kind == EventKind.AUTHORIZATION:
            told[each.call] = each.outcome
        elif each.kind == EventKind.TOOL_CALL and told.get(each.call) == each.outcome:
            continue
        found.append(each)
    return tuple(found)


def _lines(events: Sequence[StoredEvent]) -> Iterator[Line]:
    for each in events:
        found = line(each)
        if not (found.kind == EventKind.TOOL_CALL and found.stage == Stage.STARTED):
            yield found


def _line(seq: int, event: JsonObject, kind: str, stage: str, body: JsonObject) -> Line:
    actor = event.get("actor")
    return Line(
        seq=seq,
        at=str(event.get("ts", "")),
        kind=kind,
        title=_title(kind, stage),
        tool=_text(body, "tool") or _text(body, "name"),
        outcome=_outcome(event, kind, stage, body),
        detail=_detail(kind, stage, body),
        by=_text(actor, "user") if isinstance(actor, dict) else "",
        call=_text(event, "call"),
        op=_text(body, "op"),
        approval=_text(body, "approval"),
        rule=_text(body, "rule"),
        phase=_text(event, "phase"),
        stage=stage,
    )


def _title(kind: str, stage: str) -> str:
    by_stage = {EventKind.RUN: _RUNS, EventKind.APPROVAL: _APPROVALS}
    found = by_stage.get(EventKind(kind), {}).get(Stage(stage))
    return found or _TITLES.get(kind, kind)


def _outcome(event: JsonObject, kind: str, stage: str, body: JsonObject) -> str:
    match kind:
        case EventKind.RUN:
            return _text(body, "stop_reason") if stage in _STOPS else _text(event, "phase")
        case EventKind.AUTHORIZATION if _would(body):
            return "observed"
        case EventKind.AUTHORIZATION:
            status = _text(body, "status")
            return _text(body, "decision") if status in ("", Status.OK) else status
        case EventKind.SIDE_EFFECT:
            return _text(body, "state")
        case EventKind.RETRIEVAL:
            return ""
        case EventKind.APPROVAL if stage == Stage.REFUSED:
            return _text(body, "cast")
        case EventKind.MODEL_TURN if stage == Stage.RECORDED:
            return "failed" if _text(body, "error") else _text(body, "stop_reason")
        case _:
            return _text(body, "status") or _text(body, "action") or stage


def _detail(kind: str, stage: str, body: JsonObject) -> str:
    match kind:
        case EventKind.AUTHORIZATION if _would(body):
            return _joined(f"would: {_would(body)}", _text(body, "reason"))
        case EventKind.SIDE_EFFECT:
            check, evidence = _text(body, "verification"), _text(body, "evidence")
            is_checked = check not in ("", VerificationState.NOT_DECLARED)
            return _joined(f"check: {check}" if is_checked else "", evidence)
        case EventKind.RETRIEVAL:
            return _joined(_text(body, "query"), _brought(body))
        case EventKind.MODEL_TURN if stage == Stage.RECORDED:
            return _turned(body)
        case _:
            told = (_text(body, name) for name in ("reason", "why", "note", "evidence"))
            found = next((each for each in told if each), "") or _fields(body)
            return found or (_spent(body) if stage == Stage.CHANGED else "")


def _would(body: JsonObject) -> str:
    """Say what would have become of a call that passed because decisions were only recorded."""
    observed = body.get("observed")
    return _text(observed, "would") if isinstance(observed, dict) else ""


def _joined(*parts: str) -> str:
    return "; ".join(each for each in parts if each)


def _brought(body: JsonObject) -> str:
    """Say how much a read brought, and how much of it policy held back."""
    count, rows = body.get("count"), body.get("rows")
    documents = _many(count, "document") if isinstance(count, int) and count else ""
    if not isinstance(rows, dict):
        return documents
    kept, removed, failed = (rows.get(name) for name in ("kept", "removed", "failed"))
    if not isinstance(kept, int) or not isinstance(removed, int) or not removed:
        return documents
    blind = f", {failed} of them because nobody could judge them" if failed else ""
    return _joined(documents, f"{removed} of {_many(kept + removed, 'row')} held back{blind}")


def _turned(body: JsonObject) -> str:
    """Say which model answered, how much, and what it wants called."""
    provider, called = _text(body, "provider"), body.get("tool_calls")
    who = f"{_text(body, 'model')} of {provider}" if provider else _text(body, "model")
    given, said = body.get("input_tokens"), body.get("output_tokens")
    spent = f"{given or 0} tokens in, {said or 0} out" if given or said else ""
    names = [
        _text(each, "name")
        for each in (called if isinstance(called, list) else [])
        if isinstance(each, dict)
    ]
    wants = f"wants {', '.join(f'`{name}`' for name in names)}" if names else ""
    return _joined(who, spent, wants, _text(body, "error"))


def _spent(body: JsonObject) -> str:
    """Say what a host has told of, in all."""
    evidence, tokens = body.get("evidence"), body.get("tokens")
    told = [
        _many(count, word)
        for count, word in ((evidence, "reference"), (tokens, "token"))
        if isinstance(count, int)
    ]
    return f"{' and '.join(told)} by now" if told else ""


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _fields(body: JsonObject) -> str:
    fields = body.get("fields")
    named = [
        f"`{each['name']}` from `{each['source']}`"
        for each in (fields if isinstance(fields, list) else [])
        if isinstance(each, dict) and "name" in each and "source" in each
    ]
    return ", ".join(named)


def _text(found: JsonObject, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
