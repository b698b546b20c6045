"""States of operations."""

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.operations.machine import (
    LATE,
    RESENT,
    TERMINAL,
    WAYS,
    Impossible,
    OpEvent,
    next_state,
    sources,
)
from gateway.types.operations import OpState, RetryClass

E, S = OpEvent, OpState
UNSAFE = sorted(set(RetryClass) - RESENT)


def ways(retry: RetryClass) -> dict[tuple[OpState, OpEvent], OpState]:
    """Return every way that there is for a class, found by trying each pair."""
    found: dict[tuple[OpState, OpEvent], OpState] = {}
    for state, event in product(OpState, OpEvent):
        with suppress(Impossible):
            found[state, event] = next_state(state, event, retry=retry)
    return found


@pytest.mark.parametrize("retry", RetryClass)
def test_every_pair_is_in_the_table_or_refused(retry: RetryClass) -> None:
    expected = dict(WAYS)
    if retry not in RESENT:
        del expected[S.INDETERMINATE, E.DISPATCH]
    assert ways(retry) == expected


@pytest.mark.parametrize("retry", RetryClass)
@pytest.mark.parametrize("event", OpEvent)
def test_the_guard_of_a_statement_lets_through_what_the_table_does(
    event: OpEvent, retry: RetryClass
) -> None:
    found = sources(event, retry=retry)
    assert set(found) == {state for state, each in ways(retry) if each is event}
    assert len(set(found)) == len(found) > 0


def test_an_unknown_outcome_is_sent_again_only_where_that_does_no_harm() -> None:
    assert {RetryClass.KEYED, RetryClass.NATURAL} == RESENT
    for retry in RESENT:
        assert next_state(S.INDETERMINATE, E.DISPATCH, retry=retry) is S.DISPATCHING
    for retry in UNSAFE:
        with pytest.raises(Impossible, match="`indeterminate` can't `dispatch`"):
            next_state(S.INDETERMINATE, E.DISPATCH, retry=retry)
    assert S.INDETERMINATE not in sources(E.DISPATCH)


def test_what_is_final_stays_final() -> None:
    assert {S.DENIED, S.FAILED_FINAL, S.COMPENSATED, S.ABANDONED} == TERMINAL
    for state, event, retry in product(TERMINAL, OpEvent, RetryClass):
        with pytest.raises(Impossible):
            next_state(state, event, retry=retry)


def test_every_state_but_the_first_is_reached() -> None:
    reached, new = {S.PROPOSED}, {S.PROPOSED}
    while new:
        new = {target for (state, _), target in WAYS.items() if state in new} - reached
        reached |= new
    assert reached == set(OpState)


def test_only_a_decision_leads_to_a_send() -> None:
    into = {(state, event) for (state, event), to in WAYS.items() if to is S.DISPATCHING}
    assert into == {
        (S.READY, E.DISPATCH),
        (S.FAILED_RETRYABLE, E.DISPATCH),
        (S.INDETERMINATE, E.DISPATCH),
        (S.AWAITING_APPROVAL, E.CONSUME),
    }


@pytest.mark.parametrize("retry", UNSAFE)
def test_only_proof_that_nothing_happened_leads_to_a_second_send(retry: RetryClass) -> None:
    known = ways(retry)
    seen: set[OpState] = set()
    open_ = {S.DISPATCHING}
    while open_:
        state = open_.pop()
        for (source, _), target in known.items():
            if source is state and target not in seen | {S.FAILED_RETRYABLE}:
                seen.add(target)
                open_.add(target)
    assert S.DISPATCHING not in seen
    assert S.SUCCEEDED in seen


@given(st.lists(st.sampled_from(OpEvent), max_size=40), st.sampled_from(UNSAFE))
def test_between_two_sends_stands_a_proof(events: list[OpEvent], retry: RetryClass) -> None:
    state, since_send = S.PROPOSED, [S.FAILED_RETRYABLE]
    for event in events:
        try:
            state = next_state(state, event, retry=retry)
        except Impossible:
            continue
        if state is S.DISPATCHING:
            assert S.FAILED_RETRYABLE in since_send
            since_send = []
        since_send.append(state)


def test_a_late_answer_means_what_it_would_have_meant_in_time() -> None:
    for event, late in LATE.items():
        assert next_state(S.INDETERMINATE, late) is next_state(S.DISPATCHING, event)
    assert E.LOSE not in LATE
