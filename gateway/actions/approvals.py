"""What programs are told of requests for approval, and how one is found by what people type."""

from collections.abc import Sequence
from typing import Protocol

from gateway.approvals import clauses
from gateway.approvals.binding import short
from gateway.approvals.lines import Row
from gateway.approvals.matching import missing
from gateway.errors import WeighbridgeError
from gateway.store.times import moment
from gateway.types.approvals import Approval, Factor, Vote
from gateway.types.json import Json, JsonObject


class ApprovalRefused(WeighbridgeError):
    """What was asked of a request can't be done with it; one line with the mend."""


class Reading(Protocol):
    """The table of requests, as far as one is looked up; raises StoreUnavailable."""

    async def get(self, approval_id: str) -> Approval | None:
        """Return one request."""
        ...


async def named(approvals: Reading, approval_id: str) -> Approval:
    """Return a request by its id; raises ApprovalRefused for one that isn't there."""
    found = await approvals.get(approval_id)
    if found is None:
        raise ApprovalRefused(
            f"there is no request `{approval_id}`; see `weighbridge approvals list`"
        )
    return found


def lacks(approval: Approval, votes: Sequence[Vote]) -> tuple[tuple[Factor, int], ...]:
    """Return who still has to say yes, by the votes so far."""
    return missing(approval.clause, votes, escalated=approval.escalated, requester=approval.user)


def as_json(approval: Approval) -> JsonObject:
    """Return a request for programs; nothing that is sealed, and times in UTC."""
    return {
        "approval_id": approval.approval_id,
        "op_id": approval.op_id,
        "state": approval.state.value,
        "reason": approval.closed_reason,
        "tenant": approval.tenant,
        "user": approval.user,
        "client": approval.client,
        "run_id": approval.run_id,
        "tool": approval.tool,
        "call_id": approval.call_id,
        "risk": approval.risk,
        "rule": approval.rule,
        "revision": approval.revision,
        "clause": clauses.to_json(approval.clause),
        "escalated": approval.escalated,
        "execute": approval.execute.value,
        "binding": approval.binding,
        "binding_short": short(approval.binding),
        "presented_digest": approval.presented_digest,
        "replaces": approval.replaces,
        "consumed_by": approval.consumed_by,
        "created_at": _time(approval.created_at),
        "not_before": _time(approval.not_before),
        "decide_by": _time(approval.decide_by),
        "decided_at": _time(approval.decided_at),
        "use_by": _time(approval.use_by),
        "left_at": _time(approval.left_at),
    }


def vote_as_json(vote: Vote) -> JsonObject:
    """Return a vote for programs."""
    return {
        "user": vote.user,
        "choice": vote.choice.value,
        "reason": vote.reason,
        "channel": vote.channel.value,
        "assurance": vote.assurance.value,
        "issuer": vote.issuer,
        "roles": list[Json](sorted(vote.roles)),
        "at": _time(vote.at),
    }


def lacks_as_json(open_factors: Sequence[tuple[Factor, int]]) -> list[Json]:
    """Return for programs who still has to say yes."""
    return [
        {"roles": list[Json](each.roles), "users": list[Json](each.users), "count": count}
        for each, count in open_factors
    ]


def row_as_json(row: Row) -> JsonObject:
    """Return a line of what approvers are shown, for programs."""
    return {
        "group": row.group.value,
        "label": row.label,
        "text": row.whole if row.long else row.text,
        "marks": list[Json](row.marks.notes),
    }


def _time(at: int) -> Json:
    """Return a time of the store in UTC; None for none, and for one that no calendar has."""
    try:
        return moment(at).isoformat(timespec="seconds") if at else None
    except OverflowError:
        return None
