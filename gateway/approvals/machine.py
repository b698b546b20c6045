"""States of approvals and the ways between them: one table, and nothing beside it."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.errors import WeighbridgeError
from gateway.types.approvals import ApprovalState

S = ApprovalState


class ApprovalEvent(StrEnum):
    """What can happen to an approval."""

    APPROVE = "approve"  # the votes satisfy the clause
    DENY = "deny"  # as many said no as the clause takes
    EXPIRE = "expire"  # nobody decided in time, or nobody used it in time
    CANCEL = "cancel"  # who asked takes it back, or who runs the gateway
    REVOKE = "revoke"  # an approver says no before it was used
    SUPERSEDE = "supersede"  # the call, its tool or the rule is another one now
    CONSUME = "consume"  # the very send uses it up


E = ApprovalEvent

# No way leads out of an end, and none leads to `approved` but by votes: no clock approves.
WAYS: Final[Mapping[tuple[ApprovalState, ApprovalEvent], ApprovalState]] = MappingProxyType(
    {
        (S.PENDING, E.APPROVE): S.APPROVED,
        (S.PENDING, E.DENY): S.DENIED,
        (S.PENDING, E.EXPIRE): S.EXPIRED,
        (S.PENDING, E.CANCEL): S.CANCELLED,
        (S.PENDING, E.SUPERSEDE): S.SUPERSEDED,
        (S.APPROVED, E.CONSUME): S.CONSUMED,
        (S.APPROVED, E.EXPIRE): S.EXPIRED,
        (S.APPROVED, E.CANCEL): S.CANCELLED,
        (S.APPROVED, E.REVOKE): S.CANCELLED,
        (S.APPROVED, E.SUPERSEDE): S.SUPERSEDED,
    }
)

TERMINAL: Final = frozenset(ApprovalState) - {state for state, _ in WAYS}


class Impossible(WeighbridgeError):
    """An event that can't happen to an approval in its state."""

    def __init__(self, state: ApprovalState, event: ApprovalEvent) -> None:
        super().__init__(f"an approval that is `{state}` can't `{event}`")
        self.state = state
        self.event = event


def next_state(state: ApprovalState, event: ApprovalEvent) -> ApprovalState:
    """Return the state after an event; raises `Impossible` where no way leads on."""
    after = WAYS.get((state, event))
    if after is None:
        raise Impossible(state, event)
    return after


def sources(event: ApprovalEvent) -> tuple[ApprovalState, ...]:
    """Return the states in which an event can happen, for the guards of SQL statements."""
    return tuple(state for state, each in WAYS if each is event)
