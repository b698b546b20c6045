"""The way back."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.operations.compensate import Readiness, Step, plan
from gateway.types.guarantees import CallTemplate, Compensation, CompensationClass
from gateway.types.operations import (
    IntentKey,
    KeySource,
    Operation,
    OpState,
    RetryClass,
    VerificationState,
)

SECOND = 1_000_000
KEY = IntentKey(key="k", source=KeySource.DERIVED, scope="s", intent="i", arguments="a")
UNDO = Compensation(
    kind=CompensationClass.COMPENSATABLE, call=CallTemplate(tool="desk.undo"), deadline_s=30.0
)
PIVOT = Compensation(kind=CompensationClass.PIVOT, reason="the parcel is on its way")
NEVER = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="a mail can't be called back")
CONTRACTS = {"desk.put": UNDO, "desk.ship": PIVOT, "desk.mail": NEVER}


def operation(name: str, tool: str = "desk.put", **other: Any) -> Operation:
    fields: dict[str, Any] = {
        "tenant": "t1",
        "server": "desk",
        "pin": "sha256:0",
        "revision": "sha256:1",
        "key": KEY,
        "retry": RetryClass.NEVER,
        "state": OpState.SUCCEEDED,
        "dispatched_at": 10 * SECOND,
        "settled_at": 20 * SECOND,
        **other,
    }
    return Operation(op_id=name, tool=tool, **fields)


def only(*operations: Operation, now_s: float = 20) -> Step:
    step, *others = plan(operations, CONTRACTS, int(now_s * SECOND))
    assert not others
    return step


def test_what_has_a_way_back_is_ready() -> None:
    step = only(operation("a"))
    assert (step.readiness, step.reason) == (Readiness.READY, "`desk.undo` undoes it")


def test_the_last_operation_is_undone_first() -> None:
    early, late = operation("a", settled_at=SECOND), operation("b", settled_at=2 * SECOND)
    assert [step.op.op_id for step in plan([early, late], CONTRACTS, 0)] == ["b", "a"]
    assert [step.op.op_id for step in plan([late, early], CONTRACTS, 0)] == ["b", "a"]


@pytest.mark.parametrize(
    ("now_s", "readiness"),
    [(50, Readiness.READY), (50.1, Readiness.DEADLINE_PASSED), (9e9, Readiness.DEADLINE_PASSED)],
)
def test_after_its_deadline_nothing_can_be_undone(now_s: float, readiness: Readiness) -> None:
    assert only(operation("a"), now_s=now_s).readiness is readiness


def test_what_can_t_be_undone_says_why() -> None:
    step = only(operation("a", "desk.mail"))
    assert (step.readiness, step.reason) == (Readiness.IRREVERSIBLE, NEVER.reason)
    missing = only(operation("a", "desk.other"))
    assert missing.readiness is Readiness.NOT_DECLARED
    assert "`desk.other`" in missing.reason


@pytest.mark.parametrize("state", [OpState.INDETERMINATE, OpState.DISPATCHING])
def test_what_nobody_knows_to_have_happened_is_not_undone(state: OpState) -> None:
    assert only(operation("a", state=state, settled_at=0)).readiness is Readiness.INDETERMINATE


@pytest.mark.parametrize(
    "state",
    sorted(
        set(OpState)
        - {
            OpState.SUCCEEDED,
            OpState.DISPATCHING,
            OpState.INDETERMINATE,
            OpState.COMPENSATING,
            OpState.COMPENSATED,
        }
    ),
)
def test_what_changed_nothing_is_no_part_of_a_plan(state: OpState) -> None:
    assert plan([operation("a", state=state)], CONTRACTS, 0) == ()


def test_before_a_pivot_the_only_way_is_forward() -> None:
    before = operation("a", settled_at=1 * SECOND)
    pivot = operation("b", "desk.ship", settled_at=2 * SECOND)
    after = operation("c", settled_at=3 * SECOND)
    steps = {step.op.op_id: step for step in plan([before, pivot, after], CONTRACTS, 0)}
    assert steps["c"].readiness is Readiness.READY
    assert steps["b"].readiness is Readiness.IRREVERSIBLE
    assert steps["a"].readiness is Readiness.FORWARD_ONLY
    assert "`b` happened after it" in steps["a"].reason


def test_a_pivot_that_may_have_happened_counts_as_one() -> None:
    before = operation("a", settled_at=1 * SECOND)
    pivot = operation("b", "desk.ship", state=OpState.INDETERMINATE, settled_at=2 * SECOND)
    step = plan([before, pivot], CONTRACTS, 0)[1]
    assert step.readiness is Readiness.FORWARD_ONLY
    assert "may have happened" in step.reason


def test_a_pivot_with_a_way_back_bars_what_was_before_it_until_it_is_undone() -> None:
    back = Compensation(kind=CompensationClass.PIVOT, call=CallTemplate(tool="desk.recall"))
    contracts = {**CONTRACTS, "desk.ship": back}
    before = operation("a", settled_at=1 * SECOND)
    pivot = operation("b", "desk.ship", settled_at=2 * SECOND)
    steps = plan([before, pivot], contracts, 0)
    assert [step.readiness for step in steps] == [Readiness.READY, Readiness.FORWARD_ONLY]
    undone = operation("b", "desk.ship", settled_at=2 * SECOND, state=OpState.COMPENSATED)
    steps = plan([before, undone], contracts, 0)
    assert [step.readiness for step in steps] == [Readiness.DONE, Readiness.READY]


@pytest.mark.parametrize(
    ("state", "readiness"),
    [
        (OpState.SUCCEEDED, Readiness.DONE),
        (OpState.DISPATCHING, Readiness.UNDER_WAY),
        (OpState.AWAITING_APPROVAL, Readiness.UNDER_WAY),
        (OpState.INDETERMINATE, Readiness.INDETERMINATE),
        (OpState.FAILED_RETRYABLE, Readiness.READY),
        (OpState.FAILED_FINAL, Readiness.INDETERMINATE),
        (OpState.DENIED, Readiness.READY),
    ],
)
@pytest.mark.parametrize("forward", [OpState.SUCCEEDED, OpState.COMPENSATING])
def test_a_compensation_tells_of_what_it_undoes(
    state: OpState, readiness: Readiness, forward: OpState
) -> None:
    undoing = operation("u", "desk.undo", compensates="a", state=state)
    assert only(operation("a", state=forward), undoing).readiness is readiness


def test_the_last_word_of_several_attempts_is_that_one_succeeded() -> None:
    lost = operation("u", "desk.undo", compensates="a", state=OpState.INDETERMINATE)
    done = operation("v", "desk.undo", compensates="a")
    assert only(operation("a"), lost, done).reason == "it was undone by `v`"


def test_only_an_idempotent_way_back_is_gone_again_without_knowing() -> None:
    lost = operation("u", "desk.undo", compensates="a", state=OpState.INDETERMINATE)
    again = Compensation(
        kind=CompensationClass.COMPENSATABLE,
        call=CallTemplate(tool="desk.undo"),
        is_idempotent=True,
    )
    (step,) = plan([operation("a"), lost], {"desk.put": again}, 0)
    assert step.readiness is Readiness.READY


def test_a_way_back_that_failed_may_have_undone_it_all_the_same() -> None:
    failed = operation("u", "desk.undo", compensates="a", state=OpState.FAILED_FINAL)
    ran = replace(failed, state=OpState.FAILED_RETRYABLE, evidence="its answer is an error")
    for attempt in (failed, ran):
        step = only(operation("a"), attempt)
        assert step.readiness is Readiness.INDETERMINATE
        assert step.reason == "`u` failed, and nobody knows whether `u` undid it"


def test_what_is_being_undone_or_was_is_not_undone_again() -> None:
    assert only(operation("a", state=OpState.COMPENSATED)).readiness is Readiness.DONE
    assert only(operation("a", state=OpState.COMPENSATING)).readiness is Readiness.UNDER_WAY


OPERATIONS = st.lists(
    st.builds(
        operation,
        st.uuids().map(str),
        st.sampled_from([*CONTRACTS, "desk.other"]),
        state=st.sampled_from(OpState),
        settled_at=st.integers(1, 100),
        dispatched_at=st.integers(1, 100),
    ),
    max_size=8,
)


@given(OPERATIONS, st.integers(0, 10**12), st.randoms(use_true_random=False))
def test_the_order_is_that_of_settling_backwards(
    operations: list[Operation], now: int, random: Any
) -> None:
    steps = plan(operations, CONTRACTS, now)
    times = [step.op.settled_at for step in steps]
    assert times == sorted(times, reverse=True)
    random.shuffle(operations)
    assert plan(operations, CONTRACTS, now) == steps


@given(OPERATIONS, st.integers(0, 10**12))
def test_only_what_is_known_to_have_happened_is_ready_and_nothing_before_a_pivot(
    operations: list[Operation], now: int
) -> None:
    is_barred = False
    for step in plan(operations, CONTRACTS, now):
        if step.readiness is Readiness.READY:
            assert not is_barred
            assert step.op.state is OpState.SUCCEEDED
            assert step.op.tool == "desk.put"
        if step.op.tool == "desk.ship" and step.readiness is not Readiness.DONE:
            is_barred = True
        assert step.reason


def test_a_way_back_that_a_check_refuted_undid_nothing() -> None:
    attempt = operation("undo", "desk.undo", compensates="a", verification=VerificationState.FAILED)
    first, *_ = plan([operation("a"), attempt], CONTRACTS, 20 * SECOND)
    assert (first.readiness, first.reason) == (
        Readiness.INDETERMINATE,
        "`undo` was to undo it, and a check found that it did not",
    )
    repeatable = {"desk.put": replace(UNDO, is_idempotent=True)}
    assert plan([operation("a"), attempt], repeatable, 20 * SECOND)[0].readiness is Readiness.READY
