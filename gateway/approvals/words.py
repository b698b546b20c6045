"""What became of a vote, and who still has to decide, in the words of every surface."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, assert_never

from gateway.approvals.visible import visible
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Assurance,
    Cast,
    Escalation,
    Execute,
    Factor,
    Ruling,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def when(at: int) -> str:
    """Return a time of the store (microseconds since 1970) for people."""
    return f"{_EPOCH + timedelta(microseconds=at):%Y-%m-%d %H:%M} UTC"


def away(approval: Approval) -> str:
    """Say that nobody waits for an undecided request any more; empty while that isn't known."""
    if approval.state is not ApprovalState.PENDING or not approval.left_at:
        return ""
    return f"disconnected at {when(approval.left_at)}; the request waits on for the same call"


def approvers(approval: Approval) -> str:
    """Say how many of whom it takes, as the clause and the escalations so far have it."""
    clause = approval.clause
    groups = [_many(each, f"{each.count} of ") for each in clause.factors]
    others = [names(step) for step in clause.escalation[: approval.escalated]]
    return "; ".join((" and ".join(groups), *(f"or of {each}" for each in others)))


def lacking(open_factors: Iterable[tuple[Factor, int]]) -> str:
    """Say who still has to say yes; empty when nobody has to."""
    return " and ".join(_many(factor, f"{count} more of ") for factor, count in open_factors)


def _many(group: Factor, of: str) -> str:
    """Name a group with how many of it; one person alone is just named."""
    is_person = not group.roles and len(group.users) == 1
    return names(group) if is_person else f"{of}{names(group)}"


def names(group: Factor | Escalation) -> str:
    """Name the roles and users of a group."""
    return ", ".join(visible(name) for name in (*group.roles, *group.users))


def said(ruling: Ruling, lacks: Sequence[tuple[Factor, int]] = ()) -> str:
    """Return one line about what became of somebody's wish; `lacks` are the open factors.

    Only what that person may know: a ruling of another tenant's request has no approval.
    """
    approval = ruling.approval
    if approval is None:
        return "there is no such request"
    if ruling.cast.is_accepted:
        return _accepted(ruling.cast, approval, lacks)
    return _refused(ruling.cast, approval)


def _accepted(cast: Cast, approval: Approval, lacks: Sequence[tuple[Factor, int]]) -> str:
    match cast:
        case Cast.COUNTED:
            more = f": {lacking(lacks)}" if lacks else ""
            return f"your vote counts; others have to decide as well{more}"
        case Cast.APPROVED if approval.execute is Execute.ON_APPROVAL:
            return "approved; the gateway sends the call now"
        case Cast.APPROVED:
            return (
                "approved; the call is sent when its caller makes it again, until "
                f"{when(approval.use_by)}"
            )
        case Cast.DENIED:
            return "denied; the call is not sent, and its caller is told"
        case Cast.REVOKED:
            return "taken back before it was used; the call is not sent"
        case Cast.WITHDRAWN:
            return "your vote is taken back; the request waits on"
        case Cast.CANCELLED:
            return "cancelled; the call is not sent"
        case _:
            return "the same call may be asked about again; the decision itself stands"


def _refused(cast: Cast, approval: Approval) -> str:
    match cast:
        case Cast.ALREADY_VOTED:
            return "you have voted on it already; take your vote back first, to change it"
        case Cast.SAME_ACCOUNT:
            return (
                "somebody has said yes from the same account of this machine; another person has "
                "to, from another account, by a link that was made from one, or by a login at the "
                "identity provider"
            )
        case Cast.ALREADY_DECIDED:
            return _standing(approval)
        case Cast.NOT_ENTITLED:
            return f"you may not do that; it is decided by {approvers(approval)}"
        case Cast.SELF_APPROVAL:
            return "you asked for it yourself, and its rule wants somebody else to decide"
        case Cast.WRONG_BINDING:
            return "that is not the binding of this request; look at it once more"
        case Cast.TOO_EARLY:
            return f"nobody can approve it before {when(approval.not_before)}; deny it, or wait"
        case Cast.TOO_LATE:
            return "its time is over; its caller has to ask anew"
        case Cast.TOO_WEAK:
            return f"its rule wants {_surer(approval.clause.min_assurance)}"
        case _:
            return "there is no such request"


def _standing(approval: Approval) -> str:
    state = approval.state
    match state:
        case ApprovalState.PENDING:
            return "it waits for a decision"
        case ApprovalState.APPROVED:
            return "it is approved already, and not used yet"
        case ApprovalState.CONSUMED:
            return (
                "it was approved and used already; undo it with `weighbridge ops compensate "
                f"{approval.op_id}`"
            )
        case ApprovalState.SUPERSEDED:
            return "another request took its place; decide about that one"
        case ApprovalState.DENIED | ApprovalState.EXPIRED | ApprovalState.CANCELLED:
            return f"it is {state.value} already"
        case _:
            assert_never(state)


def _surer(least: Assurance) -> str:
    match least:
        case Assurance.AUTHENTICATED:
            return "a login at the identity provider; decide on the page"
        case Assurance.LOCAL | Assurance.CLIENT_ASSERTED:
            return "a decision in the terminal or on the page"
        case _:
            assert_never(least)
