"""A changed policy that waits for people to agree, and who has."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from gateway.types.approvals import Approver
from gateway.types.json import Json, JsonObject
from gateway.types.values import value


class ProposalState(StrEnum):
    """What became of a proposal."""

    OPEN = "open"
    AGREED = "agreed"  # the last that was agreed on is in force
    REJECTED = "rejected"
    SUPERSEDED = "superseded"  # another one was agreed on meanwhile, so its summary says nothing


@value
class Proposal:
    """One revision that is to take force in place of another."""

    id: str
    revision: str  # `sha256:…`: exactly this is agreed on
    base: str  # the one in force when it was proposed, which its summary compares it with
    at: datetime
    because: str  # what brought it about
    people: int  # who have to agree
    texts: Mapping[str, str]  # of its files, by name
    warnings: int = 0  # of the linter
    tests: int = 0  # of the policy, all of which pass
    change: JsonObject = field(default_factory=dict[str, Json])
    """How many causes of wider and narrower decisions a glance has found."""
    state: ProposalState = ProposalState.OPEN
    settled_at: datetime | None = None


@value
class Backing:
    """Somebody who agrees with a proposal."""

    person: Approver
    at: datetime
    reason: str = ""
    is_proposer: bool = False
