"""What becomes of a vote: every rule about who may decide what and when, in one pure place.

A name gives a right only as it is written, and bars from one however it is written. One account of
the machine is one person, whatever names it gives; where nobody noted it, as in votes of before,
only the name counts.
"""

import re
from collections.abc import Sequence
from typing import Final

from gateway.approvals.matching import from_one_account, may_decide, same_person, satisfied
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Cast,
    Channel,
    Choice,
    Vote,
)
from gateway.types.tools import Risk

_SECOND: Final = 1_000_000
_HASTE_S: Final = 15 * 60.0  # how long a decision about something of high risk stays good
_RISKY: Final = frozenset({Risk.HIGH, Risk.CRITICAL})
_ANSWERED: Final = frozenset({ApprovalState.DENIED, ApprovalState.CANCELLED})
# Eight hex digits are what a person compares: whoever echoes fewer may have seen another call.
_DIGEST: Final = re.compile(r"(?:sha256:)?([0-9a-f]{8,64})", re.IGNORECASE)


def judge(
    approval: Approval,
    votes: Sequence[Vote],
    approver: Approver,
    choice: Choice,
    binding: str,
    *,
    now: int,
) -> Cast:
    """Return what becomes of a vote on an approval with these votes; `now` in microseconds.

    Who may not decide learns nothing of the state; who is of another tenant, not even that it is
    there. A no needs the same right as a yes. Time is judged by `now`, whatever the row says still.
    """
    refused = _refused(approval, approver, now=now)
    if refused is not None:
        return refused
    if not echoes(approval.binding, binding):
        return Cast.WRONG_BINDING
    if approval.state is ApprovalState.APPROVED:
        return Cast.REVOKED if choice is Choice.DENY else Cast.ALREADY_DECIDED
    if any(same_person(each.user, approver.user) for each in votes):
        return Cast.ALREADY_VOTED
    if choice is Choice.APPROVE:
        said_yes = [each for each in votes if each.choice is Choice.APPROVE]
        if any(from_one_account(voter(each, approval.tenant), approver) for each in said_yes):
            return Cast.SAME_ACCOUNT  # who says no stops it, and may
        return _approved(approval, votes, approver, now=now)
    said_no = sum(each.choice is Choice.DENY for each in votes)
    return Cast.DENIED if said_no + 1 >= approval.clause.denials else Cast.COUNTED


def judge_withdrawal(
    approval: Approval, votes: Sequence[Vote], approver: Approver, *, now: int
) -> Cast:
    """Return what becomes of the wish to take an own vote back; only what is undecided can be."""
    if approver.tenant != approval.tenant:
        return Cast.NOT_FOUND
    if own_vote(votes, approver) is None:
        return Cast.NOT_ENTITLED
    if is_late(approval, now):
        return Cast.TOO_LATE
    return Cast.WITHDRAWN if approval.state is ApprovalState.PENDING else Cast.ALREADY_DECIDED


def judge_cancellation(approval: Approval, approver: Approver, *, now: int) -> Cast:
    """Return what becomes of the wish to end a request: by who asked, or who runs the gateway.

    Others, who may decide, say no instead: that is recorded as theirs, and told to the caller.
    """
    if approver.tenant != approval.tenant:
        return Cast.NOT_FOUND
    is_operator = approver.channel is Channel.TERMINAL
    if not is_operator and approver.user != approval.user:
        return Cast.NOT_ENTITLED
    if is_late(approval, now):
        return Cast.TOO_LATE
    return Cast.CANCELLED if approval.state.is_open else Cast.ALREADY_DECIDED


def judge_reopening(approval: Approval, approver: Approver) -> Cast:
    """Return what becomes of the wish to let a denied call be asked about again.

    That changes no decision: the next such call makes a request of its own.
    """
    if approver.tenant != approval.tenant:
        return Cast.NOT_FOUND
    if not _is_entitled(approval, approver):
        return Cast.NOT_ENTITLED
    return Cast.REOPENED if approval.state in _ANSWERED else Cast.ALREADY_DECIDED


def echoes(binding: str, given: str) -> bool:
    """Whether somebody repeats a binding: whole, or at least its first hex digits."""
    found = _DIGEST.fullmatch(given.strip())
    return found is not None and binding.removeprefix("sha256:").startswith(found[1].lower())


def own_vote(votes: Sequence[Vote], approver: Approver) -> Vote | None:
    """Return the vote that somebody has given, and may take back."""
    return next((each for each in votes if each.user == approver.user), None)


def proposer(approval: Approval, votes: Sequence[Vote]) -> Vote | None:
    """Return the vote whose approver proposed other arguments, of a request that was denied."""
    if not approval.proposal or approval.state is not ApprovalState.DENIED:
        return None
    said_no = [each for each in votes if each.choice is Choice.DENY]
    if not approval.proposed_by:  # kept by an earlier build: that of the no that decided
        return next((each for each in said_no if each.at == approval.decided_at), None)
    return next((each for each in said_no if each.user == approval.proposed_by), None)


def is_late(approval: Approval, now: int) -> bool:
    """Whether the time to decide is over, or the time to use what was decided."""
    match approval.state:
        case ApprovalState.PENDING:
            return now > approval.decide_by
        case ApprovalState.APPROVED:
            return now > approval.use_by
        case _:
            return approval.state is ApprovalState.EXPIRED


def escalates(approval: Approval, now: int) -> bool:
    """Whether others may decide as well from now on: the next step of the clause is due."""
    steps = approval.clause.escalation
    if approval.state is not ApprovalState.PENDING or is_late(approval, now):
        return False
    if approval.escalated >= len(steps):
        return False
    return now >= approval.created_at + round(steps[approval.escalated].after_s * _SECOND)


def use_until(approval: Approval, now: int) -> int:
    """Return until when what is approved `now` can be used, in microseconds."""
    clause = approval.clause
    within_s = clause.use_within_s
    if within_s is None:
        within_s = _HASTE_S if approval.risk in _RISKY else clause.expires_s
    return now + round(within_s * _SECOND)


def voter(vote: Vote, tenant: str) -> Approver:
    """Return who gave a vote, as he was when he gave it."""
    return Approver(
        tenant=tenant,
        user=vote.user,
        roles=vote.roles,
        assurance=vote.assurance,
        channel=vote.channel,
        issuer=vote.issuer,
    )


def _refused(approval: Approval, approver: Approver, *, now: int) -> Cast | None:
    if approver.tenant != approval.tenant:
        return Cast.NOT_FOUND
    is_self = same_person(approver.user, approval.user)
    if is_self and not approval.clause.requester_may_approve:
        return Cast.SELF_APPROVAL
    if not _is_entitled(approval, approver):
        return Cast.NOT_ENTITLED
    if is_late(approval, now):
        return Cast.TOO_LATE
    if not approval.state.is_open:
        return Cast.ALREADY_DECIDED
    if approver.assurance.rank < approval.clause.min_assurance.rank:
        return Cast.TOO_WEAK
    return None


def _is_entitled(approval: Approval, approver: Approver) -> bool:
    clause = approval.clause
    if approver.channel is Channel.ELICITATION and not clause.self_confirm:
        return False  # whatever an agent's client says of its user
    is_self = same_person(approver.user, approval.user)
    return (clause.requester_may_approve or not is_self) and may_decide(
        clause, approver.user, approver.roles, escalated=approval.escalated
    )


def _approved(approval: Approval, votes: Sequence[Vote], approver: Approver, *, now: int) -> Cast:
    if now < approval.not_before:
        return Cast.TOO_EARLY
    yes = vote_of(approval, approver, Choice.APPROVE, "", now=now)
    is_enough = satisfied(
        approval.clause, [*votes, yes], escalated=approval.escalated, requester=approval.user
    )
    return Cast.APPROVED if is_enough else Cast.COUNTED


def vote_of(
    approval: Approval, approver: Approver, choice: Choice, reason: str, *, now: int
) -> Vote:
    """Return the vote that is kept: what he was shown by its whole binding, and how sure he is."""
    return Vote(
        approval_id=approval.approval_id,
        user=approver.user,
        choice=choice,
        binding=approval.binding,
        roles=approver.roles,
        channel=approver.channel,
        assurance=approver.assurance,
        issuer=approver.issuer,
        reason=reason,
        at=now,
    )
