"""Approvals, votes and people who decide, for tests."""

from collections.abc import Iterable
from typing import Any

from gateway import ids
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    Approver,
    Assurance,
    Channel,
    Choice,
    Factor,
    Vote,
)

BINDING = "sha256:" + "0123456789abcdef" * 4
OTHER_BINDING = "sha256:" + "f" * 64
LATER = 10**18
LEADS = ApprovalClause(factors=(Factor(name="leads", roles=("lead",)),))


def an_approval(**changes: Any) -> Approval:
    """Return a pending request of Ana's that a lead may decide, for ever."""
    values: dict[str, Any] = {
        "approval_id": ids.new("apr"),
        "op_id": ids.new("op"),
        "tenant": "acme",
        "user": "ana",
        "client": "desk-agent",
        "server": "desk",
        "tool": "desk.refund",
        "call_id": ids.new("call"),
        "binding": BINDING,
        "revision": "r1",
        "rule": "refunds-over-100",
        "clause": LEADS,
        "risk": "high",
        "not_before": 0,
        "decide_by": LATER,
        "answer_until": LATER,
        "presented": "sealed",
        "presented_digest": "sha256:" + "1" * 64,
    }
    return Approval(**(values | changes))


def an_approver(user: str = "lea", roles: Iterable[str] = ("lead",), **changes: Any) -> Approver:
    """Return a lead of the tenant, logged in at the page."""
    values: dict[str, Any] = {
        "tenant": "acme",
        "assurance": Assurance.AUTHENTICATED,
        "channel": Channel.PAGE,
        "issuer": "https://login.acme.example",
    }
    return Approver(user=user, roles=frozenset(roles), **(values | changes))


def a_vote(user: str = "lea", roles: Iterable[str] = ("lead",), **changes: Any) -> Vote:
    """Return a yes of a lead."""
    values: dict[str, Any] = {
        "approval_id": "apr_1",
        "choice": Choice.APPROVE,
        "binding": BINDING,
        "channel": Channel.PAGE,
        "assurance": Assurance.AUTHENTICATED,
    }
    return Vote(user=user, roles=frozenset(roles), **(values | changes))
