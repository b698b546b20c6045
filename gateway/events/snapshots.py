"""What a call was judged by beside its arguments and its actor, as far as the log has to hold it.

With it the call can be judged again, under the same rules or others, without reading anything from
systems that live on. Nothing is in here that follows from the rest of the event, from the revision
or from the contract: a plain read outside of runs has no such part at all.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from gateway.events import envelope
from gateway.events.forms import COUNT, FLAG, TEXT, TEXTS, WHOLE, about, an_object, one_of
from gateway.events.redact import Redacted
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import BindingKind, Collected, Mode, Phase, Run, StopReason, Trust
from gateway.types.tools import Kind, SourceTrust
from gateway.types.values import value

MOST_FIELDS: Final = 4 << 10  # bytes of the values of a run's fields; beyond, they are left out
MOST_ORIGINS: Final = 8 << 10  # bytes; beyond, there is only `$cut`
_MICROSECOND: Final = timedelta(microseconds=1)
ANY_TIME: Final = timedelta(seconds=1)  # where nobody asks, the time of the event is near enough
_TEXT: Final = 1_000

Redact = Callable[[Json], Redacted]


@value
class Seen:
    """Where a value was given before, without the value."""

    type: str
    trust: SourceTrust
    record: str
    is_exact: bool


@value
class Snapshot:
    """What was looked up for a call, and what judging made of it before policy was asked."""

    received: datetime
    is_timed: bool = False  # something may depend on the very time
    pin: str = ""  # of the definition that was published, where it is not the contract's
    kind: Kind | None = None  # where the method does not tell
    hides_uri: bool = False
    held: str = ""
    is_tainted: bool = False  # its actor, whatever the run
    origins: Mapping[JsonPointer, tuple[Seen, ...]] | None = None
    run: Run | None = None
    bound_by: BindingKind | None = None
    reads_while_paused: bool = True
    names_objective: bool = False  # rules speak of what the run is for


def described(
    snapshot: Snapshot, *, at: datetime, redact: Redact, text: Callable[[str], str]
) -> JsonObject:
    """Return the part of an event from `at`; `redact` and `text` redact."""
    told: JsonObject = {}
    before = at - snapshot.received
    if snapshot.is_timed or before > ANY_TIME:
        told["received_us"] = before // _MICROSECOND
    if snapshot.pin:
        told["pin"] = snapshot.pin
    if snapshot.kind is not None:
        told["kind"] = str(snapshot.kind)
    if snapshot.hides_uri:
        told["hides_uri"] = True
    if snapshot.held:
        told["held"] = text(snapshot.held)
    if snapshot.is_tainted:
        told["tainted"] = True
    if snapshot.origins:
        told["origins"] = envelope.capped(_origins(snapshot.origins), MOST_ORIGINS)
    if snapshot.run is not None:
        told["run"] = _run(snapshot, snapshot.run, redact, text)
    return told


def _origins(origins: Mapping[JsonPointer, tuple[Seen, ...]]) -> JsonObject:
    """Tell of origins; records by numbers, which keep what lies inside of what."""
    numbers: dict[str, str] = {}

    def record(path: str) -> str:
        return "/".join(numbers.setdefault(step, str(len(numbers))) for step in path.split("/"))

    def told(each: Seen) -> JsonObject:
        said: JsonObject = {"type": each.type, "trust": str(each.trust)}
        said["record"] = record(each.record)
        return said if each.is_exact else {**said, "larger": True}

    return {pointer: list[Json](map(told, some)) for pointer, some in origins.items()}


def _run(snapshot: Snapshot, run: Run, redact: Redact, text: Callable[[str], str]) -> JsonObject:
    told: JsonObject = {
        "version": run.version,
        "mode": str(run.mode),
        "phase": str(run.phase),
    }
    if snapshot.bound_by is not None:
        told["bound_by"] = str(snapshot.bound_by)
    if run.held_by is not None:
        told["held_by"] = "over" if run.held_by.is_over else "paused"
    told |= _standing(run)
    told |= _counts(run)
    if not snapshot.reads_while_paused:
        told["no_reads_while_paused"] = True
    if snapshot.names_objective:
        told |= {"objective": text(run.objective), "task": text(run.task_id)}
    if run.fields:
        told["fields"] = _fields(run.fields, redact)
    return told


def _standing(run: Run) -> JsonObject:
    """Tell of what most runs are not, name by name: every event of a call in a run has this."""
    told: JsonObject = {}
    if run.template:
        told["template"] = run.template
    if run.resume_phase:
        told["resume_phase"] = str(run.resume_phase)
    if run.is_paused:
        told["paused"] = True
    if run.stop_reason:
        told["stop_reason"] = str(run.stop_reason)
    if run.is_tainted:
        told["tainted"] = True
    return told


def _counts(run: Run) -> JsonObject:
    """Tell of what there is any of."""
    told: JsonObject = {}
    if run.ends_at:
        told["ends_at"] = run.ends_at
    if run.evidence:
        told["evidence"] = run.evidence
    if run.calls:
        told["calls"] = run.calls
    if run.tokens:
        told["tokens"] = run.tokens
    if run.open_ops:
        told["open_ops"] = run.open_ops
    if run.pending_approvals:
        told["pending_approvals"] = run.pending_approvals
    if run.verified:
        told["verified"] = list[Json](run.verified)
    if run.succeeded:
        told["succeeded"] = list[Json](run.succeeded)
    return told


def _fields(fields: Mapping[str, Collected], redact: Redact) -> JsonObject:
    """Tell of fields where each is from, and its value where all of them are small enough."""
    values: JsonObject = {name: each.value for name, each in fields.items()}
    kept = redact(values).value
    is_whole = isinstance(kept, dict) and kept.keys() == values.keys()
    shown = kept if is_whole and envelope.size(kept) <= MOST_FIELDS else None
    return {
        name: {"source": each.source, "trust": str(each.trust)}
        | ({"value": shown[name]} if isinstance(shown, dict) else {})
        for name, each in fields.items()
    }


_ORIGIN: Final = an_object(
    {
        "type": about(TEXT, "of the result that it was in"),
        "trust": one_of(SourceTrust),
        "record": about(
            TEXT, "numbers of this event: the same, or the beginning of another, is related"
        ),
        "larger": about({"const": True}, "a larger number was seen there"),
    },
    frozenset({"larger"}),
)
_FIELD: Final = an_object(
    {
        "source": TEXT,
        "trust": one_of(Trust),
        "value": about({}, f"redacted; of none where all of them have over {MOST_FIELDS} bytes"),
    },
    frozenset({"value"}),
)
_RUN: Final[JsonObject] = {
    "version": COUNT,
    "mode": one_of(Mode),
    "phase": about(one_of(Phase), "before the call; the one it is made in is in the envelope"),
    "bound_by": about(one_of(BindingKind), "how the call has found it"),
    "held_by": about({"enum": ["over", "paused"]}, "what a run around it is"),
    "template": TEXT,
    "resume_phase": one_of(Phase),
    "paused": FLAG,
    "stop_reason": one_of(StopReason),
    "tainted": FLAG,
    "ends_at": about(COUNT, "microseconds since 1970, by its limit of wall time"),
    "evidence": COUNT,
    "calls": COUNT,
    "tokens": COUNT,
    "open_ops": COUNT,
    "pending_approvals": COUNT,
    "verified": TEXTS,
    "succeeded": TEXTS,
    "no_reads_while_paused": FLAG,
    "objective": about(TEXT, "redacted; only where rules speak of it or of the task"),
    "task": TEXT,
    "fields": {"type": "object", "additionalProperties": _FIELD},
}
_SNAPSHOT: Final[JsonObject] = {
    "received_us": about(WHOLE, "how long before `ts` it came in, in microseconds"),
    "pin": about(TEXT, "of the definition that was published, where it is not the contract's"),
    "kind": about(one_of(Kind), "where the method does not tell"),
    "hides_uri": about(FLAG, "the URI is not kept as it was"),
    "held": about(TEXT, "why a person has to decide though policy need not say so, redacted"),
    "tainted": about(FLAG, "its actor was given results that others can write, in any run"),
    "origins": about(
        {
            "type": "object",
            "properties": {"$cut": {"type": "object"}},
            "additionalProperties": {"type": "array", "items": _ORIGIN},
        },
        "where the values at these places were given before, without the values; beyond "
        f"{MOST_ORIGINS} bytes only `$cut`",
    ),
    "run": about(
        an_object(_RUN, frozenset(_RUN) - {"version", "mode", "phase"}),
        "as it was read for this call; counts of 0 are left out",
    ),
}
SCHEMA: Final = about(
    an_object(_SNAPSHOT, frozenset(_SNAPSHOT)),
    "what it was judged by beside the rest, as far as that is more than nothing",
)
