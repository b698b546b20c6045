"""Approval sections of rules as clauses, and clauses in words."""

from collections.abc import Iterator
from typing import Final

from gateway.policy.rules import SELF, Approval, Group
from gateway.types.approvals import (
    ApprovalClause,
    Assurance,
    Escalation,
    Factor,
    Fallback,
)
from gateway.types.json import Json, JsonObject

ONLY: Final = "approvers"  # the name of the one factor of a rule that has no `factors`
_UNITS: Final = ((86400.0, "d"), (3600.0, "h"), (60.0, "m"))


def groups(approval: Approval) -> tuple[Group, ...]:
    """Return the groups that a section names, be it by `approvers` or by `factors`."""
    if approval.factors is not None:
        return approval.factors
    named = approval.approvers
    if named is None:
        return ()
    return (Group(name=ONLY, roles=named.roles, users=named.users, count=approval.quorum),)


def compiled(approval: Approval | None) -> ApprovalClause | None:
    """Return the clause of a section; `self` in it is still to be replaced by who calls."""
    if approval is None:
        return None
    named = groups(approval)
    is_self = any(SELF in each.users for each in named)
    least = approval.min_assurance
    if least is None:
        least = Assurance.CLIENT_ASSERTED if is_self else Assurance.LOCAL
    return ApprovalClause(
        factors=tuple(
            Factor(name=each.name, roles=each.roles, users=each.users, count=each.count)
            for each in named
        ),
        denials=approval.deny_count,
        requester_may_approve=approval.requester_may_approve or is_self,
        self_confirm=is_self,
        min_assurance=least,
        not_before_s=approval.not_before or 0.0,
        expires_s=approval.expires,
        use_within_s=approval.use_within,
        escalation=tuple(
            Escalation(after_s=each.after, roles=each.roles, users=each.users)
            for each in approval.escalate
        ),
        fallback=approval.fallback,
    )


def in_words(clause: ApprovalClause) -> str:
    """Say on one line who has to say yes, and within which time."""
    return "; ".join((" and ".join(map(_factor, clause.factors)), *_terms(clause)))


def to_json(clause: ApprovalClause) -> JsonObject:
    """Return a clause for programs, by the names that rules have."""
    factors: list[Json] = [
        {
            "name": each.name,
            "roles": list[Json](each.roles),
            "users": list[Json](each.users),
            "count": each.count,
        }
        for each in clause.factors
    ]
    steps: list[Json] = [
        {"after_s": each.after_s, "roles": list[Json](each.roles), "users": list[Json](each.users)}
        for each in clause.escalation
    ]
    return {
        "factors": factors,
        "quorum": clause.quorum,
        "deny_count": clause.denials,
        "requester_may_approve": clause.requester_may_approve,
        "self_confirm": clause.self_confirm,
        "min_assurance": clause.min_assurance.value,
        "not_before_s": clause.not_before_s,
        "expires_s": clause.expires_s,
        "use_within_s": clause.use_within_s,
        "escalate": steps,
        "fallback": clause.fallback.value,
    }


def _factor(factor: Factor) -> str:
    is_person = not factor.roles and len(factor.users) == 1
    of = "" if is_person else f"{factor.count} of "
    who = f"{of}{', '.join((*factor.roles, *factor.users))}"
    return who if factor.name == ONLY else f"{who} ({factor.name})"


def _terms(clause: ApprovalClause) -> Iterator[str]:
    if clause.self_confirm:
        yield "the requester may confirm in his own client"
    elif clause.requester_may_approve:
        yield "the requester may be one of them"
    if clause.denials > 1:
        yield f"{clause.denials} of them end it by a no"
    if clause.min_assurance is Assurance.AUTHENTICATED:
        yield "by a login at the identity provider"
    if clause.not_before_s:
        yield f"not within the first {duration(clause.not_before_s)}"
    for each in clause.escalation:
        yield f"after {duration(each.after_s)} also {', '.join((*each.roles, *each.users))}"
    yield f"within {duration(clause.expires_s)}"
    if clause.use_within_s is not None:
        yield f"used within {duration(clause.use_within_s)}"
    if clause.fallback is Fallback.DENY:
        yield "denied where the client can't be asked"


def duration(seconds: float) -> str:
    """Write a time as rules have it, in the largest unit that keeps it whole."""
    for size, unit in _UNITS:
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"
