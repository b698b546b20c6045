"""One fact for the event log, already redacted."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from gateway.types.actors import Actor
from gateway.types.audit import SealedCopy
from gateway.types.json import JsonObject, JsonPointer
from gateway.types.values import value

ENVELOPE_VERSION = 1


class EventKind(StrEnum):
    """The six kinds of the mission, and two of our own."""

    MODEL_TURN = "model_turn"
    RETRIEVAL = "retrieval"
    AUTHORIZATION = "authorization"
    TOOL_CALL = "tool_call"
    APPROVAL = "approval"
    SIDE_EFFECT = "side_effect"
    RUN = "run"
    ADMIN = "admin"


class Stage(StrEnum):
    """Where in the life of its subject an event stands."""

    DECIDED = "decided"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    RECORDED = "recorded"
    # Of requests for approval, beside `decided`:
    REQUESTED = "requested"
    VOTED = "voted"  # or a vote was taken back; nothing is decided yet
    REFUSED = "refused"  # somebody wanted to decide who may not, or not then, or not this
    ESCALATED = "escalated"  # more people may decide from now on
    EXPIRED = "expired"
    USED = "used"  # by the very send
    VOIDED = "voided"  # revoked, cancelled or superseded
    REOPENED = "reopened"  # a denied call may be asked about again
    # Of runs, beside `started`:
    MOVED = "moved"  # into another phase
    CHANGED = "changed"  # what was collected, or how far it is to be believed
    PAUSED = "paused"
    RESUMED = "resumed"
    STOPPED = "stopped"  # `stop_reason` says how
    HANDED_OVER = "handed_over"


@value
class Event:
    """The common envelope and the body of one kind; `seq` is given by the store."""

    id: str  # ULID
    at: datetime  # UTC
    kind: EventKind
    stage: Stage
    body: JsonObject
    tenant: str = ""
    call: str = ""
    run: str = ""
    phase: str = ""
    parent: str = ""
    trace_id: str = ""
    span_id: str = ""
    actor: Actor | None = None
    erased: tuple[JsonPointer, ...] = ()  # removed, nothing left
    masked: tuple[JsonPointer, ...] = field(default=())  # replaced by a marker or digest
    sealed: SealedCopy | None = None  # kept beside it, in the same transaction
