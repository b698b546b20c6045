"""What of a judged case the log has to hold, so that it can be judged again."""

from datetime import datetime

from gateway.case import Case
from gateway.events.snapshots import ANY_TIME, Seen, Snapshot
from gateway.policy.methods import kind_of
from gateway.types.calls import Method
from gateway.types.json import JsonPointer
from gateway.types.tools import Kind
from gateway.types.values import maker

_snapshot = maker(Snapshot)


def snapshot_of(case: Case, at: datetime) -> Snapshot | None:
    """Return what a case was judged by that follows from nothing else in its event of `at`.

    None for most reads, where that is nothing.
    """
    tool, contract, facts, run = case.tool, case.contract, case.facts, case.run
    revision = case.revision
    if (
        run is None
        and not (case.held or facts.origins or facts.is_tainted or contract.provenance)
        and not (revision.reads_now or case.decision.limits)
        and tool.pin == contract.pin
        and tool.kind is Kind.TOOL
        and case.call.method is Method.CALL_TOOL
        and at - facts.now <= ANY_TIME
    ):
        return None
    return _snapshot(
        received=facts.now,
        is_timed=(
            revision.reads_now
            or run is not None
            or bool(contract.provenance)
            or bool(case.decision.limits)
        ),
        pin="" if tool.pin == contract.pin else tool.pin,
        kind=None if tool.kind is kind_of(case.call.method) else tool.kind,
        held=case.held,
        is_tainted=facts.is_tainted,
        origins=_seen(case) if facts.origins else None,
        run=run,
        bound_by=case.bound_by,
        reads_while_paused=case.reads_while_paused,
        names_objective=revision.names_objective,
    )


def _seen(case: Case) -> dict[JsonPointer, tuple[Seen, ...]]:
    return {
        pointer: tuple(
            Seen(type=each.type, trust=each.trust, record=each.record, is_exact=each.is_exact)
            for each in some
        )
        for pointer, some in case.facts.origins.items()
    }
