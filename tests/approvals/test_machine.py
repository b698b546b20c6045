import pytest

from gateway.approvals.machine import (
    TERMINAL,
    WAYS,
    ApprovalEvent,
    Impossible,
    next_state,
    sources,
)
from gateway.types.approvals import ApprovalState

S, E = ApprovalState, ApprovalEvent
ALL = [(state, event) for state in S for event in E]


def test_what_ends_has_no_way_out_and_what_is_open_has() -> None:
    assert {S.DENIED, S.EXPIRED, S.CANCELLED, S.SUPERSEDED, S.CONSUMED} == TERMINAL
    assert {state for state in S if state.is_open} == set(S) - TERMINAL


def test_only_votes_approve_and_only_what_is_approved_is_used() -> None:
    assert {event for (_, event), after in WAYS.items() if after is S.APPROVED} == {E.APPROVE}
    assert [before for (before, _), after in WAYS.items() if after is S.CONSUMED] == [S.APPROVED]


@pytest.mark.parametrize(("state", "event"), [pair for pair in ALL if pair not in WAYS])
def test_what_is_no_way_is_refused(state: ApprovalState, event: ApprovalEvent) -> None:
    with pytest.raises(Impossible, match=f"`{state}` can't `{event}`"):
        next_state(state, event)


@pytest.mark.parametrize(("state", "event"), list(WAYS))
def test_each_way_leads_where_the_table_says(state: ApprovalState, event: ApprovalEvent) -> None:
    assert next_state(state, event) is WAYS[state, event]
    assert state in sources(event)


def test_a_denial_is_no_way_out_of_what_is_approved() -> None:
    """Who says no then revokes: it is told apart in the log, and both end it."""
    assert sources(E.DENY) == (S.PENDING,)
    assert next_state(S.APPROVED, E.REVOKE) is S.CANCELLED
