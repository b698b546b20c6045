"""What the pages say of runs: values for templates. Every text from outside is `visible` here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.actions.timeline import Line
from gateway.admin.redacted import pairs, shown
from gateway.admin.run_timeline import PHASES, Timeline, timeline
from gateway.admin.showing import Moment, moment_of
from gateway.approvals.visible import visible
from gateway.runs.handover import Deed, Package
from gateway.types.runs import Phase, Run, StopReason

_TITLE: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCard:
    """A run in a list."""

    run_id: str
    title: str
    phase: str
    phase_words: str
    is_paused: bool
    is_blocked: bool
    template: str
    user: str
    begun: Moment
    active: Moment
    calls: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One operation."""

    op_id: str
    tool: str
    state: str
    check: str
    arguments: Sequence[tuple[str, str]]
    is_unknown: bool
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One field."""

    name: str
    value: str
    source: str
    trust: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One request that is not decided."""

    approval_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSheet:
    """A run on its own page."""

    card: RunCard
    objective: str
    task: str
    mode: str
    tainted: bool
    tokens: int
    work: Sequence[Work]
    waiting: Sequence[Waiting]
    fields: Sequence[Known]
    missing: Sequence[tuple[str, str]]
    evidence: Sequence[str]
    next: Sequence[str]
    timeline: Timeline
    can_pause: bool
    can_resume: bool
    can_hand_over: bool


def card(run: Run, now: int) -> RunCard:
    """Return a run for a list."""
    title = visible(run.objective or run.task_id or run.run_id)
    return RunCard(
        run_id=run.run_id,
        title=title if len(title) <= _TITLE else f"{title[:_TITLE]}…",
        phase=run.phase.value,
        phase_words=PHASES[run.phase],
        is_paused=run.is_paused,
        is_blocked=run.stop_reason is StopReason.BLOCKED,
        template=visible(run.template),
        user=visible(run.user),
        begun=moment_of(run.created_at, now),
        active=moment_of(run.active_at, now),
        calls=run.calls,
        note=visible(run.note),
    )


def sheet(
    package: Package,
    missing: Mapping[str, Sequence[str]],
    lines: Sequence[Line],
    now: int,
    *,
    may_change: bool = True,
) -> RunSheet:
    """Return a run with all that there is to see of it, and what whoever looks may do with it."""
    run = package.run
    is_over = run.phase.is_final
    return RunSheet(
        card=card(run, now),
        objective=visible(run.objective),
        task=visible(run.task_id),
        mode=run.mode.value,
        tainted=run.is_tainted,
        tokens=run.tokens,
        work=[_work(each) for each in (*package.unknown, *package.deeds)],
        waiting=[
            Waiting(approval_id=each.approval_id, tool=visible(each.tool))
            for each in package.approvals
        ],
        fields=[
            Known(
                name=each.name,
                value=shown(each.value),
                source=visible(each.source),
                trust=each.trust.value,
            )
            for each in package.fields
        ],
        missing=[(phase, ", ".join(map(visible, texts))) for phase, texts in missing.items()],
        evidence=[
            visible(" · ".join(part for part in (each.source, each.version, each.chunk) if part))
            for each in package.evidence
        ],
        next=[visible(each) for each in package.next],
        timeline=timeline(lines),
        can_pause=may_change and not is_over and not run.is_paused,
        can_resume=may_change and (run.is_paused or run.phase in (Phase.FAILED, Phase.HANDOFF)),
        can_hand_over=may_change and (not is_over or run.phase is Phase.FAILED),
    )


def _work(deed: Deed) -> Work:
    op = deed.operation
    return Work(
        op_id=op.op_id,
        tool=visible(op.tool),
        state=op.state.value,
        check=op.verification.value,
        arguments=pairs(deed.arguments),
        is_unknown=deed.is_unknown,
        evidence=visible(op.evidence),
    )
