"""What surfaces tell of runs: for programs as `/v1` has it, and the package of a hand-over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.client import wire
from gateway.runs import handover
from gateway.runs.guards import unmet
from gateway.runs.handover import Deed, Package, Reach, Receiver, Remains
from gateway.runs.moves import MOVES
from gateway.runs.templates import Template
from gateway.store.approvals import ApprovalFilter, Approvals
from gateway.store.operations import OperationFilter, Operations
from gateway.store.runs import Runs
from gateway.store.times import moment
from gateway.types.json import Json
from gateway.types.runs import Mover, Phase, Run
from gateway.types.tools import Contract

MOST: Final = 1_000  # operations, or requests, that are gathered of one run


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Gathers what there is of runs; raises StoreUnavailable."""

    runs: Runs
    operations: Operations
    approvals: Approvals

    async def remains(self, run: Run, template: Template | None) -> Remains:
        """Return what is there of a run."""
        return Remains(
            run=run,
            template=template,
            operations=await self.operations.find(OperationFilter(run=run.run_id, limit=MOST)),
            approvals=await self.approvals.find(ApprovalFilter(run=run.run_id, limit=MOST)),
            evidence=await self.runs.evidence(run.run_id),
        )

    async def package(
        self,
        run: Run,
        template: Template | None,
        receiver: Receiver,
        contracts: Mapping[str, Contract],
    ) -> Package:
        """Return what a receiver may see of a run that he takes over."""
        remains = await self.remains(run, template)
        return handover.package(remains, receiver, reach(contracts))


def reach(contracts: Mapping[str, Contract]) -> Reach:
    """Return what values take to be seen."""
    types: dict[str, list[frozenset[str]]] = {}
    for each in contracts.values():
        for found in each.yields:
            types.setdefault(found.type, []).append(each.scopes)
    return Reach(tools={name: each.scopes for name, each in contracts.items()}, types=types)


def missing(run: Run, template: Template | None) -> dict[str, list[str]]:
    """Return by phase that a run could enter next which of its guards don't hold."""
    found: dict[str, list[str]] = {}
    if template is None or run.phase.is_final:
        return found
    nexts = [to for (at, to), by in MOVES.items() if at is run.phase and Mover.AGENT in by]
    for phase in [*nexts, Phase.COMPLETED]:
        lacks = unmet(template.guards(phase), run)
        if lacks:
            found[phase.value] = list(lacks)
    return found


def handed(reason: str, to: str) -> str:
    """Return the note of a run that is handed over, with whom it is for."""
    return f"for {to}: {reason}" if to else reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Who is told of runs, and what values take to be seen."""

    receiver: Receiver
    reach: Reach


ALL: Final = Sight(receiver=Receiver(), reach=Reach(tools={}))
"""The sight of whoever has the store before him."""


def state(run: Run, template: Template | None, sight: Sight) -> wire.RunState:
    """Return a run as hosts see it."""
    return wire.RunState(
        **dict(brief(run, sight)),
        held_by=run.held_by.run_id if run.held_by is not None else "",
        open_operations=run.open_ops,
        pending_approvals=run.pending_approvals,
        missing=missing(run, template),
    )


def brief(run: Run, sight: Sight) -> wire.RunBrief:
    """Return a run as its row says, but for values that are withheld."""
    return wire.RunBrief(
        run_id=run.run_id,
        version=run.version,
        tenant=run.tenant,
        user=run.user,
        client=run.client,
        task_id=run.task_id,
        objective=run.objective,
        template=run.template,
        mode=run.mode,
        phase=run.phase,
        resume_phase=run.resume_phase,
        is_paused=run.is_paused,
        stop_reason=run.stop_reason,
        note=run.note,
        parent=run.parent,
        fields=_fields(run, sight),
        is_tainted=run.is_tainted,
        evidence=run.evidence,
        calls=run.calls,
        tokens=run.tokens,
        created_at=moment(run.created_at),
        active_at=moment(run.active_at),
        ends_at=_when(run.ends_at),
        finished_at=_when(run.finished_at),
    )


def _fields(run: Run, sight: Sight) -> dict[str, wire.FieldState]:
    return {
        each.name: wire.FieldState(
            value=_plain(each.value),
            is_withheld=each.is_withheld,
            trust=each.trust,
            source=each.source,
            at=moment(run.fields[each.name].at),
            call_id=run.fields[each.name].call_id,
        )
        for each in handover.given(run, sight.receiver, sight.reach)
    }


def packaged(package: Package, *, page: str = "") -> wire.Package:
    """Return a package as programs see it; `page` is where requests are decided, if anywhere."""
    run = package.run
    return wire.Package(
        run_id=run.run_id,
        objective=run.objective,
        user=run.user,
        template=run.template,
        phase=run.phase,
        is_paused=run.is_paused,
        stop_reason=run.stop_reason,
        reason=package.reason,
        unknown=_deeds(package.unknown),
        operations=_deeds(package.deeds),
        approvals=[
            wire.PackageApproval(
                approval_id=each.approval_id,
                tool=each.tool,
                decide_by=_when(each.decide_by),
                url=f"{page}/approvals/{each.approval_id}" if page else "",
            )
            for each in package.approvals
        ],
        fields=[
            wire.PackageField(
                name=each.name,
                value=_plain(each.value),
                is_withheld=each.is_withheld,
                trust=each.trust,
                source=each.source,
            )
            for each in package.fields
        ],
        missing=list(package.missing),
        evidence=[
            wire.PackageEvidence(source=each.source, version=each.version, chunk=each.chunk)
            for each in package.evidence
        ],
        withheld=package.withheld,
        next=list(package.next),
    )


def _deeds(deeds: Sequence[Deed]) -> list[wire.PackageOperation]:
    return [
        wire.PackageOperation(
            op_id=each.operation.op_id,
            tool=each.operation.tool,
            state=each.operation.state.value,
            verification=each.operation.verification.value,
            is_unknown=each.is_unknown,
            arguments=_plain(each.arguments),
            evidence=each.operation.evidence,
            at=moment(each.operation.created_at),
        )
        for each in deeds
    ]


def _when(at: int) -> datetime | None:
    """Return a kept time; None for none, and for one that no calendar has."""
    try:
        return moment(at) if at else None
    except OverflowError:
        return None


def _plain(value: Json) -> wire.Json:
    """Return a value as JSON has it: a number that a float can't carry becomes a text."""
    match value:
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case str() | bool() | int() | float() | None:
            return value
        case _:
            return str(value)
