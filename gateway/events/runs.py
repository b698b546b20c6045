"""Events about runs: one for each change, told from the run before it and the run after it.

Of fields the names, sources and trust are told, never a value. Texts of people and models are
redacted here; where nobody can redact them, they are left out.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from gateway.events.forms import COUNT, FLAG, TEXT, about, an_object, one_of
from gateway.events.redact import Redactor
from gateway.types.actors import Actor
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Collected, Mode, Mover, Phase, Run, StopReason, Trust

_TEXT: Final = 1_000  # characters of what somebody wrote
_MOST_FIELDS: Final = 100


def stage_of(before: Run | None, after: Run) -> Stage:
    """Return the stage of the event that tells of a change; what ends a run says most."""
    if before is None:
        return Stage.STARTED
    if after.stop_reason is not before.stop_reason and after.stop_reason is not None:
        is_handed_over = after.stop_reason is StopReason.HANDOFF
        return Stage.HANDED_OVER if is_handed_over else Stage.STOPPED
    if before.stop_reason is not None and after.stop_reason is None:
        return Stage.RESUMED
    if after.is_paused is not before.is_paused:
        return Stage.PAUSED if after.is_paused else Stage.RESUMED
    return Stage.MOVED if after.phase is not before.phase else Stage.CHANGED


def event(
    before: Run | None,
    after: Run,
    *,
    by: Mover,
    id: str,
    at: datetime,
    redactor: Redactor | None = None,
    actor: Actor | None = None,
    call: str = "",
) -> Event:
    """Tell of a change of a run; without `before`, of its start.

    `call` is the call that brought it about, and `actor` who did.
    """
    body: JsonObject = {
        "by": str(by),
        "version": after.version,
        "mode": str(after.mode),
        "template": after.template,
        "paused": after.is_paused,
        "tainted": after.is_tainted,
    }
    if before is not None and before.phase is not after.phase:
        body["from"] = str(before.phase)
    if after.resume_phase is not None:
        body["resume_phase"] = str(after.resume_phase)
    if after.stop_reason is not None:
        body["stop_reason"] = str(after.stop_reason)
    if after.parent and before is None:
        body["parent"] = after.parent
    if before is not None and after.version == before.version:  # what a host has told of it
        body |= {"evidence": after.evidence, "tokens": after.tokens}
    fields = _changed(before, after)
    if fields:
        body["fields"] = fields
    if redactor is not None:
        body |= _texts(before, after, redactor)
    return Event(
        id=id,
        at=at,
        kind=EventKind.RUN,
        stage=stage_of(before, after),
        body=body,
        tenant=after.tenant,
        call=call,
        run=after.run_id,
        phase=str(after.phase),
        actor=actor,
    )


def _changed(before: Run | None, after: Run) -> list[Json]:
    """Name the fields that are new or other ones, and where they are from."""
    known: Mapping[str, Collected] = before.fields if before is not None else {}
    told: list[Json] = [
        {"name": name[:_TEXT], "source": each.source[:_TEXT], "trust": str(each.trust)}
        for name, each in sorted(after.fields.items())
        if known.get(name) != each
    ]
    return told[:_MOST_FIELDS]


def _texts(before: Run | None, after: Run, redactor: Redactor) -> JsonObject:
    """Return what somebody wrote and is new, as it may be kept."""
    was = (before.objective, before.task_id, before.note) if before is not None else ("", "", "")
    now = (after.objective, after.task_id, after.note)
    return {
        name: redactor.text(text, tenant=after.tenant)[:_TEXT]
        for name, old, text in zip(("objective", "task", "note"), was, now, strict=True)
        if text and text != old
    }


_BODY: Final[JsonObject] = an_object(
    {
        "by": about(one_of(Mover), "who changed it"),
        "version": about(COUNT, "of the run, after the change"),
        "mode": about(one_of(Mode), "who moves it from phase to phase"),
        "template": TEXT,
        "paused": FLAG,
        "tainted": about(FLAG, "a result that others can write was returned in it"),
        "from": about(one_of(Phase), "the phase before; the one after it stands in the envelope"),
        "resume_phase": about(one_of(Phase), "where it goes on once nobody has to decide"),
        "stop_reason": one_of(StopReason),
        "parent": about(TEXT, "the run whose sub-agent works in this one"),
        "evidence": about(COUNT, "references in all, after a host told of some, or of tokens"),
        "tokens": about(COUNT, "in all, after the same"),
        "fields": about(
            {
                "type": "array",
                "items": an_object({"name": TEXT, "source": TEXT, "trust": one_of(Trust)}),
                "maxItems": _MOST_FIELDS,
            },
            "those that were collected, without their values",
        ),
        "objective": about(TEXT, "redacted"),
        "task": about(TEXT, "the host's own name for the work, redacted"),
        "note": about(TEXT, "why, in words of a person or model, redacted"),
    },
    frozenset(
        {
            "from",
            "resume_phase",
            "stop_reason",
            "parent",
            "evidence",
            "tokens",
            "fields",
            "objective",
            "task",
            "note",
        }
    ),
)
BODIES: Final[Mapping[Stage, JsonObject]] = dict.fromkeys(
    (
        Stage.STARTED,
        Stage.MOVED,
        Stage.CHANGED,
        Stage.PAUSED,
        Stage.RESUMED,
        Stage.STOPPED,
        Stage.HANDED_OVER,
    ),
    _BODY,
)
