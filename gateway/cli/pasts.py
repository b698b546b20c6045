"""Judged calls out of the log, as rules and tests are drafted from them.

Only how they were judged is read: one event a call, whatever became of it later.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.actions import questions
from gateway.actions.questions import Log
from gateway.policy.past import Past
from gateway.replay import reading, unknown
from gateway.replay.types import Gone
from gateway.store.selection import Selection
from gateway.types.causes import Cause
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase

_WHY: Final = dict.fromkeys(Gone, "it was redacted") | {
    Gone.CUT: "it was too long to be kept",
    Gone.LEFT_OUT: "its call is kept at the level `metadata`",
}
# Of a run, what a test has under the name that its snapshot has.
_TOLD: Final = (
    *("template", "mode", "phase", "bound_by", "resume_phase", "objective", "task"),
    *("evidence", "calls", "tokens", "open_ops", "pending_approvals", "verified", "succeeded"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which calls are wanted; an empty field matches all, `until` itself is left out."""

    since: datetime | None = None
    until: datetime | None = None
    tenant: str = ""
    tool: str = ""
    run: str = ""
    call: str = ""

    @property
    def wanted(self) -> Selection:
        """The events by which such calls were judged."""
        return Selection(
            kinds=(EventKind.AUTHORIZATION.value,),
            stages=(Stage.DECIDED.value,),
            since=self.since,
            until=self.until,
            tenants=_if_any(self.tenant),
            tools=_if_any(self.tool),
            runs=_if_any(self.run),
            calls=_if_any(self.call),
        )


async def pasts(log: Log, span: Span) -> AsyncIterator[Past]:
    """Yield the judged calls of a span in the order of the log. Raises StoreUnavailable."""
    async for event in questions.each(log, span.wanted):
        read = event.json()
        if "arguments" in _object(read.get("body")):  # else it is about a question of a server
            yield past(read)


def _if_any(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


def past(event: JsonObject) -> Past:
    """Return the call that an `authorization` event tells of."""
    call = reading.recorded(reading.told(event))
    snapshot, judged = call.snapshot, call.judged
    run, gone = _run(_object(snapshot.get("run")), is_tainted=snapshot.get("tainted") is True)
    phase = _text(call.inputs.get("phase")) or judged.phase
    return Past(
        call=call.call,
        at=call.at,
        actor=call.actor,
        kind=call.kind,
        method=call.method,
        key=call.tool,
        server=call.server,
        arguments=call.arguments,
        unknown={place: _WHY[why] for place, why in call.unknown.items()},
        phase=Phase(phase) if phase else Phase.ACTING,
        run=run,
        gone=gone,
        cause=Cause(call.cause or Cause.CALLER),
        pin=_text(snapshot.get("pin")),
        decided=judged.effect,
        rule=judged.rule,
        code=judged.code,
        does=judged.does,
        risk=judged.risk,
    )


def _run(said: JsonObject, *, is_tainted: bool) -> tuple[JsonObject | None, tuple[str, ...]]:
    """Return a run as a test has it, and the names of fields whose values are not known."""
    if not said:
        return ({"tainted": True} if is_tainted else None), ()
    found: JsonObject = {name: said[name] for name in _TOLD if said.get(name)}
    if said.get("phase") != Phase.AWAITING_APPROVAL.value:
        found.pop("resume_phase", None)
    if said.get("stop_reason"):
        found["stop"] = said["stop_reason"]
    elif said.get("paused"):
        found["paused"] = True
    if is_tainted or said.get("tainted"):
        found["tainted"] = True
    gone: list[str] = []
    for name, told in _object(said.get("fields")).items():
        field = _object(told)
        if "value" not in field or unknown.places(field["value"]):
            gone.append(f"`{name}`")
            continue
        of = "said" if field.get("source") == "model" else "fields"
        found[of] = {**_object(found.get(of)), name: field["value"]}
    return found, tuple(gone)


def _text(said: Json) -> str:
    return said if isinstance(said, str) else ""


def _object(said: Json) -> JsonObject:
    return said if isinstance(said, dict) else {}
