"""Carrying out the way back, against real stores."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway import ids
from gateway.app.undoing import Undoing
from gateway.errors import StoreUnavailable, WeighbridgeError
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.types.calls import ProposedCall
from gateway.types.json import JsonObject
from gateway.types.operations import Met, Operation, OpState, Verification, VerificationState
from gateway.types.outcomes import Finished, Status
from tests.helpers.cases import a_call
from tests.helpers.issuer import HandClock
from tests.helpers.operations import claim, settle
from tests.helpers.undoings import ANN, a_refund, asked, compensating, now

OK = Finished(result={}, status=Status.OK)


def refused(status: Status, reason: str = "") -> Finished:
    result: JsonObject = {"structuredContent": {"reason": reason}} if reason else {}
    return Finished(result=result, status=status)


async def _origin(call_id: str) -> str:
    return f"trace of {call_id}"


@dataclass
class Desk:
    """Stands where the pipeline is: claims the row that a call names, and settles it."""

    store: Store
    ends: Callable[[Operation], Any] = lambda row: OpState.SUCCEEDED
    check: VerificationState = VerificationState.NOT_DECLARED
    clock: HandClock = field(default_factory=HandClock)
    calls: list[ProposedCall] = field(default_factory=list[ProposedCall])
    checks: int = 0

    async def handle(self, call: ProposedCall) -> Finished:
        self.calls.append(call)
        row = call.operation
        assert row is not None
        end = self.ends(row)
        if isinstance(end, Finished):
            return end
        if isinstance(end, Exception):
            raise end
        met = await claim(self.store, replace(row, call_id=call.call_id))
        if met.met is Met.TAKEN and end is not None:
            await settle(self.store, met.operation, end, evidence="said so")
        return OK

    async def confirm(self, original: Operation, done: Operation) -> Verification:
        assert done.compensates == original.op_id
        self.checks += 1
        return Verification(state=self.check, detail="still there")

    @property
    def undone(self) -> list[str]:
        rows = [call.operation for call in self.calls]
        return [row.compensates for row in rows if row is not None]

    @property
    def undoing(self) -> Undoing:
        return Undoing(
            operations=self.store.operations,
            call=lambda row: a_call(row.tool, call_id=ids.new("call")),
            handle=self.handle,
            confirm=self.confirm,
            clock=self.clock,
            origin=_origin,
        )


async def test_what_was_asked_for_is_carried_out_and_told_of_once(store: Store) -> None:
    op, desk = await a_refund(store), Desk(store)
    row = await asked(store, op)
    for _ in range(2):
        await desk.undoing.run_ready()
    [call] = desk.calls
    assert (call.cause, call.parent) == ("compensation", op.call_id)
    assert call.trace_header == f"trace of {op.call_id}"
    assert call.operation is not None
    assert call.operation.op_id == row.op_id
    after = await now(store, op)
    assert (after.state, after.evidence) == (OpState.COMPENSATED, f"`{row.op_id}` undid it")
    assert after.settled_at == op.settled_at
    assert (await now(store, row)).compensates == op.op_id
    events = await store.events.query(EventFilter(call=op.call_id, kind="admin"))
    bodies = [event.json()["body"] for event in events]
    ends = [body for body in bodies if isinstance(body, dict) and body.get("undo") == row.op_id]
    assert [body["action"] for body in ends] == ["compensation_requested", "compensation_ended"]
    assert ends[1].items() >= {"from": "compensating", "to": "compensated"}.items()


async def test_what_could_not_be_undone_stands_as_before(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    await Desk(store, ends=lambda row: OpState.FAILED_RETRYABLE).undoing.run_ready()
    after = await now(store, op)
    assert (after.state, after.evidence) == (
        OpState.SUCCEEDED,
        f"`{row.op_id}` did not undo it: said so",
    )


@pytest.mark.parametrize("end", [OpState.INDETERMINATE, OpState.FAILED_FINAL])
async def test_in_doubt_it_stays_on_its_way_and_is_not_tried_again(
    end: OpState, store: Store
) -> None:
    op = await a_refund(store)
    desk = Desk(store, ends=lambda row: end)
    row = await asked(store, op)
    for _ in range(2):
        await desk.undoing.run_ready()
    assert len(desk.calls) == 1
    assert (await now(store, op)).state is OpState.COMPENSATING
    unknown = await store.operations.find(OperationFilter(state=end.value))
    assert [one.op_id for one in unknown] == [row.op_id]


async def test_once_a_person_knows_the_doubt_is_over(store: Store) -> None:
    op = await a_refund(store)
    desk = Desk(store, ends=lambda row: OpState.INDETERMINATE)
    row = await asked(store, op)
    await desk.undoing.run_ready()
    await store.operations.mark(await now(store, row), OpState.SUCCEEDED, "seen", [])
    await desk.undoing.run_ready()
    assert (await now(store, op)).state is OpState.COMPENSATED


async def test_the_last_is_undone_first_and_one_that_fails_stops_no_other(store: Store) -> None:
    ops = [await a_refund(store) for _ in range(3)]
    late = ops[2].op_id
    work = compensating(store)
    steps = await work.plan([op.op_id for op in ops])
    await work.carry_out(steps, who=ANN, reason="")

    def fails(row: Operation) -> OpState:
        return OpState.FAILED_RETRYABLE if row.compensates == late else OpState.SUCCEEDED

    desk = Desk(store, ends=fails)
    await desk.undoing.run_ready()
    assert desk.undone == [late, ops[1].op_id, ops[0].op_id]
    states = [(await now(store, op)).state for op in ops]
    assert states == [OpState.COMPENSATED, OpState.COMPENSATED, OpState.SUCCEEDED]


async def test_an_earlier_one_waits_for_a_later_one_that_is_under_way(store: Store) -> None:
    early, late = await a_refund(store), await a_refund(store)
    other = await a_refund(store, tenant="acme", tool="desk.refund")
    later_row = await asked(store, late)
    await asked(store, early)
    taken = (await claim(store, replace(later_row, call_id="call_else"))).operation  # elsewhere
    desk = Desk(store)
    await desk.undoing.run_ready()
    assert desk.calls == []
    await settle(store, taken, OpState.SUCCEEDED)
    await desk.undoing.run_ready()
    assert desk.undone == [early.op_id]
    assert (await now(store, late)).state is OpState.COMPENSATED
    assert (await now(store, other)).state is OpState.SUCCEEDED


async def test_what_a_killed_gateway_left_behind_is_seen_through(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    taken = (await claim(store, replace(row, call_id="call_1"))).operation
    await settle(store, taken, OpState.SUCCEEDED)  # killed before the next line of its work
    desk = Desk(store)
    await desk.undoing.run_ready()
    assert desk.calls == []
    assert (await now(store, op)).state is OpState.COMPENSATED


async def test_a_command_that_was_killed_between_its_steps_has_asked_all_the_same(
    store: Store,
) -> None:
    op = await a_refund(store)
    await asked(store, op)
    await store.operations.mark(await now(store, op), OpState.SUCCEEDED, "", [])
    await Desk(store).undoing.run_ready()
    assert (await now(store, op)).state is OpState.COMPENSATED


async def test_a_refusal_for_good_is_the_end_of_it(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    says_no = refused(Status.DENIED, "no rule allows it")
    await Desk(store, ends=lambda row: says_no).undoing.run_ready()
    assert (await now(store, row)).state is OpState.ABANDONED
    after = await now(store, op)
    assert after.state is OpState.SUCCEEDED
    assert after.evidence.endswith("it was refused: denied, no rule allows it")


@pytest.mark.parametrize(
    "status", [Status.UNKNOWN_TOOL, Status.LIMIT_EXCEEDED, Status.AUDIT_UNAVAILABLE]
)
async def test_what_can_t_be_sent_yet_is_tried_for_a_time(status: Status, store: Store) -> None:
    op, other = await a_refund(store), await a_refund(store)
    row = await asked(store, other)
    earlier = await asked(store, op)
    desk = Desk(store, ends=lambda row: refused(status))
    undoing = desk.undoing
    await undoing.run_ready()
    assert desk.undone == [other.op_id]  # the earlier one waits with it
    assert (await now(store, row)).state is OpState.READY
    desk.clock.move(undoing.patience_s + 1)
    await undoing.run_ready()
    assert (await now(store, row)).state is OpState.ABANDONED
    assert (await now(store, other)).state is OpState.SUCCEEDED
    assert (await now(store, earlier)).state is OpState.READY


async def test_what_was_asked_for_and_can_t_be_read_is_given_up(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)

    def lost(row: Operation) -> ProposedCall:
        raise WeighbridgeError(f"what `{row.op_id}` was asked for can't be read")

    await replace(Desk(store).undoing, call=lost).run_ready()
    assert (await now(store, row)).state is OpState.ABANDONED
    assert (await now(store, op)).state is OpState.SUCCEEDED


async def test_what_is_not_to_be_undone_any_more_is_given_up(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    await store.operations.mark(await now(store, op), OpState.COMPENSATED, "by hand", [])
    desk = Desk(store)
    await desk.undoing.run_ready()
    assert desk.calls == []
    given_up = await now(store, row)
    assert (given_up.state, given_up.evidence) == (
        OpState.ABANDONED,
        f"`{op.op_id}` is compensated",
    )


async def test_a_fault_in_one_stops_no_other(store: Store) -> None:
    broken, fine = await a_refund(store), await a_refund(store)
    await asked(store, broken)
    await asked(store, fine)

    def fault(row: Operation) -> OpState | Exception:
        return RuntimeError("x") if row.compensates == broken.op_id else OpState.SUCCEEDED

    await Desk(store, ends=fault).undoing.run_ready()
    assert (await now(store, broken)).state is OpState.COMPENSATING
    assert (await now(store, fine)).state is OpState.COMPENSATED


async def test_without_a_store_the_sweep_ends(store: Store) -> None:
    await asked(store, await a_refund(store))
    gone = StoreUnavailable("gone")
    with pytest.raises(StoreUnavailable):
        await Desk(store, ends=lambda row: gone).undoing.run_ready()


@pytest.mark.parametrize(
    ("check", "state"),
    [
        (VerificationState.VERIFIED, OpState.COMPENSATED),
        (VerificationState.FAILED, OpState.SUCCEEDED),
        (VerificationState.PENDING, OpState.COMPENSATING),
        (VerificationState.INCONCLUSIVE, OpState.COMPENSATING),
    ],
)
async def test_it_counts_as_undone_when_its_check_holds(
    check: VerificationState, state: OpState, store: Store
) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    await Desk(store, check=check).undoing.run_ready()
    assert (await now(store, op)).state is state
    assert (await now(store, row)).verification is check


async def test_a_check_that_can_t_tell_yet_is_made_again_after_a_pause(store: Store) -> None:
    op = await a_refund(store)
    await asked(store, op)
    desk = Desk(store, check=VerificationState.PENDING)
    undoing = desk.undoing
    for _ in range(2):
        await undoing.run_ready()
    assert desk.checks == 1
    desk.check = VerificationState.VERIFIED
    desk.clock.move(undoing.pause_s + 1)
    await undoing.run_ready()
    assert (await now(store, op)).state is OpState.COMPENSATED


async def test_a_way_back_whose_own_result_fails_its_checks_undid_nothing(store: Store) -> None:
    op = await a_refund(store)
    row = await asked(store, op)
    taken = (await claim(store, replace(row, call_id="call_1"))).operation
    await settle(store, taken, OpState.SUCCEEDED, verification=VerificationState.FAILED)
    desk = Desk(store)
    await desk.undoing.run_ready()
    assert desk.checks == 0
    assert (await now(store, op)).state is OpState.SUCCEEDED
    [step] = await compensating(store).plan([op.op_id])
    assert step.reason == f"`{row.op_id}` was to undo it, and a check found that it did not"
