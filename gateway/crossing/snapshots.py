"""What of a judged case the log has to hold, so that it can be judged again."""

from gateway.case import Case
from gateway.events.snapshots import Seen, Snapshot
from gateway.policy.methods import kind_of
from gateway.types.json import JsonPointer
from gateway.types.values import maker

_snapshot = maker(Snapshot)


def snapshot_of(case: Case) -> Snapshot:
    """Return what a case was judged by that follows from nothing else in its event."""
    tool, contract, facts, run = case.tool, case.contract, case.facts, case.run
    revision = case.revision
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
