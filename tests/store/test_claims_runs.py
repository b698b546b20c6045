"""Claims within runs: no write slips through a phase that has closed, whichever gateway closed it.

Each house is a gateway of its own; two of them share one database.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.operations.meeting import DAY
from gateway.runs import moves
from gateway.runs.binding import KEY
from gateway.runs.templates import Guard, Template
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState, Choice
from gateway.types.guarantees import OF_RUN, Idempotency
from gateway.types.operations import Execution, Failure, Operation, OpState, Undelivered
from gateway.types.outcomes import Finished, Status
from gateway.types.runs import BindingKind, Mode, Mover, Phase, Place, Run, StopReason
from gateway.types.tools import Risk
from gateway.types.values import replaced
from tests.helpers.cases import ALLOW_ALL, a_principal
from tests.helpers.databases import OpenStore
from tests.helpers.held import ASK, House, a_house
from tests.helpers.runs import START, a_field, begun, in_runs, moved, tales, told
from tests.helpers.writes import Counting, outcome_of

pytestmark = pytest.mark.postgres

NOT_SENT = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="away")
LOST = Undelivered(failure=Failure.TIMEOUT, executed=Execution.UNKNOWN, detail="no answer")


def a_place(store: Store, *templates: Template, policy: str = ALLOW_ALL, **contract: Any) -> House:
    return in_runs(a_house(store, policy=policy, **contract), *templates)


async def acting(store: Store, **changes: Any) -> Run:
    return await moved(store, await begun(store, **changes), Phase.ACTING)


async def of_session(store: Store, phase: Phase) -> Run:
    """Begin a run that a session leads to from now on."""
    run = await moved(store, await begun(store), phase)
    await store.runs.bind(run, _session("sessionId=s1"))
    return run


async def writes(house: House, run: Run, value: int = 1) -> Finished:
    return await house.call({"v": value}, meta={KEY: run.run_id})


async def now_of(store: Store, run: Run) -> Run:
    found = await store.runs.get(run.run_id)
    assert found is not None
    return found


def between(house: House, meddle: Callable[[], Any]) -> House:
    """Return a house in which something happens once, just before the next claim."""
    pipeline = house.writes.pipeline
    inner = pipeline.claim
    done: list[int] = []

    async def claim(case: Any, ticket: Any) -> Any:
        if not done:
            done.append(1)
            await meddle()
        return await inner(case, ticket)

    changed = replace(pipeline, claim=claim)  # pyright: ignore[reportArgumentType] - stands before it
    return replace(house, writes=replace(house.writes, pipeline=changed))


async def test_a_write_is_made_in_its_run_and_known_by_it(store: Store) -> None:
    house, run = a_place(store), await acting(store)
    done = await writes(house, run)
    assert done.status is Status.OK
    operation = await house.writes.operation(done)
    assert operation.run_id == run.run_id
    assert (await now_of(store, run)).succeeded == ("crm.put",)
    other = await acting(store)
    again = await writes(house, other)
    assert "replayed" not in outcome_of(again)  # the same call of another run is another call
    assert house.server.count == 2


async def test_a_weak_binding_makes_no_second_call_of_a_repeated_one(store: Store) -> None:
    house, session = a_place(store), {"sessionId": "s1"}
    run = await moved(store, await begun(store), Phase.ACTING)
    await store.runs.bind(run, _session("sessionId=s1"))
    first = await house.call(meta=session)
    other = await moved(store, await begun(store), Phase.ACTING)
    await store.runs.bind(other, _session("sessionId=s1"))
    again = await house.call(meta=session)
    assert (outcome_of(first)["run_id"], outcome_of(again)["run_id"]) == (run.run_id, other.run_id)
    assert outcome_of(again)["replayed"] is True
    assert house.server.count == 1


async def test_what_one_run_left_is_open_in_the_run_that_sends_it_again(store: Store) -> None:
    server = Counting(answers=[NOT_SENT])
    declared = Idempotency(intent=("/v",), is_declared=True)
    house = a_place(store, server=server, idempotency=declared)
    session = {"sessionId": "s1"}
    first = await of_session(store, Phase.ACTING)
    await house.call(meta=session)
    assert server.count == 1
    await moved(store, first, Phase.COMPLETED)
    second = await of_session(store, Phase.ACTING)
    server.go.clear()
    under_way = asyncio.create_task(house.call(meta=session))
    async with asyncio.timeout(5):
        while (await now_of(store, second)).open_ops == 0:
            await asyncio.sleep(0)
    met = moves.ended(await now_of(store, second), Phase.COMPLETED, Mover.HOST, None, now=START)
    assert isinstance(met, moves.Blocked)
    assert "1 operation is under way" in met.reason
    server.go.set()
    done = await under_way
    assert (await house.writes.operation(done)).run_id == second.run_id
    after = [await now_of(store, each) for each in (first, second)]
    assert [each.succeeded for each in after] == [(), ("crm.put",)]


async def test_the_run_that_has_people_asked_about_what_another_one_left_waits_for_them(
    store: Store,
) -> None:
    declared = Idempotency(intent=("/v",), is_declared=True)
    house = a_place(store, server=Counting(answers=[NOT_SENT]), idempotency=declared)
    session = {"sessionId": "s1"}
    first = await of_session(store, Phase.ACTING)
    await house.call(meta=session)
    second = await of_session(store, Phase.ACTING)
    house.rule(ASK)
    pending = await house.call(meta=session)
    assert pending.status is Status.APPROVAL_PENDING
    assert (await house.approval(pending)).run_id == second.run_id
    waits = await now_of(store, second)
    assert (waits.phase, waits.pending_approvals) == (Phase.AWAITING_APPROVAL, 1)
    third = await of_session(store, Phase.ACTING)  # the call comes back in yet another run
    anew = await house.call(meta=session)
    assert (await house.approval(anew)).run_id == third.run_id
    runs = [await now_of(store, each) for each in (first, second, third)]
    assert [(each.phase, each.pending_approvals) for each in runs] == [
        (Phase.ACTING, 0),
        (Phase.ACTING, 0),
        (Phase.AWAITING_APPROVAL, 1),
    ]
    await house.decide(anew)
    done = await house.call(meta=session)
    assert done.status is Status.OK
    assert (await house.writes.operation(done)).run_id == third.run_id


@pytest.mark.parametrize("phase", [Phase.RETRIEVING, Phase.FINALIZING, Phase.COMPLETED])
async def test_a_phase_that_closes_between_judging_and_claiming_lets_no_write_through(
    store: Store, phase: Phase
) -> None:
    """Failure case 21: a phase change races a write."""
    run = await acting(store, mode=Mode.HOST)
    house = between(a_place(store), lambda: _close(store, run, phase))
    met = await writes(house, run)
    assert met.status is Status.PHASE_BLOCKED
    assert house.server.count == 0


async def test_a_pause_between_judging_and_claiming_holds_the_write(store: Store) -> None:
    run = await acting(store)
    paused = replaced(run, is_paused=True, note="wait")
    house = between(a_place(store), lambda: store.runs.change(run, paused, told))
    met = await writes(house, run)
    assert (met.status, outcome_of(met)["reason"]) == (
        Status.PHASE_BLOCKED,
        "the run is paused: wait",
    )
    assert house.server.count == 0


@pytest.mark.parametrize(
    "change", [{"is_paused": True}, {"phase": Phase.FAILED, "stop_reason": StopReason.FAILED}]
)
async def test_a_run_around_it_that_stops_between_judging_and_claiming_holds_the_write(
    store: Store, change: dict[str, Any]
) -> None:
    around = await acting(store)
    run = await acting(store, parent=around.run_id, scopes=a_principal().scopes)
    house = a_place(store)
    assert (await writes(house, run)).status is Status.OK
    after = replaced(around, **change)
    met = await writes(between(house, lambda: store.runs.change(around, after, told)), run, 2)
    assert met.status is Status.PHASE_BLOCKED
    assert f"the run `{around.run_id}` around this one is" in outcome_of(met)["reason"]
    assert house.server.count == 1


async def test_a_change_that_closes_nothing_has_the_write_judged_anew_and_sent(
    store: Store,
) -> None:
    run = await acting(store)
    noted = replaced(run, note="Ana looks on")
    house = between(a_place(store), lambda: store.runs.change(run, noted, told))
    assert (await writes(house, run)).status is Status.OK
    assert house.server.count == 1


async def test_a_pause_during_a_send_holds_the_next_write_and_not_this_one(store: Store) -> None:
    """Failure case 21: pause during dispatch."""
    server = Counting()
    server.go.clear()
    house, run = a_place(store, server=server), await acting(store)
    under_way = asyncio.create_task(writes(house, run))
    await server.came.wait()
    assert await store.runs.change(run, replaced(run, is_paused=True), told)
    assert (await writes(house, run, 2)).status is Status.PHASE_BLOCKED
    server.go.set()
    assert (await under_way).status is Status.OK
    after = await now_of(store, run)
    assert (after.open_ops, after.succeeded, after.is_paused) == (0, ("crm.put",), True)


async def test_a_run_with_an_operation_of_which_nobody_knows_is_not_completed(
    store: Store,
) -> None:
    """Failure case 21: completion with an indeterminate operation is refused."""
    house, run = a_place(store, server=Counting(answers=[LOST])), await acting(store)
    assert (await writes(house, run)).status is Status.INDETERMINATE
    met = moves.ended(await now_of(store, run), Phase.COMPLETED, Mover.HOST, None, now=START)
    assert isinstance(met, moves.Blocked)
    assert "nobody knows how it ended" in met.reason


GUARDED = Template(
    name="refund",
    enter_when={
        Phase.ACTING: (
            Guard(text="fields.customer_id", holds=lambda run: "customer_id" in run.fields),
            Guard(text="open_ops == 0", holds=lambda run: run.open_ops == 0),
        )
    },
)


async def test_the_write_that_takes_a_run_to_acting_moves_it_with_its_own_intent(
    store: Store,
) -> None:
    house = a_place(store, GUARDED)
    run = await moved(store, await begun(store, template="refund"), Phase.RETRIEVING)
    met = await writes(house, run)
    assert outcome_of(met)["details"] == [{"missing": "fields.customer_id"}]
    await moved(store, run, Phase.RETRIEVING, fields={"customer_id": a_field()})
    done = await writes(house, run)
    assert done.status is Status.OK
    assert (await now_of(store, run)).phase is Phase.ACTING
    assert (await tales(store, run))[-1] == ("moved", "acting")


async def test_guards_that_count_are_judged_by_the_counts_of_the_claim(store: Store) -> None:
    """Two writes that would each take the run to acting, as long as nothing else is open."""
    server = Counting(answers=[LOST])
    house = a_place(store, GUARDED, server=server)
    fields = {"customer_id": a_field()}
    run = await moved(store, await begun(store, template="refund"), Phase.RETRIEVING, fields=fields)

    async def lose_another() -> None:
        acts = await moved(store, run, Phase.ACTING)
        assert (await writes(house, run, 7)).status is Status.INDETERMINATE
        await moved(store, acts, Phase.RETRIEVING)

    meddled = between(house, lose_another)
    met = await writes(meddled, run, 8)
    assert outcome_of(met)["details"] == [{"missing": "open_ops == 0"}]
    assert server.count == 1


async def test_asking_people_has_the_run_wait_and_the_last_decision_has_it_go_on(
    store: Store,
) -> None:
    """Failure case 21: the counter of `awaiting_approval` with three requests."""
    house, run = a_place(store, policy=ASK), await acting(store)
    pending = [await writes(house, run, value) for value in (1, 2, 3)]
    assert {each.status for each in pending} == {Status.APPROVAL_PENDING}
    waits = await now_of(store, run)
    assert (waits.phase, waits.resume_phase, waits.pending_approvals) == (
        Phase.AWAITING_APPROVAL,
        Phase.ACTING,
        3,
    )
    await house.decide(pending[0], Choice.DENY, reason="no")
    await house.decide(pending[1])
    assert (await now_of(store, run)).phase is Phase.AWAITING_APPROVAL
    sent = await writes(house, run, 2)  # what was approved may be sent while others wait
    assert sent.status is Status.OK
    await house.decide(pending[2])
    assert (await now_of(store, run)).phase is Phase.ACTING
    assert (await writes(house, run, 3)).status is Status.OK
    assert house.server.count == 2
    assert [phase for _, phase in await tales(store, run)] == [
        "created",
        "acting",
        "awaiting_approval",
        "acting",
    ]


async def test_while_people_decide_nothing_else_is_sent(store: Store) -> None:
    house, run = a_place(store, policy=ASK, risk=Risk.HIGH), await acting(store)
    pending = await writes(house, run)
    house.rule(ALLOW_ALL)
    met = await writes(house, run, 2)
    assert met.status is Status.PHASE_BLOCKED
    assert "until then only what they approve is sent" in outcome_of(met)["reason"]
    house.rule(ASK)
    await house.decide(pending)
    assert (await writes(house, run)).status is Status.OK
    assert house.server.count == 1


async def test_low_writes_that_the_template_names_go_on_meanwhile(store: Store) -> None:
    template = Template(name="refund", during_wait=frozenset({"crm.put"}))
    house = a_place(store, template, policy=ASK)
    run = await acting(store, template="refund")
    await writes(house, run)
    house.rule(ALLOW_ALL)
    house.law.revision = replace(house.law.revision, templates={"refund": template})
    assert (await writes(house, run, 2)).status is Status.OK
    assert (await now_of(store, run)).phase is Phase.AWAITING_APPROVAL


async def test_a_request_that_nobody_needs_any_more_is_not_waited_for(store: Store) -> None:
    house, run = a_place(store, policy=ASK), await acting(store)
    pending = await writes(house, run)
    assert (await now_of(store, run)).phase is Phase.AWAITING_APPROVAL
    approval = await house.approval(pending)
    await house.people.deciding.call_off(approval, "its run was stopped")
    after = await now_of(store, run)
    assert (after.phase, after.pending_approvals) == (Phase.ACTING, 0)


async def test_an_approval_of_a_paused_run_is_decided_and_not_used(store: Store) -> None:
    house, run = a_place(store, policy=ASK), await acting(store)
    pending = await writes(house, run)
    waits = await now_of(store, run)
    paused = await store.runs.change(waits, replaced(waits, is_paused=True), told)
    assert paused is not None
    await house.decide(pending)
    assert (await house.approval(pending)).state is ApprovalState.APPROVED
    assert (await writes(house, run)).status is Status.PHASE_BLOCKED
    assert (await house.approval(pending)).state is ApprovalState.APPROVED
    back = await now_of(store, run)
    assert await store.runs.change(back, replaced(back, is_paused=False), told)
    assert (await writes(house, run)).status is Status.OK
    assert house.server.count == 1


async def test_a_failed_run_sends_once_more_what_was_not_carried_out_and_nothing_new(
    store: Store,
) -> None:
    server = Counting(answers=[NOT_SENT])
    house = a_place(store, server=server, idempotency=Idempotency(intent=("/v",), is_declared=True))
    run = await acting(store)
    first = await writes(house, run)
    assert (await house.writes.operation(first)).state is OpState.FAILED_RETRYABLE
    failed = replaced(run, phase=Phase.FAILED, stop_reason=StopReason.FAILED)
    assert await store.runs.change(run, failed, told)
    met = await writes(house, run, 2)
    assert (met.status, "has failed" in outcome_of(met)["reason"]) == (Status.PHASE_BLOCKED, True)
    again = await writes(house, run)
    assert (again.status, outcome_of(again)["op_id"]) == (Status.OK, outcome_of(first)["op_id"])
    assert server.count == 2


def _days(operation: Operation) -> int:
    """For how many days its answer counts."""
    return round((operation.replay_until - operation.settled_at) / DAY)


async def test_in_its_run_a_call_is_not_made_a_second_time_as_long_as_operations_are_kept(
    store: Store,
) -> None:
    of_run = Idempotency(intent=("/v",), window_s=OF_RUN, is_declared=True)
    house = a_place(store, idempotency=of_run)
    runs = [await acting(store) for _ in range(2)]
    firsts = [await writes(house, run) for run in runs]
    assert [each.status for each in firsts] == [Status.OK] * 2  # in another run it is another call
    for run, first in zip(runs, firsts, strict=True):
        operation = await house.writes.operation(first)
        assert _days(operation) == 90
        again = outcome_of(await writes(house, run))
        assert (again["status"], again["op_id"]) == ("ok", operation.op_id)
    assert house.server.count == 2
    alone = await house.writes.operation(await house.call({"v": 1}))
    assert _days(alone) == 1


async def test_a_failed_run_asks_nobody_and_uses_no_approval(store: Store) -> None:
    house, run = a_place(store, policy=ASK), await acting(store)
    pending = await writes(house, run)
    await house.decide(pending)
    back = await now_of(store, run)
    failed = replaced(back, phase=Phase.FAILED, stop_reason=StopReason.FAILED)
    assert await store.runs.change(back, failed, told)
    for value in (1, 2):
        assert (await writes(house, run, value)).status is Status.PHASE_BLOCKED
    assert (await house.approval(pending)).state is ApprovalState.APPROVED
    assert house.server.count == 0


async def test_of_many_writes_and_a_closing_phase_each_is_before_or_after_it(
    open_store: OpenStore,
) -> None:
    """Failure case 21 with two gateways: what was sent was taken before the phase closed."""
    stores = [open_store(), open_store()]
    for round_nr in range(4):
        houses = [a_place(each) for each in stores]
        run = await acting(stores[0], mode=Mode.HOST)

        async def close() -> None:
            await asyncio.sleep(0)
            for _ in range(20):
                now = await now_of(stores[1], run)  # noqa: B023 - awaited within the round
                closed = replaced(now, phase=Phase.RETRIEVING)
                if await stores[1].runs.change(now, closed, told):
                    return

        calls = [writes(houses[nr % 2], run, 100 * round_nr + nr) for nr in range(12)]
        *met, _ = await asyncio.gather(*calls, close())
        sent = [each for each in met if isinstance(each, Finished) and each.status is Status.OK]
        assert sum(house.server.count for house in houses) == len(sent)
        late = await asyncio.gather(*(writes(house, run, 999) for house in houses))
        assert {each.status for each in late} == {Status.PHASE_BLOCKED}
        events = await stores[0].events.query(_of_run(run))
        order = [(str(each.json()["kind"]), str(each.json()["stage"])) for each in events]
        closed_at = order.index(("run", "moved"), 2)
        assert ("tool_call", "started") not in order[closed_at:]


def _close(store: Store, run: Run, phase: Phase) -> Any:
    return store.runs.change(run, replaced(run, phase=phase), told)


def _session(value: str) -> Place:
    return Place(kind=BindingKind.SESSION, value=value)


def _of_run(run: Run) -> EventFilter:
    return EventFilter(run=run.run_id, limit=1000)
