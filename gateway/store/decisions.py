"""What a decision does inside of its transaction: re-read, judge, and move request and operation.

Runs under the events lock, so that nothing can be claimed, used or decided in between.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final, Generic, TypeVar

from gateway.approvals import ballot
from gateway.approvals.machine import ApprovalEvent, next_state
from gateway.store.approval_rows import approval_of, notice_row, row_of, vote_of, vote_row
from gateway.store.changes import Made
from gateway.store.engine import Transaction
from gateway.store.rows import clean
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Cast,
    Choice,
    Notice,
    Ruling,
    Vote,
)
from gateway.types.events import Event
from gateway.types.operations import OpState
from gateway.types.values import replaced, value

_T = TypeVar("_T")

Told = Callable[[Ruling], Sequence[Event]]
"""The events of a ruling, under new ids; one at least wherever anything was changed."""
Notices = Callable[[Ruling], Sequence[Notice]]
"""Whom to tell of a ruling that changed something."""
ToldOf = Callable[[Approval], Sequence[Event]]
"""The same for a request as it is after a change that nobody voted for."""
NoticesOf = Callable[[Approval], Sequence[Notice]]

_CLOSES: Final = {Cast.DENIED: ApprovalEvent.DENY, Cast.REVOKED: ApprovalEvent.REVOKE}
_NO: Final = frozenset(_CLOSES.values())


@value
class Wish:
    """What somebody says about a request."""

    choice: Choice
    binding: str
    reason: str = ""
    proposal: str = ""  # sealed: arguments that he would rather have
    proposal_hash: str = ""


class Once(Generic[_T]):
    """Makes work bear repeating: what the log has been told of was committed, and stays as it is.

    A transaction whose commit got no answer is run again, maybe after others have changed more. Its
    own events are in the log exactly when all of it was committed, and nobody else has their ids.
    """

    def __init__(self, work: Callable[[Transaction], Made[_T]]) -> None:
        self._work: Final = work
        self._made: Made[_T] | None = None

    def __call__(self, transaction: Transaction) -> Made[_T]:
        """Do the work, or find it done."""
        made = self._made
        if made is None or not _is_kept(transaction, made):
            made = self._made = self._work(transaction)
        return made


def _is_kept(transaction: Transaction, made: Made[_T]) -> bool:
    return bool(made.told) and bool(transaction.fetch("has_event", {"id": made.told[0].id}))


@value
class Bench:
    """One transaction at one time; `now` in microseconds."""

    transaction: Transaction
    now: int
    runs: set[str] = field(default_factory=set[str])
    """Those whose requests were changed here, and an empty text for calls without one."""

    def approval(self, approval_id: str) -> Approval | None:
        """Return a request as it is now."""
        rows = self.transaction.fetch("get_approval", {"approval_id": clean(approval_id)})
        return approval_of(rows[0]) if rows else None

    def votes(self, approval: Approval) -> list[Vote]:
        """Return the votes on a request as they are now."""
        rows = self.transaction.fetch("votes", {"approval_id": approval.approval_id})
        return [vote_of(row) for row in rows]

    def change(self, before: Approval, **fields: object) -> Approval:
        """Change a request; returns it as it is then."""
        after = replaced(before, **fields)
        self.transaction.execute("change_approval", row_of(after))
        self.runs.add(before.run_id)
        return replaced(after, version=before.version + 1)

    def approve(self, before: Approval) -> Approval:
        """Note that enough people said yes, and until when that is good."""
        use_by = ballot.use_until(before, self.now)
        self.runs.add(before.run_id)
        self.transaction.execute(
            "approve_approval",
            {"approval_id": before.approval_id, "now": self.now, "use_by": use_by},
        )
        return replaced(
            before,
            state=next_state(before.state, ApprovalEvent.APPROVE),
            decided_at=self.now,
            use_by=use_by,
            version=before.version + 1,
        )

    def close(self, before: Approval, event: ApprovalEvent, why: str) -> Approval:
        """End a request, and with it the operation, which is never sent."""
        is_no = event in _NO
        state = next_state(before.state, event)
        self.transaction.execute(
            "end_held",
            {
                "op_id": before.op_id,
                "state": str(OpState.DENIED if is_no else OpState.ABANDONED),
                "evidence": str(event),
                "now": self.now,
                "replay_until": before.answer_until if is_no else 0,
            },
        )
        return self.change(before, state=state, decided_at=self.now, closed_reason=why)

    def owe(self, notices: Sequence[Notice]) -> None:
        """Keep what approvers have to be told."""
        self.transaction.execute_many("add_notice", [notice_row(each) for each in notices])


@value
class Person:
    """Somebody's wish about one request, in one transaction, and how it is told of."""

    bench: Bench
    approval_id: str
    approver: Approver
    told: Told
    notices: Notices

    def vote(self, wish: Wish) -> Made[Ruling]:
        """Judge a vote, keep it if it stands, and move what it decides."""
        bench, approver = self.bench, self.approver
        before = bench.approval(self.approval_id)
        if before is None:
            return Made(Ruling(cast=Cast.NOT_FOUND))
        votes = bench.votes(before)
        cast = ballot.judge(before, votes, approver, wish.choice, wish.binding, now=bench.now)
        if not cast.is_accepted:
            return self._ruled(cast, before, votes)
        vote = ballot.vote_of(before, approver, wish.choice, wish.reason, now=bench.now)
        bench.transaction.execute("add_vote", vote_row(vote))  # over his yes, where he revokes it
        votes = [*(each for each in votes if each.user != vote.user), vote]
        return self._ruled(
            cast, _moved(bench, _proposing(before, wish, vote), cast, wish.reason), votes
        )

    def withdraw(self) -> Made[Ruling]:
        """Take an own vote back while nothing is decided."""
        bench = self.bench
        before = bench.approval(self.approval_id)
        if before is None:
            return Made(Ruling(cast=Cast.NOT_FOUND))
        votes = bench.votes(before)
        cast = ballot.judge_withdrawal(before, votes, self.approver, now=bench.now)
        if not cast.is_accepted:
            return self._ruled(cast, before, votes)
        named = {"approval_id": before.approval_id, "approver": self.approver.user}
        bench.transaction.execute("remove_vote", named)
        left = [each for each in votes if each.user != self.approver.user]
        is_his = before.proposed_by == self.approver.user
        after = (
            replaced(before, proposal="", proposal_hash="", proposed_by="") if is_his else before
        )
        return self._ruled(cast, bench.change(after), left)

    def cancel(self, reason: str) -> Made[Ruling]:
        """End the request as a whole."""
        bench = self.bench
        before = bench.approval(self.approval_id)
        if before is None:
            return Made(Ruling(cast=Cast.NOT_FOUND))
        cast = ballot.judge_cancellation(before, self.approver, now=bench.now)
        after = bench.close(before, ApprovalEvent.CANCEL, reason) if cast.is_accepted else before
        return self._ruled(cast, after, bench.votes(before))

    def reopen(self) -> Made[Ruling]:
        """Let a call that was denied be asked about again; the decision itself stands."""
        bench = self.bench
        before = bench.approval(self.approval_id)
        if before is None:
            return Made(Ruling(cast=Cast.NOT_FOUND))
        cast = ballot.judge_reopening(before, self.approver)
        if cast.is_accepted and not _reopened(bench, before):
            cast = Cast.ALREADY_DECIDED
        return self._ruled(cast, before, bench.votes(before))

    def _ruled(self, cast: Cast, approval: Approval, votes: Sequence[Vote]) -> Made[Ruling]:
        if cast is Cast.NOT_FOUND:  # of another tenant: as if it were not there
            return Made(Ruling(cast=cast))
        ruling = Ruling(cast=cast, approval=approval, votes=tuple(votes))
        if cast.is_accepted:
            self.bench.owe(self.notices(ruling))
        return Made(ruling, told=self.told(ruling))


def _proposing(before: Approval, wish: Wish, vote: Vote) -> Approval:
    """Return a request with what a no proposes; the last proposal stands, whoever decides."""
    if not wish.proposal or vote.choice is not Choice.DENY:
        return before
    return replaced(
        before,
        proposal=wish.proposal,
        proposal_hash=wish.proposal_hash,
        proposed_by=vote.user,
    )


def _moved(bench: Bench, before: Approval, cast: Cast, reason: str) -> Approval:
    match cast:
        case Cast.APPROVED:
            return bench.approve(before)
        case Cast.DENIED | Cast.REVOKED:
            return bench.close(before, _CLOSES[cast], reason)
        case _:
            return bench.change(before)


def _reopened(bench: Bench, approval: Approval) -> bool:
    return bench.transaction.execute("reopen_denied", {"op_id": approval.op_id}) == 1


def expire(bench: Bench, approval_id: str) -> Approval | None:
    """End a request whose time is over; None when it is not, or has ended already."""
    before = bench.approval(approval_id)
    if before is None or not before.state.is_open or not ballot.is_late(before, bench.now):
        return None
    was_approved = before.state is ApprovalState.APPROVED
    why = "it was not used in time" if was_approved else "nobody decided in time"
    return bench.close(before, ApprovalEvent.EXPIRE, why)


def cancel(bench: Bench, approval_id: str, why: str) -> Approval | None:
    """End a request that nobody waits for any more; None when it has ended already."""
    before = bench.approval(approval_id)
    if before is None or not before.state.is_open:
        return None
    return bench.close(before, ApprovalEvent.CANCEL, why)


def escalate(bench: Bench, approval_id: str) -> Approval | None:
    """Let more people decide, as the clause says; None when its time has not come."""
    before = bench.approval(approval_id)
    if before is None or not ballot.escalates(before, bench.now):
        return None
    return bench.change(before, escalated=before.escalated + 1)
