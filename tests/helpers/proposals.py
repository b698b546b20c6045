"""Proposals of policies, and people who agree with them."""

from typing import Any

from gateway import ids
from gateway.approvals.agreeing import Say
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.proposals import Backing, Proposal
from tests.helpers.cases import NOW

REVISION = "sha256:" + "ab" * 32


def a_proposal(**changes: Any) -> Proposal:
    """Return one that takes two people."""
    fields: dict[str, Any] = {
        "id": ids.new("prop"),
        "revision": REVISION,
        "base": "sha256:" + "00" * 32,
        "at": NOW,
        "because": "a file changed",
        "people": 2,
        "texts": {"policy.yaml": "rules: []\n"},
    }
    return Proposal(**(fields | changes))


def a_say(*roles: str, **changes: Any) -> Say:
    """Return who has a say: everybody of acme, or those with one of some roles."""
    names = ("ann", "bo", "cy", "dee")
    fields: dict[str, Any] = {
        "tenant": "acme",
        "roles": frozenset(roles),
        "accounts": {("acme", user): frozenset({"lead"}) for user in names},
    }
    return Say(**(fields | changes))


def somebody(user: str = "ann", *, account: str = "", **changes: Any) -> Approver:
    """Return somebody who came by a link of his own account, or at a shell of an account."""
    fields: dict[str, Any] = {
        "tenant": "acme",
        "user": user,
        "roles": frozenset({"lead"}),
        "assurance": Assurance.LOCAL,
        "channel": Channel.TERMINAL if account else Channel.PAGE,
        "issuer": f"os:{account or user}",
    }
    return Approver(**(fields | changes))


def backed_by(user: str = "ann", *, is_proposer: bool = False, **changes: Any) -> Backing:
    """Return the word of somebody."""
    return Backing(person=somebody(user, **changes), at=NOW, is_proposer=is_proposer)
