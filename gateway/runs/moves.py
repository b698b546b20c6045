"""How runs change: which phase follows which, who may say so, and what pausing and ending mean.

Every change is a new value of the run; the store commits it against the version that it was made
from, with its event.
"""

from collections.abc import Mapping
from typing import Final

from gateway.runs.guards import unmet
from gateway.runs.origins import MODEL
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import (
    SPEAKERS,
    Collected,
    Holder,
    Mode,
    Mover,
    Phase,
    Run,
    StopReason,
)
from gateway.types.values import replaced, value

_SECOND: Final = 1_000_000
P, M = Phase, Mover

_BY_HAND: Final = frozenset({M.HOST, M.AGENT, M.PERSON})
_BY_ANYONE: Final = _BY_HAND | {M.CALL}
# The ways between phases, and who may take them. Into and out of `awaiting_approval` only counting
# leads (`gateway.store.passing`); `completed`, `failed` and `handoff` are ends, reached by hand.
MOVES: Final[Mapping[tuple[Phase, Phase], frozenset[Mover]]] = {
    (P.CREATED, P.PLANNING): _BY_HAND,
    (P.CREATED, P.RETRIEVING): _BY_ANYONE,
    (P.CREATED, P.ACTING): _BY_HAND,
    (P.PLANNING, P.RETRIEVING): _BY_ANYONE,
    (P.PLANNING, P.ACTING): _BY_HAND,
    (P.RETRIEVING, P.PLANNING): _BY_HAND,
    (P.RETRIEVING, P.ACTING): _BY_ANYONE,
    (P.RETRIEVING, P.FINALIZING): _BY_HAND,
    (P.ACTING, P.PLANNING): _BY_HAND,
    (P.ACTING, P.RETRIEVING): _BY_HAND,
    (P.ACTING, P.FINALIZING): _BY_ANYONE,
    (P.FINALIZING, P.RETRIEVING): _BY_HAND,
    (P.FINALIZING, P.ACTING): _BY_HAND,
}
_ENDS: Final[Mapping[Phase, StopReason]] = {
    P.COMPLETED: StopReason.COMPLETED,
    P.FAILED: StopReason.FAILED,
    P.HANDOFF: StopReason.HANDOFF,
}
# Who moves a run depends on its mode; hosts and people always may.
_IN_MODE: Final[Mapping[Mode, frozenset[Mover]]] = {
    Mode.HOST: frozenset({M.HOST, M.PERSON}),
    Mode.AGENT: frozenset({M.HOST, M.PERSON, M.AGENT}),
    Mode.AUTO: frozenset({M.HOST, M.PERSON, M.AGENT, M.CALL}),
}
_AFTER: Final[Mapping[Phase, str]] = {
    P.COMPLETED: "begin another one for new work",
    P.HANDOFF: "leave it to whoever has it now; a person or the host can resume it",
    P.FAILED: "it can be handed over, or resumed by a person or the host",
}
_GUARDED: Final = frozenset({M.AGENT, M.CALL})
_LETS_GO: Final = frozenset({M.HOST, M.PERSON})  # out of a pause, and out of what was given up


@value
class Blocked:
    """Why something does not go on, what is missing for it, and what to do next."""

    reason: str
    missing: tuple[str, ...] = ()
    next: str = ""


def refusal(met: Blocked) -> Refusal:
    """Return what a call gets that its run does not let through."""
    return Refusal(
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        reason=met.reason,
        next=met.next,
        details=tuple({"missing": each} for each in met.missing),
    )


def over(run: Run) -> Blocked:
    """Return why a run at its end does not change, and what there is to do instead."""
    return Blocked(reason=f"the run is over: it is `{run.phase}`", next=_AFTER.get(run.phase, ""))


def may_move(run: Run, to: Phase, by: Mover, template: Template | None) -> Blocked | None:
    """Say why a run may not go on to a phase; None where it may. Not for ends: see `ended`."""
    if run.is_paused:
        return Blocked(reason="the run is paused", next="a person or the host has to resume it")
    if run.phase.is_final:
        return over(run)
    if run.held_by is not None and by in _GUARDED:
        return held(run.held_by)
    allowed = MOVES.get((run.phase, to), frozenset())
    if by not in allowed:
        return Blocked(
            reason=f"the phase `{run.phase}` does not lead on to `{to}`", next=_ways(run.phase, by)
        )
    if by not in _IN_MODE[run.mode]:
        whose = "its host moves" if run.mode is Mode.HOST else "`run_set_phase` moves"
        return Blocked(
            reason=f"the run is in `{run.phase}`, and {whose} it on to `{to}`",
            next=f"have the run moved to `{to}` first",
        )
    missing = unmet(_guards(template, to), run) if by in _GUARDED else ()
    return _missing(to, missing, by) if missing else None


def moved(run: Run, to: Phase, by: Mover, template: Template | None, *, now: int) -> Run | Blocked:
    """Return a run in another phase, or why it can't go there; `now` in microseconds."""
    blocked = may_move(run, to, by, template)
    if blocked is None and by in _GUARDED and is_late(run, now):
        blocked = LATE
    return blocked if blocked is not None else replaced(run, phase=to, active_at=now)


def in_phase(run: Run, phase: Phase) -> Run:
    """Return the run as it would be in a phase."""
    return replaced(run, phase=phase)


def ended(
    run: Run, to: Phase, by: Mover, template: Template | None, *, now: int, note: str = ""
) -> Run | Blocked:
    """Return a run at its end: `completed`, `failed` or `handoff`; or why that can't be said.

    Completed is only what has nothing open, and what the template wants done, whoever says it. A
    failed run can be handed over. Hosts and people end a paused run as any other; its model only
    hands it over, and a pause it stays. So it is with a run whose time is over, or that is inside
    of one which is paused or over.
    """
    if to not in _ENDS:
        return Blocked(reason=f"`{to}` is not the end of a run")
    is_left = run.phase is Phase.FAILED and to is Phase.HANDOFF
    if run.phase.is_final and not is_left:
        return over(run)
    if by not in _LETS_GO and to is not Phase.HANDOFF:
        stopped = _stopped(run, now)
        if stopped is not None:
            return stopped
    if to is Phase.COMPLETED:
        blocked = _incomplete(run, by, template)
        if blocked is not None:
            return blocked
    return replaced(
        run,
        phase=to,
        resume_phase=None,
        is_paused=run.is_paused and by not in _LETS_GO,
        stop_reason=_ENDS[to],
        note=note,
        active_at=now,
        finished_at=now,
    )


def paused(run: Run, *, note: str = "") -> Run | Blocked:
    """Return a run that lets no write through until it is resumed; its phase is kept."""
    if run.phase.is_final:
        return over(run)
    if run.is_paused:
        return Blocked(reason="the run is paused already")
    return replaced(run, is_paused=True, note=note)


def blocked(run: Run, *, note: str) -> Run | Blocked:
    """Return a run that was stopped without having failed, because something is missing."""
    if run.phase.is_final:
        return over(run)
    if run.stop_reason is StopReason.BLOCKED:
        return Blocked(reason="the run is blocked already")
    return replaced(run, is_paused=True, stop_reason=StopReason.BLOCKED, note=note)


def lapsed(run: Run, *, note: str, now: int) -> Run | Blocked:
    """Return a paused or blocked run at its end: nobody has come back to it."""
    if run.phase.is_final:
        return over(run)
    if not run.is_paused:
        return Blocked(reason="the run is not paused")
    return replaced(
        run,
        phase=Phase.FAILED,
        resume_phase=None,
        is_paused=False,
        stop_reason=StopReason.FAILED,
        note=note,
        finished_at=now,
    )


def resumed(run: Run, template: Template | None, *, now: int) -> Run | Blocked:
    """Return a run that goes on in its phase; one whose time was over has all of it again.

    What was given up or handed over goes on as well, and has its guards met anew.
    """
    if run.phase is Phase.COMPLETED:
        return over(run)
    was_over = run.phase.is_final
    if not run.is_paused and not was_over:
        return Blocked(reason="the run is not paused")
    back = replaced(
        run,
        phase=Phase.RETRIEVING if was_over else run.phase,
        is_paused=False,
        stop_reason=None,
        note="",
        active_at=now,
        finished_at=0,
    )
    wall_s = template.wall_s if template is not None else 0.0
    again = now + round(wall_s * _SECOND) if wall_s else 0
    return replaced(back, ends_at=again) if is_late(back, now) else back


def collected(run: Run, name: str, field: Collected, template: Template | None) -> Run | Blocked:
    """Return a run with one more field; a template says which there are, and where from."""
    if run.phase.is_final:
        return over(run)
    if template is not None:
        rule = template.fields.get(name)
        if rule is None:
            known = ", ".join(f"`{each}`" for each in sorted(template.fields)) or "none"
            return Blocked(
                reason=f"`{name}` is no field of `{template.name}`", next=f"its fields: {known}"
            )
        if rule.sources and field.source not in rule.sources:
            wanted = " or ".join(f"`{each}`" for each in rule.sources)
            return Blocked(
                reason=f"`{name}` has to come from {wanted}, not from `{field.source}`",
                next=_spoken(rule, field.source),
            )
    return replaced(run, fields={**run.fields, name: field})


def left_open(run: Run) -> tuple[str, ...]:
    """Say what a run has begun and not ended: operations, and requests to people."""
    ops, asked = run.open_ops, run.pending_approvals
    said: list[str] = []
    if ops:
        way, whose = ("is", "it") if ops == 1 else ("are", "they")
        many = f"{ops} operation{'' if ops == 1 else 's'}"
        said.append(f"{many} {way} under way, or nobody knows how {whose} ended")
    if asked:
        said.append(f"{asked} request{' has' if asked == 1 else 's have'} to be decided")
    return tuple(said)


def is_late(run: Run, now: int) -> bool:
    """Whether the wall time of a run is over."""
    return 0 < run.ends_at <= now and not run.phase.is_final


def is_idle(run: Run, now: int) -> bool:
    """Whether nothing was called for too long; what people take to decide is not counted."""
    waits = run.phase is Phase.AWAITING_APPROVAL or run.phase.is_final
    return run.idle_s > 0 and not waits and run.active_at + round(run.idle_s * _SECOND) < now


def _spoken(rule: FieldRule, source: str) -> str:
    """Say what somebody does whose word is not taken for a field."""
    if source != MODEL:
        heard = [each for each in rule.sources if each in SPEAKERS]
        return f"if it is the word of the {' or '.join(heard)}, say so" if heard else ""
    types = [f"`{each}`" for each in rule.sources if each not in SPEAKERS]
    if types:
        return f"look it up with a tool that returns {' or '.join(types)}, in this run"
    return "ask the user: only the host can set it"


def _ways(phase: Phase, by: Mover) -> str:
    """Say where somebody may take a run from a phase."""
    if phase is Phase.AWAITING_APPROVAL:
        return "wait until people have decided; it goes back by itself"
    ways = [f"`{to}`" for (at, to), movers in MOVES.items() if at is phase and by in movers]
    return f"from there it goes to {' or '.join(ways)}" if ways else ""


def _stopped(run: Run, now: int) -> Blocked | None:
    """Say why a model has to leave a run as it is, if that is so."""
    if run.is_paused:
        return Blocked(reason="the run is paused", next="wait until it is resumed, or hand it over")
    if run.held_by is not None:
        return held(run.held_by)
    return LATE if is_late(run, now) else None


def held(by: Holder) -> Blocked:
    """Return why a run does not go on that is inside of one which is paused or over."""
    return Blocked(
        reason=f"the run `{by.run_id}` around this one is {by.stands}",
        next="wait until a person or the host resumes that one",
    )


LATE: Final = Blocked(
    reason="the time of the run is over", next="hand it over, or have a person resume it"
)


def _guards(template: Template | None, phase: Phase) -> tuple[Guard, ...]:
    return template.guards(phase) if template is not None else ()


def _incomplete(run: Run, by: Mover, template: Template | None) -> Blocked | None:
    if run.is_paused:
        return Blocked(reason="the run is paused", next="a person or the host has to resume it")
    if by is Mover.AGENT and run.mode is Mode.HOST:
        return Blocked(
            reason="the host says when this run is completed",
            next="tell the user what you have done, and leave the rest to the host",
        )
    missing = left_open(run) + unmet(_guards(template, Phase.COMPLETED), run)
    return _missing(Phase.COMPLETED, missing, by) if missing else None


def _missing(to: Phase, missing: tuple[str, ...], by: Mover) -> Blocked:
    told = "; ".join(missing)
    how = " (`run_status` says how)" if by in _GUARDED else ""
    return Blocked(
        reason=f"the run is not ready to be `{to}`: {told}",
        missing=missing,
        next=f"see to what is missing{how}, then call again",
    )
