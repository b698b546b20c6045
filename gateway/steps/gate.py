"""Step 10: a person's decision, bound to this exact call; here are the words for its callers."""

import math
from typing import Final

from gateway.events.envelope import timestamp
from gateway.runs import limits
from gateway.store.requests import MOST_PENDING, MOST_REQUESTS
from gateway.store.times import moment
from gateway.types.approvals import Approval, ApprovalState
from gateway.types.decisions import Decision, Limit
from gateway.types.json import JsonObject
from gateway.types.outcomes import ApprovalTold, Refusal, Status

_CHANGED: Final = (
    "an approver would rather have the call with `suggested_arguments`: call the tool with exactly "
    "these, or leave it; do not repeat the call as it was"
)
_POLL_S: Final = 120.0  # a model that asks sooner only burns its turns
_END_TURN: Final = (
    "end your turn and tell the user who has to approve; calling again now changes nothing"
)


def unapproved(because: str, rule: str = "") -> Refusal:
    """Refuse what a person would have to allow, where there is nobody who could be asked."""
    why = f": {because}" if because else ""
    return Refusal(
        status=Status.APPROVAL_DENIED,
        code="no_approver",
        rule=rule,
        reason="a person has to approve this call, and neither a rule nor `approvals.approvers` "
        f"says who{why}",
    )


def unreadable() -> Refusal:
    """Refuse a call that nobody could read to its end before he says yes."""
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="too_large_to_approve",
        reason="a person has to approve this call, and its arguments are too many to be read",
        next="ask for less in one call",
    )


def exceeded(decision: Decision, limit: str, retry_after_s: float) -> Refusal:
    """Refuse a call for which a limit has no room, in the words of that limit."""
    met = next((each for each in decision.limits if each.id == limit), None)
    rule = met.rule if met is not None else ""
    if limit == MOST_PENDING:
        return too_many(retry_after_s)
    if limit == MOST_REQUESTS:
        return too_often(retry_after_s)
    if limits.is_of_run(limit):
        return limits.refusal(limit, rule=rule)
    if math.isinf(retry_after_s):
        return _never(limit, met, rule)
    return Refusal(
        status=Status.LIMIT_EXCEEDED,
        code=limit,
        rule=rule,
        reason=f"the limit `{limit}` is used up",
        retry_after_s=retry_after_s,
    )


def _never(limit: str, met: Limit | None, rule: str) -> Refusal:
    """Refuse a call for which waiting makes no room."""
    if met is None or met.amount > met.maximum:
        reason = f"this call alone takes more than the limit `{limit}` has at all"
        next_step = "ask for less, or end your turn and tell the user"
    else:
        reason = f"the run has used up the limit `{limit}`"
        next_step = "finish the run with what there is, or hand it over; a new run is for new work"
    return Refusal(
        status=Status.LIMIT_EXCEEDED, code=limit, rule=rule, reason=reason, next=next_step
    )


def too_many(retry_after_s: float) -> Refusal:
    """Refuse one more request of somebody who has enough of them undecided."""
    return Refusal(
        status=Status.LIMIT_EXCEEDED,
        code="pending_approvals",
        reason="a person has to approve this call, and too many others of this user wait already",
        retry_after_s=retry_after_s,
        next="go on without it, or end your turn until some of them are decided",
    )


def too_often(retry_after_s: float) -> Refusal:
    """Refuse one more request of somebody for whom people were asked often enough lately."""
    return Refusal(
        status=Status.LIMIT_EXCEEDED,
        code="too_many_requests",
        reason="a person has to approve this call, and people were asked too often for this user "
        "within the last hour",
        retry_after_s=retry_after_s,
        next="go on without it, or end your turn",
    )


def pending(approval: Approval, *, url: str = "", is_patient: bool = True) -> Refusal:
    """Say that a person has to decide; not `is_patient` ends a loop of fruitless calls."""
    who = _who(approval)
    until = timestamp(moment(approval.decide_by))
    at = f" at {url}" if url else ""
    return Refusal(
        status=Status.APPROVAL_PENDING,
        code="approval_pending",
        rule=approval.rule,
        reason=f"it needs approval by {who} (`{approval.approval_id}`, until {until}){at}",
        retry_after_s=_POLL_S,
        next="" if is_patient else _END_TURN,
        approval=told(approval, url=url),
    )


def waiting(approval: Approval) -> str:
    """Say in a note of progress what a held call waits for."""
    until = timestamp(moment(approval.decide_by))
    return f"waiting for approval by {_who(approval)} ({approval.approval_id}, until {until})"


def declined(approval: Approval) -> Refusal:
    """Say that the caller's own client can't be asked, and the rule wants nobody else to be."""
    return Refusal(
        status=Status.APPROVAL_DENIED,
        code="client_cannot_ask",
        rule=approval.rule,
        reason="its user has to confirm this call, and this client does not declare `elicitation`",
        approval=told(approval),
    )


def ended(approval: Approval, proposal: JsonObject | None = None) -> Refusal:
    """Say how a request ended that was not used."""
    why = approval.closed_reason
    if approval.state is ApprovalState.EXPIRED:
        return Refusal(
            status=Status.APPROVAL_EXPIRED,
            code="approval_expired",
            rule=approval.rule,
            reason=why or "nobody decided in time",
            approval=told(approval),
        )
    said = f": {why}" if why else ""
    is_denied = approval.state is ApprovalState.DENIED
    return Refusal(
        status=Status.APPROVAL_DENIED,
        code="approval_denied" if is_denied else f"approval_{approval.state}",
        rule=approval.rule,
        reason=f"a person said no{said}" if is_denied else f"the request was taken back{said}",
        next=_CHANGED if proposal is not None else "",
        approval=told(approval, proposal=proposal),
    )


def told(approval: Approval, *, url: str = "", proposal: JsonObject | None = None) -> ApprovalTold:
    """Return what a caller learns of a request."""
    return ApprovalTold(
        approval_id=approval.approval_id,
        url=url,
        decide_by=timestamp(moment(approval.decide_by)) if approval.state.is_open else "",
        suggested=proposal,
    )


def _who(approval: Approval) -> str:
    """Name the groups of a clause, as its rule names them."""
    clause = approval.clause
    if clause.self_confirm:
        return f"{approval.user}, who asked"
    names = [*clause.roles, *clause.users]
    many = f"{clause.quorum} of " if clause.quorum > 1 else ""
    return many + (", ".join(names) if names else "an approver")
