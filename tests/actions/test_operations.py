"""Operations as people see them and settle them."""

import json
from dataclasses import replace

import pytest

from gateway import jsontext
from gateway.actions import operations
from gateway.actions.operations import OperationRefused, Who
from gateway.results import kept
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.types.operations import (
    Execution,
    Met,
    Operation,
    OpState,
    RetryClass,
    VerificationState,
)
from gateway.types.outcomes import Answer, Refusal
from gateway.types.tools import Effect
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.undoings import ANN, a_refund, asked, now, resolving, vault


async def ended(store: Store, state: OpState, **changes: object) -> Operation:
    taken = (await claim(store, wanted(**{"key": f"k-{state}", **changes}))).operation
    await settle(store, taken, state)
    return await now(store, taken)


async def test_unknown_ones_come_first_and_then_the_newest(store: Store) -> None:
    unknown = await ended(store, OpState.INDETERMINATE)
    done = [await ended(store, OpState.SUCCEEDED, key=f"k{number}") for number in range(3)]
    found = await operations.listed(store.operations, OperationFilter(limit=3))
    assert [op.op_id for op in found] == [unknown.op_id, done[2].op_id, done[1].op_id]


async def test_a_state_that_is_asked_for_is_the_only_one(store: Store) -> None:
    await ended(store, OpState.INDETERMINATE)
    failed = await ended(store, OpState.FAILED_FINAL)
    found = await operations.listed(store.operations, OperationFilter(state="failed_final"))
    assert [op.op_id for op in found] == [failed.op_id]


async def test_unverified_are_those_whose_check_does_not_hold(store: Store) -> None:
    for state in VerificationState:
        taken = (await claim(store, wanted(key=state.value))).operation
        await settle(store, taken, OpState.SUCCEEDED, verification=state)
    found = await operations.listed(store.operations, OperationFilter(), unverified=True)
    assert {op.verification.value for op in found} == {"pending", "failed", "inconclusive"}


async def test_nothing_that_is_sealed_is_shown(store: Store) -> None:
    op = replace(await a_refund(store), shown='{"iban":"[secret]"}', created_at=1_000_000)
    shown = operations.as_json(op)
    text = json.dumps(shown)
    assert op.arguments not in text
    assert op.outcome not in text
    assert shown["arguments"] == {"iban": "[secret]"}
    assert shown["created_at"] == "1970-01-01T00:00:01+00:00"
    assert shown["next_check_at"] is None


def test_arguments_that_were_cut_are_shown_as_they_are_kept() -> None:
    assert operations.as_json(wanted(shown='{"a": "b'))["arguments"] == '{"a": "b'


@pytest.mark.parametrize("state", OpState)
def test_every_state_has_a_way_out(state: OpState) -> None:
    op = wanted(state=state, lease_until=1_000_000)
    text = operations.way_out(op)
    assert "{" not in text
    assert text


def test_a_call_whose_tool_failed_is_not_said_to_have_never_run() -> None:
    ran = wanted(state=OpState.FAILED_RETRYABLE, evidence="its answer is an error")
    assert operations.way_out(ran).startswith("it was carried out")
    assert "not carried out" in operations.way_out(replace(ran, evidence="it was never sent"))


def test_a_way_back_is_named_where_there_is_one() -> None:
    op = wanted(state=OpState.SUCCEEDED, compensation="compensatable")
    assert f"`weighbridge ops compensate {op.op_id} --execute`" in operations.way_out(op)
    assert "no way back" in operations.way_out(replace(op, compensation="irreversible"))


def test_what_a_person_has_only_just_confirmed_is_not_advised_to_be_undone() -> None:
    op = wanted(
        state=OpState.SUCCEEDED, compensation="compensatable", evidence="settled by ann: seen"
    )
    text = operations.way_out(op)
    assert text.startswith("it took effect, and calls that repeat it are told so")
    assert "--execute" not in text


async def resolved(store: Store, op: Operation, happened: bool = True) -> Operation:
    return await resolving(store).resolve(
        op.op_id, happened=happened, evidence="in the ledger", who=ANN, window_s=60
    )


async def test_what_happened_is_told_to_who_repeats_it_and_never_sent_again(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE, key="k")
    settled = await resolved(store, op)
    assert (settled.state, settled.evidence) == (
        OpState.SUCCEEDED,
        "settled by ann: in the ledger",
    )
    met = await claim(store, wanted(key="k"))
    assert (met.met, met.operation.op_id) == (Met.SETTLED, op.op_id)
    sealed = vault(store).open("acme", op.op_id, met.operation.outcome)
    body = jsontext.parse_result(sealed)
    assert isinstance(body, dict)
    answer = kept.from_json(body)
    assert isinstance(answer, Answer)
    assert "took effect" in str(answer.result)


async def test_without_its_data_a_tool_with_an_output_schema_gives_no_answer(store: Store) -> None:
    """case: OUT-03"""
    op = await ended(store, OpState.INDETERMINATE, key="k")
    tool = a_tool(a_definition("refund", outputSchema={"type": "object"}), "desk")
    known = {op.tool: a_contract(tool, effect=Effect.WRITE)}
    await resolving(store, known).resolve(
        op.op_id, happened=True, evidence="in the ledger", who=ANN, window_s=60
    )
    body = jsontext.parse_result(
        vault(store).open("acme", op.op_id, (await now(store, op)).outcome)
    )
    assert isinstance(body, dict)
    told = kept.from_json(body)
    assert isinstance(told, Refusal)
    assert (told.code, told.executed) == ("answer_lost", Execution.YES)


async def test_what_did_not_happen_may_be_sent_again(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE, key="k")
    assert (await resolved(store, op, happened=False)).state is OpState.FAILED_RETRYABLE
    again = await claim(store, wanted(key="k"))
    assert (again.met, again.operation.epoch) == (Met.TAKEN, 2)


async def test_who_settles_one_is_in_the_log_with_its_call(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE)
    await resolving(store).resolve(
        op.op_id,
        happened=True,
        evidence="seen, token ghp_" + "a1B2" * 9,
        who=Who(by="ann", account="ops"),
        window_s=60,
    )
    [event] = await store.events.query(EventFilter(call=op.call_id, kind="admin"))
    body = event.json()["body"]
    assert isinstance(body, dict)
    assert (
        body.items()
        >= {
            "action": "operation_resolved",
            "op": op.op_id,
            "from": "indeterminate",
            "to": "succeeded",
            "by": "ann",
            "account": "ops",
        }.items()
    )
    assert "ghp_" not in str(event.json())
    assert "ghp_" not in (await now(store, op)).evidence


async def test_what_is_still_open_at_a_gateway_is_not_called_absent(store: Store) -> None:
    taken = (await claim(store, wanted(key="k-open"))).operation
    await settle(store, taken, OpState.INDETERMINATE, is_open=True)
    op = await now(store, taken)
    with pytest.raises(OperationRefused, match="is still open at the gateway"):
        await resolved(store, op, happened=False)
    stale = _Stale(store, replace(op, lease_until=0))  # it was renewed since it was read
    work = replace(resolving(store), operations=stale)
    with pytest.raises(OperationRefused, match="`indeterminate`"):
        await work.resolve(op.op_id, happened=False, evidence="x", who=ANN, window_s=60)
    assert (await resolved(store, op)).state is OpState.SUCCEEDED


async def test_a_second_decision_is_told_the_first(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE)
    await resolved(store, op)
    with pytest.raises(OperationRefused) as refused:
        await resolved(store, op, happened=False)
    assert str(refused.value) == (
        f"`{op.op_id}` is `succeeded` already, settled by ann: in the ledger"
    )
    assert len(await store.events.query(EventFilter(call=op.call_id, kind="admin"))) == 1


async def test_only_what_nobody_knows_is_settled_by_hand(store: Store) -> None:
    op = await ended(store, OpState.SUCCEEDED)
    with pytest.raises(OperationRefused, match="only an operation that is `indeterminate` or"):
        await resolved(store, op)


async def test_an_operation_that_was_sent_again_meanwhile_is_not_settled(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE, key="k", retry=RetryClass.NATURAL)
    stale = _Stale(store, op)
    await claim(store, wanted(key="k", retry=RetryClass.NATURAL))
    work = replace(resolving(store), operations=stale)
    with pytest.raises(OperationRefused, match="`dispatching`"):
        await work.resolve(op.op_id, happened=False, evidence="x", who=ANN, window_s=60)


async def an_undone_one(store: Store) -> tuple[Operation, Operation]:
    """Make a refund that was undone, as its server says, and whose check can't tell."""
    op = await a_refund(store)
    row = await asked(store, op)
    taken = (await claim(store, replace(row, call_id="call_1"))).operation
    await settle(store, taken, OpState.SUCCEEDED, verification=VerificationState.INCONCLUSIVE)
    return await now(store, op), await now(store, row)


@pytest.mark.parametrize(
    ("happened", "end", "check"),
    [
        (True, OpState.COMPENSATED, VerificationState.INCONCLUSIVE),
        (False, OpState.SUCCEEDED, VerificationState.FAILED),
    ],
)
async def test_a_person_ends_a_way_back_whose_check_can_not_tell(
    store: Store, happened: bool, end: OpState, check: VerificationState
) -> None:
    op, row = await an_undone_one(store)
    assert op.state is OpState.COMPENSATING
    settled = await resolved(store, op, happened=happened)
    assert (settled.state, settled.evidence) == (end, "settled by ann: in the ledger")
    assert settled.settled_at == op.settled_at  # deadlines count from then
    assert (await now(store, row)).verification is check
    events = await store.events.query(EventFilter(call=op.call_id, kind="admin"))
    [told] = [
        event.json()["body"]
        for event in events
        if "operation_resolved" in jsontext.dump(event.json()).decode()
    ]
    assert isinstance(told, dict)
    assert (told["from"], told["to"], told["by"]) == ("compensating", end.value, "ann")
    with pytest.raises(OperationRefused, match="already, settled by ann"):
        await resolved(store, op, happened=not happened)


async def test_a_way_back_of_which_nothing_is_kept_is_ended_by_a_person_too(store: Store) -> None:
    op = await a_refund(store)
    assert await store.operations.mark(op, OpState.COMPENSATING, "bob wants it undone", [])
    assert (await resolved(store, op)).state is OpState.COMPENSATED


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (OpState.INDETERMINATE, "nobody knows whether `{row}` undid it; settle that one"),
        (OpState.DISPATCHING, "`{row}` is to undo it and is `dispatching`"),
        (OpState.READY, "`{row}` is to undo it and is `ready`"),
    ],
)
async def test_nobody_ends_a_way_back_that_may_still_end_otherwise(
    store: Store, state: OpState, why: str
) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    if state is not OpState.READY:
        taken = (await claim(store, replace(row, call_id="call_1"))).operation
        if state is not OpState.DISPATCHING:
            await settle(store, taken, state)
    with pytest.raises(OperationRefused) as refused:
        await resolved(store, op, happened=False)
    assert str(refused.value).startswith(why.format(row=row.op_id))
    assert (await now(store, op)).state is OpState.COMPENSATING


async def test_a_way_back_that_a_gateway_ended_meanwhile_is_not_ended_again(store: Store) -> None:
    op, row = await an_undone_one(store)
    stale = _Stale(store, op)
    assert await store.operations.mark(op, OpState.COMPENSATED, f"`{row.op_id}` undid it", [])
    work = replace(resolving(store), operations=stale)
    with pytest.raises(OperationRefused, match="`compensated`; only"):
        await work.resolve(op.op_id, happened=False, evidence="x", who=ANN, window_s=60)


class _Stale:
    """A store that was read before somebody else changed it."""

    def __init__(self, store: Store, read: Operation) -> None:
        self._reads = [read]
        self.find, self.settle = store.operations.find, store.operations.settle
        self.undoing, self.mark = store.operations.undoing, store.operations.mark
        self.verified = store.operations.verified
        self._get = store.operations.get

    async def get(self, op_id: str) -> Operation | None:
        return self._reads.pop() if self._reads else await self._get(op_id)


async def test_evidence_has_to_say_something(store: Store) -> None:
    op = await ended(store, OpState.INDETERMINATE)
    with pytest.raises(OperationRefused, match="`--evidence` is empty"):
        await resolving(store).resolve(
            op.op_id, happened=True, evidence=" \n", who=ANN, window_s=60
        )
    assert (await now(store, op)).state is OpState.INDETERMINATE


async def test_an_unknown_id_says_where_ids_are_listed(store: Store) -> None:
    with pytest.raises(OperationRefused) as refused:
        await operations.named(store.operations, "op_none")
    assert str(refused.value) == "there is no operation `op_none`; see `weighbridge ops list`"
