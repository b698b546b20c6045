"""What each phase of a run allows, as one table, and what that means for one call.

The table is the enforcement of runs; whether a phase is entered at all is `gateway.runs.moves`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.runs import moves
from gateway.runs.moves import Blocked
from gateway.runs.templates import Template
from gateway.types.causes import Cause
from gateway.types.runs import BindingKind, Mover, Only, Phase, Run
from gateway.types.tools import Effect, Risk
from gateway.types.values import maker, value


class Room(StrEnum):
    """What a phase has for one class of calls."""

    NONE = "none"
    FREE = "free"
    BEGINS = "begins"  # it takes the run on to retrieving
    ENTERS = "enters"  # it takes the run on to acting, where the guards of that hold
    APPROVED = "approved"  # what people decide about; of low ones, what may go on meanwhile as well
    FINALIZERS = "finalizers"  # what the template names for the end of the work
    RETRY = "retry"  # an operation that was not carried out, once more


class Kind(StrEnum):
    """The classes of calls that phases tell apart."""

    READ = "read"
    LOW_WRITE = "low_write"  # of class low or medium
    HIGH_WRITE = "high_write"  # of class high or critical, and everything destructive
    COMPENSATION = "compensation"  # asked for by a person, to undo an operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A row of the table."""

    reads: Room = Room.NONE
    low_writes: Room = Room.NONE
    high_writes: Room = Room.NONE
    compensation: Room = Room.NONE

    def room(self, kind: Kind) -> Room:
        """Return what there is for calls of a class."""
        return {
            Kind.READ: self.reads,
            Kind.LOW_WRITE: self.low_writes,
            Kind.HIGH_WRITE: self.high_writes,
            Kind.COMPENSATION: self.compensation,
        }[kind]


ALLOWS: Mapping[Phase, Allowance] = {
    Phase.CREATED: Allowance(reads=Room.BEGINS),
    Phase.PLANNING: Allowance(reads=Room.BEGINS),
    Phase.RETRIEVING: Allowance(reads=Room.FREE, low_writes=Room.ENTERS, high_writes=Room.ENTERS),
    Phase.ACTING: Allowance(
        reads=Room.FREE,
        low_writes=Room.FREE,
        high_writes=Room.FREE,
        compensation=Room.FREE,
    ),
    Phase.AWAITING_APPROVAL: Allowance(
        reads=Room.FREE, low_writes=Room.APPROVED, high_writes=Room.APPROVED
    ),
    Phase.FINALIZING: Allowance(
        reads=Room.FREE, low_writes=Room.FINALIZERS, compensation=Room.FREE
    ),
    # Whoever takes over works under an identity of his own; operators undo what has to be undone.
    Phase.COMPLETED: Allowance(compensation=Room.FREE),
    Phase.HANDOFF: Allowance(compensation=Room.FREE),
    Phase.FAILED: Allowance(
        reads=Room.FREE,
        low_writes=Room.RETRY,
        high_writes=Room.RETRY,
        compensation=Room.FREE,
    ),
}
_ROOMS: Final = {phase: {kind: row.room(kind) for kind in Kind} for phase, row in ALLOWS.items()}
# Names of the module: each look at a member of a class takes longer than all that is done with it.
_READ, _LOW_WRITE, _HIGH_WRITE, _COMPENSATION = Kind
_READS, _WRITES, _UNDOES, _FREE = Effect.READ, Effect.WRITE, Cause.COMPENSATION, Room.FREE
# Looks of the gateway's own, at what a write did: no phase stands in their way.
_OWN_LOOKS = frozenset({Cause.VERIFICATION, Cause.LOOKUP})
_WITHOUT_A_RUN = frozenset({Room.FREE, Room.BEGINS})


@value
class Need:
    """What a phase may look at of a call."""

    effect: Effect
    risk: Risk
    tool: str  # `server.name`
    cause: Cause = Cause.CALLER

    @property
    def kind(self) -> Kind:
        """The column of the table."""
        if self.cause is _UNDOES:
            return _COMPENSATION
        if self.effect is _READS:
            return _READ
        is_low = self.effect is _WRITES and self.risk.rank < Risk.HIGH.rank
        return _LOW_WRITE if is_low else _HIGH_WRITE


@value
class Go:
    """The call may go on: as it is, or together with its run."""

    phase: Phase  # in which it is made
    move_to: Phase | None = None
    only: Only | None = None


_go = maker(Go)


@value
class Terms:
    """What holds for the calls of one run, beside its row."""

    template: Template | None = None
    kind: BindingKind = BindingKind.META  # how the call has found its run
    reads_while_paused: bool = True


def allows(phase: Phase, effect: Effect, risk: Risk) -> bool:
    """Say whether a call without a run may go ahead in the phase that stands for one."""
    room = _ROOMS[phase][Need(effect=effect, risk=risk, tool="").kind]
    return room in _WITHOUT_A_RUN


def weigh(run: Run, need: Need, terms: Terms, *, now: int) -> Go | Blocked:
    """Say whether the phase of a run lets a call through; `now` in microseconds.

    Holds for the version of the run, and for its counts where the call moves it.
    """
    kind, template = need.kind, terms.template
    if need.cause in _OWN_LOOKS:
        return Go(phase=run.phase)
    if kind is _COMPENSATION:  # a person has asked for it, whether the run goes on or not
        return _within(run, need, _ROOMS[run.phase][kind])
    held = _held(run, need, terms, now)
    if held is not None:
        return held
    room = _ROOMS[run.phase][kind]
    if run.phase is Phase.AWAITING_APPROVAL and kind is not Kind.READ:
        return _waiting(run, need, template)
    if room is _FREE:  # which is what most calls find
        return _by_template(run, need, room, template)
    match room:
        case Room.BEGINS:
            return _entering(run, need, Phase.RETRIEVING, template)
        case Room.ENTERS:
            return _entering(run, need, Phase.ACTING, template)
        case Room.FINALIZERS if template is None or need.tool not in template.finalizers:
            return _blocked(run, need)
        case _:
            return _by_template(run, need, room, template)


def _held(run: Run, need: Need, terms: Terms, now: int) -> Blocked | None:
    """Say why a run does not go on at all, if that is so."""
    template = terms.template
    is_let = need.kind is _READ and terms.reads_while_paused
    if run.is_paused and not is_let:
        why = f": {run.note}" if run.note else ""
        return Blocked(
            reason=f"the run is paused{why}", next="wait until a person or the host resumes it"
        )
    holder = run.held_by
    if holder is not None and (holder.is_over or not is_let):
        return moves.held(holder)
    if moves.is_late(run, now) and not is_let:
        return moves.LATE
    if template is not None and terms.kind.is_weak and need.risk in template.explicit_for:
        return Blocked(
            reason=f"a call of class {need.risk} has to name its run",
            next="call `run_start`, and give the run that it returns with the call",
        )
    return None


def _entering(run: Run, need: Need, to: Phase, template: Template | None) -> Go | Blocked:
    """Let a call take its run on, where its mode leaves that to calls and the guards hold."""
    entered = moves.may_move(run, to, Mover.CALL, template)
    if entered is not None:
        return entered
    if template is None or template.lets(to, need.tool, is_read=need.kind is Kind.READ):
        return Go(phase=to, move_to=to)
    return _blocked(moves.in_phase(run, to), need, f"`{need.tool}` is none of its tools")


def _by_template(run: Run, need: Need, room: Room, template: Template | None) -> Go | Blocked:
    """Hold a call against the tools that a template names for a phase."""
    is_read = need.kind is _READ
    if template is None or template.lets(run.phase, need.tool, is_read=is_read):
        return _within(run, need, room)
    is_last = need.kind is Kind.LOW_WRITE and need.tool in template.finalizers
    if run.phase is Phase.ACTING and is_last:
        return _entering_the_end(run, need, template)
    return _blocked(run, need, f"`{need.tool}` is none of its tools")


def _entering_the_end(run: Run, need: Need, template: Template) -> Go | Blocked:
    blocked = moves.may_move(run, Phase.FINALIZING, Mover.CALL, template)
    if blocked is not None:
        return blocked
    if not template.lets(Phase.FINALIZING, need.tool, is_read=False):
        return _blocked(run, need, f"`{need.tool}` is none of its tools")
    return Go(phase=Phase.FINALIZING, move_to=Phase.FINALIZING)


def _waiting(run: Run, need: Need, template: Template | None) -> Go | Blocked:
    """Weigh a write while people decide: by the phase that the run comes back to.

    What waits for people in that phase may be sent and more may be asked about; the rest waits.
    """
    back = moves.in_phase(run, run.resume_phase or Phase.ACTING)
    room = _ROOMS[back.phase][need.kind]
    if room is Room.ENTERS or room is Room.NONE or back.phase is Phase.AWAITING_APPROVAL:
        return _blocked(run, need)
    if room is Room.FINALIZERS and (template is None or need.tool not in template.finalizers):
        return _blocked(run, need)
    if template is not None and not template.lets(back.phase, need.tool, is_read=False):
        return _blocked(run, need, f"`{need.tool}` is none of the tools of `{back.phase}`")
    is_free = template is not None and need.tool in template.during_wait
    if is_free and need.kind is Kind.LOW_WRITE:
        return Go(phase=run.phase)
    return Go(phase=run.phase, only=Only.APPROVED)


def _within(run: Run, need: Need, room: Room) -> Go | Blocked:
    if room is _FREE:
        return _go(phase=run.phase)
    match room:
        case Room.NONE:
            return _blocked(run, need)
        case Room.RETRY:
            return Go(phase=run.phase, only=Only.RETRY)
        case _:
            return Go(phase=run.phase)


def _blocked(run: Run, need: Need, why: str = "") -> Blocked:
    said = f"the phase `{run.phase}` allows no {_words(need)}"
    return Blocked(reason=f"{said}: {why}" if why else said, next=_NEXT.get(run.phase, ""))


def _words(need: Need) -> str:
    if need.kind is Kind.COMPENSATION:
        return "compensation"
    return f"{need.effect} of class {need.risk}"


_NEXT: Mapping[Phase, str] = {
    Phase.CREATED: "read what the work needs first",
    Phase.PLANNING: "read what the work needs first",
    Phase.AWAITING_APPROVAL: "wait until people have decided, or go on with reads",
    Phase.FINALIZING: "finish the run, or have it go back to acting first",
    Phase.COMPLETED: "the run is over; begin a new one for new work",
    Phase.HANDOFF: "the run was handed over; leave it to whoever has it now",
    Phase.FAILED: "retry what was not carried out, or hand the run over",
}
