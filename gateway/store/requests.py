"""What the claim of a call that people decide does: ask, come back for it, use it up.

All of it is part of the transaction of the claim (`gateway.store.claims`), so that nothing can be
decided or sent in between, and all of it bears repeating.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Final

from gateway.approvals.ballot import is_late, proposer, use_until
from gateway.approvals.matching import satisfied
from gateway.store.approval_rows import approval_of, notice_row, row_of, vote_of, vote_row
from gateway.store.engine import Transaction
from gateway.store.rows import clean, operation_of
from gateway.store.rows import row_of as operation_row
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Assurance,
    Cast,
    Choice,
    Notice,
    Ruling,
    Vote,
)
from gateway.types.events import Event, Stage
from gateway.types.operations import Operation, OpState
from gateway.types.values import replaced, value

VARIANT: Final = "contract.on_variant"  # the rule of a request that only a contract makes
REPEAT: Final = "contract.repeat"
OF_CONTRACTS: Final = frozenset({VARIANT, REPEAT})
MOST_PENDING: Final = "pending_approvals"  # the limit of undecided requests
MOST_REQUESTS: Final = "too_many_requests"  # the limit of requests in an hour, however they ended
_FATIGUE_S: Final = 60.0
_HOUR: Final = 3_600_000_000  # in microseconds


@value
class Asking:
    """How people are asked about one call, where a rule or its contract has them asked."""

    clause: ApprovalClause  # who has to say yes, by the rules of now
    tenant: str
    user: str  # who asks
    binding: Callable[[str], str]
    """The binding under the id of an operation."""
    was_like_this: Callable[[Operation, Approval], bool]
    """Whether an earlier request, of an operation, was about this call but for its arguments."""
    made: Callable[[Operation, Operation | None], Approval]
    """The request for an operation, and against what it took the place of; the same each time."""
    tells: Callable[[Approval, Stage], Sequence[Event]]
    """The events of a stage, under the same ids each time."""
    voted: Callable[[Ruling, Vote], Sequence[Event]]
    """The events of a vote that was given with an earlier denial; the same each time."""
    notices: Callable[[Approval, Stage], Sequence[Notice]]
    """Whom to tell of a stage; the same each time."""
    most_pending: int
    most_requests: int = 60  # in an hour
    is_due: bool = True  # else people are asked only about what the contract wants them to
    denies_new_pin: bool = False


@value
class Telling:
    """How the end of a request is told that a call finds, where nobody is asked about the call."""

    tells: Callable[[Approval, Stage], Sequence[Event]]
    """The events of a stage, under the same ids each time."""
    notices: Callable[[Approval, Stage], Sequence[Notice]]
    """Whom to tell of a stage; the same each time."""


@value
class Held:
    """A call that is not sent now, and the request that it waits for."""

    operation: Operation
    approval: Approval


@value
class Enough:
    """An approved request that may be used up for this call."""

    approval: Approval


@value
class Over:
    """A call nobody has to decide about any more, or not yet, and what became of its request."""

    operation: Operation
    approval: Approval
    state: ApprovalState


class TooMany(Exception):
    """The requester has asked for as much as he may have people asked: at once, or lately."""

    def __init__(self, limit: str, retry_after_s: float) -> None:
        super().__init__(limit)
        self.limit = limit
        self.retry_after_s = retry_after_s


@value
class Desk:
    """One transaction, and what it tells when it is committed; `now` in microseconds."""

    transaction: Transaction
    now: int
    told: list[Event]
    runs: set[str] = field(default_factory=set[str])
    """Those whose requests were made or ended here, and an empty text for calls without one."""

    def tell(self, asking: Asking | Telling, approval: Approval, stage: Stage) -> None:
        """Keep the events of a stage, and owe its notices."""
        self.told.extend(asking.tells(approval, stage))
        self.owe(asking, approval, stage)

    def owe(self, asking: Asking | Telling, approval: Approval, stage: Stage) -> None:
        """Owe the notices of a stage."""
        rows = [notice_row(each) for each in asking.notices(approval, stage)]
        self.transaction.execute_many("add_notice", rows)


def newest(desk: Desk, op_id: str) -> Approval | None:
    """Return the last request of an operation."""
    rows = desk.transaction.fetch("newest_approval", {"op_id": op_id})
    return approval_of(rows[0]) if rows else None


def votes_of(desk: Desk, approval: Approval) -> list[Vote]:
    """Return the votes on a request."""
    rows = desk.transaction.fetch("votes", {"approval_id": approval.approval_id})
    return [vote_of(row) for row in rows]


def ask(
    desk: Desk,
    operation: Operation,
    asking: Asking,
    *,
    earlier: Operation | None = None,
    replaces: Approval | None = None,
    rule: str = "",
) -> Held | Enough:
    """Ask people about an operation whose row says that it waits; raises `TooMany`.

    Where an approver proposed exactly this call, his word counts from the start.
    """
    full = exceeded(desk, asking)
    if full is not None:
        raise full
    made = asking.made(operation, earlier)
    approval = replaced(
        made,
        rule=rule or made.rule,
        replaces=replaces.approval_id if replaces is not None else "",
    )
    desk.transaction.execute("add_approval", row_of(approval))
    desk.runs.add(approval.run_id)
    desk.tell(asking, approval, Stage.REQUESTED)
    return _proposed(desk, operation, approval, asking)


def exceeded(desk: Desk, asking: Asking, replaced: Approval | None = None) -> TooMany | None:
    """Say why no more people may be asked for a requester now; `replaced` makes room by its end."""
    named = {"tenant": clean(asking.tenant), "requester": clean(asking.user)}
    pending = desk.transaction.fetch("count_pending", named)[0].integer("many")
    freed = replaced is not None and replaced.state is ApprovalState.PENDING
    if pending - freed >= asking.most_pending:
        return TooMany(MOST_PENDING, _FATIGUE_S)
    lately = {**named, "since": desk.now - _HOUR}
    row = desk.transaction.fetch("count_requested", lately)[0]
    if row.integer("many") < asking.most_requests:
        return None
    return TooMany(MOST_REQUESTS, (row.integer("oldest") + _HOUR - desk.now) / 1e6)


def denied(desk: Desk, wanted: Operation) -> Operation | None:
    """Return the same call under another key that people have denied, as long as that counts.

    None also where an approver has said since that he would rather have just this call.
    """
    row = operation_row(wanted)
    named = {name: row[name] for name in ("tenant", "scope", "tool", "args_hash")}
    rows = desk.transaction.fetch("denied_operation", {**named, "now": desk.now})
    if not rows:
        return None
    found = operation_of(rows[0])
    proposed = _proposal(desk, wanted)
    is_proposed = proposed is not None and proposed.decided_at >= found.settled_at
    return None if is_proposed else found


def _proposal(desk: Desk, operation: Operation) -> Approval | None:
    """Return the newest denial whose approver would rather have had this call."""
    rows = desk.transaction.fetch(
        "proposed_approval",
        {
            "proposal_hash": operation.key.arguments,
            "tenant": clean(operation.tenant),
            "tool": clean(operation.tool),
            "scope": operation.key.scope,
            "now": desk.now,
        },
    )
    return approval_of(rows[0]) if rows else None


def _proposed(
    desk: Desk, operation: Operation, approval: Approval, asking: Asking
) -> Held | Enough:
    """Count the vote of whoever proposed this call when he said no to another one."""
    before = _proposal(desk, operation)
    if before is None:
        return Held(operation=operation, approval=approval)
    desk.transaction.execute("take_proposal", {"approval_id": before.approval_id})
    denied = desk.transaction.fetch("get_operation", {"op_id": before.op_id})
    if not denied or not asking.was_like_this(operation_of(denied[0]), before):
        # The tool or its contract is another one than the approver saw.
        return Held(operation=operation, approval=approval)
    proposed = proposer(before, votes_of(desk, before))
    if proposed is None:  # others who said no have said nothing about this call
        return Held(operation=operation, approval=approval)
    vote = _as_yes(proposed, approval, desk.now)
    desk.transaction.execute("add_vote", vote_row(vote))
    is_enough = desk.now >= approval.not_before and satisfied(
        approval.clause, [vote], escalated=0, requester=approval.user
    )
    if not is_enough:
        counted = Ruling(cast=Cast.COUNTED, approval=approval, votes=(vote,))
        desk.told.extend(asking.voted(counted, vote))
        return Held(operation=operation, approval=approval)
    return _approved_by(desk, vote, approval, asking)


def _approved_by(desk: Desk, vote: Vote, approval: Approval, asking: Asking) -> Enough:
    """Note that the one vote that came with the request is enough."""
    use_by = use_until(approval, desk.now)
    approved = replaced(
        approval, state=ApprovalState.APPROVED, decided_at=desk.now, use_by=use_by, version=1
    )
    desk.transaction.execute(
        "approve_approval",
        {"approval_id": approval.approval_id, "now": desk.now, "use_by": use_by},
    )
    ruling = Ruling(cast=Cast.APPROVED, approval=approved, votes=(vote,))
    desk.told.extend(asking.voted(ruling, vote))
    desk.owe(asking, approved, Stage.DECIDED)
    return Enough(approval=approved)


def _as_yes(vote: Vote, approval: Approval, now: int) -> Vote:
    return replaced(
        vote,
        approval_id=approval.approval_id,
        choice=Choice.APPROVE,
        binding=approval.binding,
        reason=f"proposed with the denial of `{vote.approval_id}`",
        at=now,
    )


def meet(
    desk: Desk, found: Operation, asking: Asking | None, wanted: Operation, telling: Telling | None
) -> Held | Enough | Over | None:
    """Say how a call stands to the request of its operation; None: it has to be asked anew.

    What was decided counts only for the very call that people saw, and only as far as it is
    enough by the rules of now. `telling` is how it is told that nobody has to decide any more.
    """
    approval = newest(desk, found.op_id)
    if approval is None or not approval.state.is_open:
        return None
    if asking is None:
        supersede(desk, approval, telling, "nobody has to approve this any more")
        end(desk, found, OpState.ABANDONED, "nobody has to approve it any more")
        return Over(operation=found, approval=approval, state=ApprovalState.SUPERSEDED)
    if is_late(approval, desk.now):
        expired = expire(desk, found, approval, asking)
        desk.transaction.execute("tell_expired", {"approval_id": approval.approval_id})
        return Over(operation=found, approval=expired, state=ApprovalState.EXPIRED)
    if approval.binding != asking.binding(found.op_id):
        if found.pin != wanted.pin and asking.denies_new_pin:
            return _denied_for_pin(desk, found, approval, asking)
        return None
    if approval.state is ApprovalState.PENDING:
        return Held(operation=found, approval=approval)
    if desk.now < approval.created_at + round(asking.clause.not_before_s * 1e6):
        return Held(operation=found, approval=approval)  # a rule of now wants time to pass
    return Enough(approval=approval) if _is_enough(desk, approval, asking.clause) else None


def _is_enough(desk: Desk, approval: Approval, clause: ApprovalClause) -> bool:
    if clause == approval.clause:
        return True  # it was decided by this very clause
    # Whoever an escalation let in was let in by another rule than this one.
    return satisfied(clause, votes_of(desk, approval), escalated=0, requester=approval.user)


def supersede(desk: Desk, approval: Approval, asking: Asking | Telling | None, why: str) -> None:
    """End a request because the call, its tool or the rule is another one now."""
    if close(desk, approval, ApprovalState.SUPERSEDED, why) and asking is not None:
        ended = replaced(
            approval, state=ApprovalState.SUPERSEDED, closed_reason=why, decided_at=desk.now
        )
        desk.tell(asking, ended, Stage.VOIDED)


def expire(desk: Desk, found: Operation, approval: Approval, asking: Asking) -> Approval:
    """End a request that nobody decided, or used, in time; return it as it is then."""
    was_decided = approval.state is ApprovalState.APPROVED
    why = "it was not used in time" if was_decided else "nobody decided in time"
    ended = replaced(approval, state=ApprovalState.EXPIRED, closed_reason=why, decided_at=desk.now)
    if close(desk, approval, ApprovalState.EXPIRED, why):
        desk.tell(asking, ended, Stage.EXPIRED)
    end(desk, found, OpState.ABANDONED, why)
    return ended


def _denied_for_pin(desk: Desk, found: Operation, approval: Approval, asking: Asking) -> Over:
    """End the operation of a tool that has changed, where its contract wants nobody asked anew."""
    why = "the tool has changed since people were asked"
    supersede(desk, approval, asking, why)
    end(desk, found, OpState.DENIED, why, replay_until=approval.answer_until)
    ended = replaced(approval, state=ApprovalState.SUPERSEDED, closed_reason=why)
    return Over(operation=found, approval=ended, state=ApprovalState.DENIED)


def close(desk: Desk, approval: Approval, state: ApprovalState, why: str) -> bool:
    """Move an open request to its end; False when it has one already."""
    named = {
        "approval_id": approval.approval_id,
        "state": str(state),
        "reason": why,
        "now": desk.now,
    }
    desk.runs.add(approval.run_id)
    return desk.transaction.execute("close_approval", named) == 1


def end(
    desk: Desk, operation: Operation, state: OpState, why: str, *, replay_until: int = 0
) -> None:
    """End an operation that waited."""
    desk.transaction.execute(
        "end_held",
        {
            "op_id": operation.op_id,
            "state": str(state),
            "evidence": why,
            "now": desk.now,
            "replay_until": replay_until,
        },
    )


def consume(desk: Desk, approval: Approval, asking: Asking, wanted: Operation) -> bool:
    """Use an approval up for the send of a call; False when it no longer can be."""
    named = {
        "approval_id": approval.approval_id,
        "call_id": wanted.call_id,
        "now": desk.now,
    }
    if desk.transaction.execute("consume_approval", named) != 1:
        return False
    used = replace(approval, state=ApprovalState.CONSUMED, consumed_by=wanted.call_id)
    desk.tell(asking, used, Stage.USED)
    return True


def untold(desk: Desk, found: Operation) -> Approval | None:
    """Return the request of an operation that expired, if its caller has not learned of it."""
    approval = newest(desk, found.op_id)
    if approval is None or approval.state is not ApprovalState.EXPIRED or approval.is_told:
        return None
    desk.transaction.execute("tell_expired", {"approval_id": approval.approval_id})
    return approval


def asks_client(clause: ApprovalClause) -> bool:
    """Whether the caller's own client may be asked."""
    return clause.self_confirm and clause.min_assurance is Assurance.CLIENT_ASSERTED
