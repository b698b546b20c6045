"""Asking for the way back."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.actions import compensating as module
from gateway.actions.operations import OperationRefused
from gateway.operations.compensate import Readiness
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
)
from gateway.types.operations import Operation, OpState, RetryClass
from gateway.types.tools import Sensitivity
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.undoings import (
    ANN,
    BACK,
    PRINCIPAL,
    a_refund,
    asked,
    compensating,
    contracts,
    now,
    opened,
    resolving,
)


async def test_the_row_asks_for_the_way_back_as_the_same_principal(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    assert opened(store, row) == {
        "arguments": {"refund_id": "r1", "why": f"undo of {op.op_id}", "iban": "DE02"},
        "principal": PRINCIPAL,
    }
    assert (row.tool, row.server, row.user, row.tenant) == ("desk.cancel", "desk", "sam", "acme")
    assert (row.state, row.compensates) == (OpState.READY, op.op_id)
    assert [one.op_id for one in await store.operations.ready()] == [row.op_id]


async def test_what_the_write_was_given_in_confidence_stays_so_in_what_undoes_it(
    store: Store,
) -> None:
    known = contracts()
    refund = replace(known["desk.refund"], sensitive_results={"/refund_id": Sensitivity.SECRET})
    op = await a_refund(store, result={"refund_id": "r1-hyacinth"})
    row = await asked(store, op, known={**known, "desk.refund": refund})
    assert "hyacinth" not in row.shown
    assert opened(store, row)["concealed"] == {"r1-hyacinth": "secret"}


async def test_people_see_its_arguments_redacted(store: Store) -> None:
    row = await asked(store, await a_refund(store))
    assert "r1" in row.shown
    assert "DE02" not in row.shown


async def test_the_operation_is_on_its_way_back_and_keeps_its_time(store: Store) -> None:
    op = await a_refund(store)
    await asked(store, op)
    after = await now(store, op)
    assert (after.state, after.evidence) == (
        OpState.COMPENSATING,
        "ann wants it undone: too much",
    )
    assert after.settled_at == op.settled_at


async def test_who_asked_and_why_is_in_the_log(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    [event] = await store.events.query(EventFilter(call=op.call_id, kind="admin"))
    assert event.json()["body"] == {
        "action": "compensation_requested",
        "op": op.op_id,
        "tool": "desk.refund",
        "undo": row.op_id,
        "undo_tool": "desk.cancel",
        "reason": "too much",
        "by": "ann",
        "account": "ops",
    }


async def test_asking_twice_makes_one_row(store: Store) -> None:
    op = await a_refund(store)
    work = compensating(store)
    steps = await work.plan([op.op_id])
    [first] = await work.carry_out(steps, who=ANN, reason="")
    [second] = await work.carry_out(steps, who=ANN, reason="")
    assert (first.is_new, second.is_new) == (True, False)
    assert first.undo is not None
    assert second.undo is not None
    assert first.undo.op_id == second.undo.op_id
    [step] = await work.plan([op.op_id])
    assert step.readiness is Readiness.UNDER_WAY


async def test_after_a_failed_attempt_it_can_be_asked_for_again(store: Store) -> None:
    op = await a_refund(store)
    first = await asked(store, op)
    assert await store.operations.mark(first, OpState.ABANDONED, "denied", [])
    assert await store.operations.mark(await now(store, op), OpState.SUCCEEDED, "denied", [])
    second = await asked(store, op)
    assert second.op_id != first.op_id
    assert second.key.key != first.key.key


async def test_values_that_were_kept_back_are_taken_from_where_they_are_sealed(
    store: Store,
) -> None:
    op = await a_refund(store, result={"refund_id": "[masked]"}, captured={"/refund_id": "r9"})
    assert opened(store, await asked(store, op))["arguments"]["refund_id"] == "r9"


async def problem(store: Store, op: Operation, known: Any = None) -> str:
    work = compensating(store, known)
    [step] = await work.plan([op.op_id])
    assert step.readiness is Readiness.INCOMPLETE
    assert await work.carry_out([step], who=ANN, reason="") == ()
    assert (await now(store, op)).state is OpState.SUCCEEDED
    return step.reason


async def test_what_is_missing_for_it_is_said_and_changes_nothing(store: Store) -> None:
    bare = await a_refund(store, result={})
    assert await problem(store, bare) == (
        "`desk.cancel` can't be called: there is no `$result.refund_id`"
    )
    only = {"desk.refund": contracts()["desk.refund"]}
    assert await problem(store, await a_refund(store), only) == (
        "there is no contract for `desk.cancel`, which would undo it"
    )
    lost = (await claim(store, wanted(key="lost"))).operation  # nothing sealed with it
    await settle(store, lost, OpState.SUCCEEDED)
    assert await problem(store, lost) == (
        "what it was asked for is not kept any more, or can't be read"
    )


async def test_one_that_can_t_be_asked_for_stops_no_other(store: Store) -> None:
    early = await a_refund(store)
    bad = await a_refund(store, result={})
    late = await a_refund(store)
    work = compensating(store)
    steps = await work.plan([early.op_id, bad.op_id, late.op_id])
    assert [step.readiness for step in steps] == [
        Readiness.READY,
        Readiness.INCOMPLETE,
        Readiness.READY,
    ]
    done = await work.carry_out(steps, who=ANN, reason="")
    assert [one.problem for one in done] == ["", ""]
    rows = await store.operations.ready()
    assert [row.compensates for row in rows] == [late.op_id, early.op_id]


async def test_what_went_missing_since_the_plan_is_said_and_stops_no_other(store: Store) -> None:
    early, late = await a_refund(store), await a_refund(store)
    steps = await compensating(store).plan([early.op_id, late.op_id])
    gone = {"desk.refund": contracts()["desk.refund"]}
    done = await compensating(store, gone).carry_out(steps, who=ANN, reason="")
    missing = "there is no contract for `desk.cancel`, which would undo it"
    assert [(one.undo, one.problem) for one in done] == [(None, missing)] * 2


async def test_what_a_person_confirmed_has_no_answer_to_be_undone_by(store: Store) -> None:
    op = await a_refund(store, OpState.INDETERMINATE)
    op = await resolving(store).resolve(
        op.op_id, happened=True, evidence="in the ledger", who=ANN, window_s=60
    )
    [step] = await compensating(store).plan([op.op_id])
    assert (step.readiness, step.reason) == (
        Readiness.INCOMPLETE,
        "`desk.cancel` can't be called: there is no `$result.refund_id`",
    )


async def test_a_plan_names_what_changed_nothing(store: Store) -> None:
    op = await a_refund(store, OpState.FAILED_RETRYABLE)
    [step] = await compensating(store).plan([op.op_id, op.op_id])
    assert (step.readiness, step.reason) == (Readiness.NOTHING, "it is `failed_retryable`")


async def test_what_is_not_ready_is_not_asked_for(store: Store) -> None:
    never = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="a mail is out")
    unknown = await a_refund(store, OpState.INDETERMINATE)
    sent = await a_refund(store)
    work = compensating(store, contracts(never))
    steps = await work.plan([unknown.op_id, sent.op_id])
    assert {step.readiness for step in steps} == {
        Readiness.INDETERMINATE,
        Readiness.IRREVERSIBLE,
    }
    assert await work.carry_out(steps, who=ANN, reason="") == ()
    assert await store.operations.ready() == []


async def test_a_way_back_is_not_undone_itself(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    with pytest.raises(OperationRefused, match=f"`{row.op_id}` undoes `{op.op_id}`"):
        await compensating(store).plan([row.op_id])


async def test_only_a_repeatable_way_back_is_asked_for_again_in_doubt(store: Store) -> None:
    op = await a_refund(store)
    first = await asked(store, op)
    taken = (await claim(store, replace(first, call_id="call_undo"))).operation
    await settle(store, taken, OpState.INDETERMINATE)
    [step] = await compensating(store).plan([op.op_id])
    assert step.readiness is Readiness.INDETERMINATE
    again = contracts(replace(BACK, is_idempotent=True))
    assert (await asked(store, op, known=again)).op_id != first.op_id


async def test_the_server_s_key_is_known_to_the_way_back(store: Store) -> None:
    back = replace(BACK, call=CallTemplate(tool="desk.cancel", args={"key": "$op.key"}))
    op = await a_refund(store, downstream_key="77", retry=RetryClass.KEYED)
    row = await asked(store, op, known=contracts(back))
    assert opened(store, row)["arguments"] == {"key": "77"}


async def test_operations_are_chosen_that_may_have_changed_something(store: Store) -> None:
    done = await a_refund(store)
    await a_refund(store, OpState.FAILED_FINAL)
    undone = await a_refund(store)
    await asked(store, undone)
    found = await module.chosen(store.operations, OperationFilter(user="sam", limit=100))
    assert set(found) == {done.op_id, undone.op_id}
    with pytest.raises(OperationRefused, match="too many"):
        await module.chosen(store.operations, OperationFilter(user="sam", limit=4))


async def test_a_server_that_knows_keys_gets_one_for_the_way_back(store: Store) -> None:
    known = contracts()
    injection = Injection(place=InjectPlace.META, name="desk/key")
    keyed = Idempotency(retry=RetryClass.KEYED, inject=injection)
    known["desk.cancel"] = replace(known["desk.cancel"], idempotency=keyed)
    row = await asked(store, await a_refund(store), known=known)
    assert row.retry is RetryClass.KEYED
    assert len(row.downstream_key) == 36
