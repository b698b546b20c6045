"""Finding out what became of operations, over a real store."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateway import ids
from gateway.app.clearing import Clearing
from gateway.clock import SystemClock
from gateway.crossing.leases import Living
from gateway.crossing.reads import NotRead
from gateway.crossing.recall import Recall
from gateway.crossing.remains import Remains
from gateway.errors import StoreUnavailable
from gateway.operations.templates import Known
from gateway.steps.claim import Terms
from gateway.store.keys import TenantKeys
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.guarantees import CallTemplate, Idempotency, Lookup, Readback, Wait
from gateway.types.json import Json
from gateway.types.operations import (
    Execution,
    Failure,
    Met,
    Operation,
    OpState,
    RetryClass,
    Undelivered,
    VerificationState,
)
from gateway.types.outcomes import Finished, Status
from tests.helpers.fake_server import until_async
from tests.helpers.issuer import HandClock
from tests.helpers.operations import claim
from tests.helpers.reads import NOT_FOUND, Scripted
from tests.helpers.writes import PUT, Counting, Writes, outcome_of, said, text_of, writes

VAULT = Vault(TenantKeys(b"s" * 32).operations)  # as the pipeline has it
LOST = Undelivered(failure=Failure.CLOSED, executed=Execution.UNKNOWN, detail="gone")
GET = CallTemplate(tool="crm.get", args={"v": "$args.v"})


def a_lookup(absent_after_s: float = 0.0) -> Idempotency:
    lookup = Lookup(call=GET, found="result.there == true", absent_after_s=absent_after_s)
    return Idempotency(retry=RetryClass.QUERY, lookup=lookup, is_declared=True)


def _again(done: Operation) -> Operation:
    key = replace(done.key, key="sha256:died")
    sealed = VAULT.open(done.tenant, done.key.key, done.arguments)
    return replace(
        done,
        op_id=ids.new("op"),
        call_id=ids.new("call"),
        key=key,
        state=OpState.READY,
        arguments=VAULT.seal(done.tenant, key.key, sealed),
        outcome="",
        settled_at=0,
    )


def a_clearing(alpha: Writes) -> Clearing:
    pipeline = alpha.pipeline
    vault = pipeline.claim.vault
    return Clearing(
        operations=alpha.store.operations,
        recall=Recall(
            vault=vault,
            case_for=pipeline.resolve.case_for,
            tool=lambda key: PUT if key == PUT.key else None,
            clock=pipeline.record.clock,
        ),
        remains=Remains(vault=vault),
        checks=pipeline.checks,
        record=pipeline.record,
        vault=vault,
        joins=pipeline.claim.joins,
        living=pipeline.operate.living,
        clock=pipeline.record.clock,
        window_s=pipeline.claim.window_s,
    )


async def lost_one(store: Store, answers: Sequence[Json | NotRead]) -> tuple[Writes, Finished]:
    alpha = writes(
        store,
        Counting(answers=[LOST]),
        idempotency=a_lookup(),
        reads=Scripted(answers),
    )
    return alpha, await alpha.call()


async def test_a_lookup_that_finds_it_settles_it_and_nothing_is_sent_again(store: Store) -> None:
    """case: IDM-02"""
    alpha, first = await lost_one(store, [{"there": True}])
    assert first.status is Status.INDETERMINATE
    [due] = await store.operations.due()
    await a_clearing(alpha).look(due)
    operation = await alpha.operation(first)
    assert (operation.state, operation.evidence) == (OpState.SUCCEEDED, "lookup")
    again = await alpha.call()
    assert "took effect" in text_of(again)
    assert (outcome_of(again)["replayed"], alpha.server.count) == (True, 1)
    assert await store.operations.due() == []
    assert (await alpha.events(first)).count("side_effect recorded") == 2


async def test_a_lookup_that_proves_absence_makes_it_sendable(store: Store) -> None:
    alpha, first = await lost_one(store, [{"there": False}])
    [due] = await store.operations.due()
    await a_clearing(alpha).look(due)
    assert (await alpha.operation(first)).state is OpState.FAILED_RETRYABLE
    again = await alpha.call()
    assert (again.status, alpha.server.count) == (Status.OK, 2)


async def test_absence_is_proved_by_the_time_that_a_gateway_has_known_of_a_call(
    store: Store,
) -> None:
    """A clock that is ahead, or was set, makes nothing older. case: IDM-06"""
    alpha = writes(
        store,
        Counting(answers=[LOST]),
        idempotency=a_lookup(120),
        reads=Scripted([{"there": False}]),
    )
    first = await alpha.call()
    ahead = HandClock()
    ahead.move(10 * 365 * 86400.0)
    living = Living(table=store.operations, clock=ahead, lease_s=15)
    other = replace(a_clearing(alpha), living=living, clock=ahead)

    async def asked() -> OpState:
        found = await alpha.operation(first)
        await other.resolve(other.recall.case(found), found)
        return (await alpha.operation(first)).state

    assert await asked() is OpState.INDETERMINATE
    ahead.move(119)
    assert await asked() is OpState.INDETERMINATE
    ahead.move(1)
    assert await asked() is OpState.FAILED_RETRYABLE


async def test_absence_is_looked_for_as_soon_as_it_can_be_proved(store: Store) -> None:
    alpha = writes(
        store, Counting(answers=[LOST]), idempotency=a_lookup(5), reads=Scripted([{"there": False}])
    )
    await alpha.call()
    [due] = await store.operations.due()
    await a_clearing(alpha).look(due)
    [row] = await store.operations.find(OperationFilter())
    assert 0 < row.check_at - due.check_at <= 6_000_000


async def test_what_lost_its_lease_is_not_absent_within_another(store: Store) -> None:
    alpha = writes(store, idempotency=a_lookup(), reads=Scripted([{"there": False}]))
    done = await alpha.operation(await alpha.call())
    died = await claim(store, _again(done), lease_s=-1)
    clock = HandClock()
    clock.move(10 * 365 * 86400.0)
    living = Living(table=store.operations, clock=clock, lease_s=15)
    clearing = replace(a_clearing(alpha), living=living, clock=clock)
    [lost] = await store.operations.lost()
    await clearing.lose(lost)
    for seconds, state in ((14, OpState.INDETERMINATE), (2, OpState.FAILED_RETRYABLE)):
        found = await store.operations.get(died.operation.op_id)
        assert found is not None
        await clearing.resolve(clearing.recall.case(found), found)
        clock.move(seconds)
        found = await store.operations.get(died.operation.op_id)
        assert found is not None
        assert found.state is OpState.INDETERMINATE
        await clearing.resolve(clearing.recall.case(found), found)
        found = await store.operations.get(died.operation.op_id)
        assert found is not None
        assert found.state is state


async def test_what_is_still_open_at_a_gateway_is_not_absent(store: Store) -> None:
    """case: IDM-02"""
    server = Counting()
    server.go.clear()
    alpha = writes(
        store,
        server,
        idempotency=a_lookup(),
        reads=Scripted([{"there": False}]),
        timeout_s=0.1,
        window_s=60,
    )
    first = await alpha.call()
    assert first.status is Status.INDETERMINATE
    [due] = await store.operations.due()
    here, other = a_clearing(alpha), replace(a_clearing(alpha), living=nothing(store))
    await here.look(due)
    for each in (here, other):
        await each.resolve(each.recall.case(due), due)
        assert (await alpha.operation(first)).state is OpState.INDETERMINATE
    assert (await alpha.call()).status is Status.INDETERMINATE
    server.go.set()

    async def known() -> bool:
        return (await alpha.operation(first)).state is OpState.SUCCEEDED

    await until_async(known)
    assert server.count == 1


def nothing(store: Store) -> Living:
    """Return what another gateway has under way."""
    return Living(table=store.operations, clock=SystemClock(), lease_s=15)


@pytest.mark.parametrize("answer", [NOT_FOUND, {}])
async def test_a_lookup_that_proves_nothing_changes_nothing(
    store: Store, answer: Json | NotRead
) -> None:
    alpha, first = await lost_one(store, [answer])
    [due] = await store.operations.due()
    await a_clearing(alpha).look(due)
    assert (await alpha.operation(first)).state is OpState.INDETERMINATE
    assert await store.operations.due() == []  # for now: it is due later
    await a_clearing(alpha).look(due)  # another gateway's look at the same
    assert alpha.server.count == 1


async def test_an_operation_whose_gateway_died_is_told_of_once(store: Store) -> None:
    """case: IDM-02"""
    server = Counting()
    alpha = writes(store, server, idempotency=a_lookup(60), reads=Scripted([{"there": True}]))
    finished = await alpha.call()
    done = await alpha.operation(finished)
    # As if the gateway had stopped after the send: taken, and never settled.
    died = await claim(store, _again(done), lease_s=-1)
    clearing = a_clearing(alpha)
    [lost] = await store.operations.lost()
    await clearing.lose(lost)
    await clearing.lose(lost)
    found = await store.operations.get(died.operation.op_id)
    assert found is not None
    assert (found.state, found.evidence) == (OpState.INDETERMINATE, "lease_expired")
    _, *told = await alpha.events_of(lost.call_id)  # after that of the claim
    assert told == ["tool_call failed", "side_effect recorded"]
    [due] = await store.operations.due()
    await clearing.look(due)
    found = await store.operations.get(died.operation.op_id)
    assert found is not None
    assert found.state is OpState.SUCCEEDED


async def test_a_call_that_finds_what_a_dead_gateway_left_tells_its_end_first(store: Store) -> None:
    """case: IDM-02"""
    alpha = writes(store, terms=Terms(assumed_window_s=0.0))
    done = await alpha.operation(await alpha.call({"v": 1}))
    anew = replace(done, op_id=ids.new("op"), call_id=ids.new("call"), state=OpState.READY)
    died = await claim(store, anew, lease_s=-1)
    assert died.met is Met.TAKEN
    step = replace(alpha.pipeline.claim, resolve=a_clearing(alpha).resolve)
    again = await replace(alpha.pipeline, claim=step).handle(alpha.proposed({"v": 1}))
    assert (again.status, outcome_of(again)["op_id"]) == (Status.INDETERMINATE, anew.op_id)
    _, *told = await alpha.events_of(anew.call_id)  # after that of the claim
    assert told == ["tool_call failed", "side_effect recorded"]
    found = await store.operations.get(anew.op_id)
    assert found is not None
    assert (found.state, found.evidence) == (OpState.INDETERMINATE, "lease_expired")
    assert alpha.server.count == 1


class Away:
    """The operations of a store that went away after it had told of one."""

    async def settle(self, *args: object, **named: object) -> bool:
        raise StoreUnavailable(f"the disk is full: {args}, {named}")

    lose = take_check = verified = settle


async def _left_by_a_dead_gateway(alpha: Writes) -> None:
    done = await alpha.operation(await alpha.call())
    anew = replace(done, op_id=ids.new("op"), call_id=ids.new("call"), state=OpState.READY)
    died = await claim(alpha.store, anew, lease_s=-1)
    assert died.met is Met.TAKEN


@pytest.mark.parametrize("is_left", [True, False], ids=["left by a dead gateway", "looked up"])
async def test_a_call_about_whose_precursor_nothing_can_be_kept_is_not_sent(
    store: Store, is_left: bool
) -> None:
    """case: IDM-02"""
    if is_left:
        alpha = writes(store, terms=Terms(assumed_window_s=0.0))
        await _left_by_a_dead_gateway(alpha)
    else:
        alpha, _ = await lost_one(store, [{"there": False}])
    clearing = replace(a_clearing(alpha), operations=Away())
    step = replace(alpha.pipeline.claim, resolve=clearing.resolve)
    again = await replace(alpha.pipeline, claim=step).handle(alpha.proposed())
    assert again.status is Status.AUDIT_UNAVAILABLE
    assert (outcome_of(again)["code"], outcome_of(again)["executed"]) == ("not_resolved", "unknown")
    left = OpState.DISPATCHING if is_left else OpState.INDETERMINATE
    assert (await alpha.operation(again)).state is left
    assert alpha.server.count == 1


class Slowly:
    """A read that shows a change at the second look."""

    def __init__(self) -> None:
        self.looks = 0

    async def read(
        self, case: object, call: object, known: Known, *, deadline_s: float, cause: object
    ) -> Json:
        del case, call, known, deadline_s, cause
        self.looks += 1
        return {"state": "pending" if self.looks < 2 else "done"}


async def test_a_check_that_takes_longer_than_its_caller_ends_later(store: Store) -> None:
    readback = Readback(
        call=GET,
        expect="result.state == 'done'",
        wait=Wait(pending="result.state == 'pending'", interval_s=0.2, max_s=60),
    )
    alpha = writes(
        store,
        Counting(answers=[said("done", structuredContent={"id": 1})]),
        reads=Slowly(),
        readback=readback,
        timeout_s=0.1,
    )
    finished = await alpha.call()
    assert (finished.status, outcome_of(finished)["verification"]) == (Status.OK, "pending")
    operation = await alpha.operation(finished)
    assert operation.verification is VerificationState.PENDING
    await a_clearing(alpha).look(operation)
    assert (await alpha.operation(finished)).verification is VerificationState.VERIFIED
