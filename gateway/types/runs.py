"""Runs: governed work with an actor, an objective, what was collected, and a phase that binds."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from gateway.types.json import Json
from gateway.types.values import value


class Phase(StrEnum):
    """Where a run stands; what each phase allows is the table in `runs.machine`."""

    CREATED = "created"
    PLANNING = "planning"
    RETRIEVING = "retrieving"
    ACTING = "acting"
    AWAITING_APPROVAL = "awaiting_approval"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    HANDOFF = "handoff"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether its work is over; only a hand-over leads on, out of `failed`."""
        return self in _FINAL


_FINAL = frozenset({Phase.COMPLETED, Phase.HANDOFF, Phase.FAILED})


class StopReason(StrEnum):
    """Why a run does not go on; `blocked` is the one that can be resumed."""

    COMPLETED = "completed"
    BLOCKED = "blocked"
    HANDOFF = "handoff"
    FAILED = "failed"


class Mode(StrEnum):
    """Who moves a run from phase to phase."""

    HOST = "host"  # a program with the scope `run:phase`, and nobody else
    AGENT = "agent"  # the model, by `run_set_phase`, where guards hold
    AUTO = "auto"  # the class of a call asks for it, where guards hold


class Mover(StrEnum):
    """Who changes a run."""

    HOST = "host"  # a program that may move phases
    AGENT = "agent"  # the model, by the gateway's own tools
    CALL = "call"  # a call whose class asks for another phase
    PERSON = "person"  # at the terminal or on the page
    GATEWAY = "gateway"  # people begin or end deciding, or a time is over


class Trust(StrEnum):
    """How far a value, or the binding of a call to a run, is to be believed."""

    HOST = "host"  # a program that the model can't speak through
    MODEL = "model"
    CLIENT = "client"  # what a client sends by itself, for other purposes
    HINT = "hint"  # good enough for finding, never for a right: so is what others can write


class BindingKind(StrEnum):
    """How a call has found its run, from the surest to the weakest."""

    META = "meta"  # `_meta["weighbridge/run"]`
    HEADER = "header"
    TOOL = "tool"  # the `run_id` of one of our own tools
    CONVERSATION = "conversation"  # what a host calls its conversation
    SESSION = "session"  # of the handshake era, or of a stdio child's environment
    PRINCIPAL = "principal"  # who calls, and nothing else

    @property
    def trust(self) -> Trust:
        """How far the binding is to be believed."""
        return _TRUST[self]

    @property
    def is_explicit(self) -> bool:
        """Whether it names a run by its id, so that there has to be one."""
        return self in _EXPLICIT

    @property
    def is_weak(self) -> bool:
        """Whether it may change from one attempt to the next: no part of what makes calls equal."""
        return self in _WEAK


# Tuples: members are found by what they are, and need no hash.
_EXPLICIT: Final = (BindingKind.META, BindingKind.HEADER, BindingKind.TOOL)
_WEAK: Final = (BindingKind.SESSION, BindingKind.PRINCIPAL)
_TRUST = {
    BindingKind.META: Trust.HOST,
    BindingKind.HEADER: Trust.HOST,
    BindingKind.TOOL: Trust.MODEL,
    BindingKind.CONVERSATION: Trust.CLIENT,
    BindingKind.SESSION: Trust.CLIENT,
    BindingKind.PRINCIPAL: Trust.HINT,
}


# Whose word a field may be; every other source is the type of a result.
SPEAKERS = frozenset({"host", "user", "model"})


@value
class Collected:
    """A field of a run: a value that work needs, and where it is from."""

    value: Json
    trust: Trust
    source: str  # `host`, `user`, `model`, or the type that a result yielded, such as `crm.id`
    at: int  # microseconds since 1970 in UTC
    call_id: str = ""  # whose result, or which call of `run_set_field`

    @property
    def is_spoken(self) -> bool:
        """Whether it is the word of a host, or of a user by a host: a name alone is none."""
        return self.trust is Trust.HOST and self.source in ("host", "user")

    @property
    def is_borne_out(self) -> bool:
        """Whether there is more than the word of a model for it: a host's, or a result."""
        return self.is_spoken or self.source not in SPEAKERS

    @property
    def is_known(self) -> bool:
        """Whether rules may go by it: a host has said so, or a result that no others can write."""
        return self.is_borne_out and self.trust is not Trust.HINT


@value
class Evidence:
    """A piece of evidence that a retrieval brought: a reference, never the text itself."""

    source: str
    version: str = ""
    chunk: str = ""
    call_id: str = ""
    at: int = 0
    tool: str = ""  # `server.name`; empty for what needs no tool to be seen


@value
class Holder:
    """A run around another one that lets it not go on."""

    run_id: str
    is_over: bool  # else it is paused

    @property
    def stands(self) -> str:
        """How it stands, in a word."""
        return "over" if self.is_over else "paused"


@value
class Run:
    """One run as its row says; times are whole microseconds since 1970 in UTC, 0 for none."""

    run_id: str
    tenant: str
    owner: str  # keyed digest of the principal that it belongs to
    user: str  # on whose behalf; `is_of_user`: all principals of this user may use it
    is_of_user: bool = False
    roles: frozenset[str] = frozenset()  # of the actor, when the run was made
    scopes: frozenset[str] = frozenset()
    client: str = ""
    task_id: str = ""  # the host's own name for the work
    objective: str = ""
    template: str = ""
    mode: Mode = Mode.AUTO
    phase: Phase = Phase.CREATED
    resume_phase: Phase | None = None  # where it goes on once nobody has to decide any more
    is_paused: bool = False
    stop_reason: StopReason | None = None
    note: str = ""  # why it was paused, stopped or handed over: words of a person or model
    parent: str = ""  # the run whose sub-agent works in this one
    fields: Mapping[str, Collected] = field(default_factory=dict[str, Collected])
    is_tainted: bool = False  # a result that others can write was returned in it
    version: int = 0
    created_at: int = 0
    active_at: int = 0  # the last call
    ends_at: int = 0  # by its limit of wall time; 0: none
    idle_s: float = 0.0  # stopped as blocked after so long without a call; 0: never
    finished_at: int = 0
    evidence: int = 0  # how many references were collected
    calls: int = 0
    tokens: int = 0
    # Counted when it is read, where a guard needs them:
    open_ops: int = 0  # operations under way, or of which nobody knows
    pending_approvals: int = 0
    verified: tuple[str, ...] = ()  # tools of which a write was verified, as `server.name`
    succeeded: tuple[str, ...] = ()  # tools of which a write succeeded
    # Looked up when it is read for a call:
    held_by: Holder | None = None  # the nearest run around it that is paused or over


@value
class Bound:
    """A call's run, and how it was found."""

    run: Run
    kind: BindingKind


@value
class Place:
    """Where a call may find its run: of a sure kind the id of one, else a value that finds one."""

    kind: BindingKind
    value: str


@value
class Attempt:
    """By what requests to start a run, or to tell of a turn, are known for the same one."""

    owner: str  # keyed digest of who asks: another one's key is another key
    key: str  # of his own
    body: str  # digest of all that he asks for


class Only(StrEnum):
    """What alone a phase lets through of calls that may change something."""

    APPROVED = "approved"  # what people have decided about, and what they are to be asked about
    RETRY = "retry"  # an operation that was not carried out, once more


@value
class Passage:
    """How a call passes its run: good for the version that it was judged by, and for no other."""

    run: Run  # as it was judged, counts included where the call moves it
    move_to: Phase | None = None  # in the transaction that takes the operation
    only: Only | None = None
