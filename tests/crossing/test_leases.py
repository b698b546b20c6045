"""What a process may still send after it was stopped for a while."""

import asyncio
from dataclasses import replace

from gateway.case import Case
from gateway.crossing.leases import Living
from gateway.crossing.reads import NotRead
from gateway.errors import StoreUnavailable
from gateway.operations.templates import Known
from gateway.steps.claim import Terms
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate
from gateway.types.json import Json
from gateway.types.operations import Met, Operation, OpState
from gateway.types.outcomes import Finished, Status
from gateway.types.tools import Ensure
from tests.helpers.issuer import HandClock
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.reads import Scripted
from tests.helpers.writes import Counting, Writes, outcome_of, writes

LEASE_S = 0.05


class Held(Scripted):
    """A read before the call that takes until `go`, as long as the process is stopped."""

    def __init__(self, answers: list[Json | NotRead | Exception]) -> None:
        Scripted.__init__(self, answers)
        self.came, self.go = asyncio.Event(), asyncio.Event()

    async def read(
        self, case: Case, call: CallTemplate, known: Known, *, deadline_s: float, cause: Cause
    ) -> Json | NotRead:
        self.came.set()
        await self.go.wait()
        return await Scripted.read(self, case, call, known, deadline_s=deadline_s, cause=cause)


def stopped(store: Store) -> tuple[Writes, Held, "asyncio.Future[Finished]"]:
    """Begin a call that is stopped between its claim and its send, beyond its lease."""
    reads = Held([{"v": 1}])
    alpha = writes(
        store,
        Counting(),
        terms=Terms(lease_s=LEASE_S),
        reads=reads,
        old=CallTemplate(tool="crm.get"),
        ensure=(Ensure(when="old.v == 1", message="as before"),),
    )
    return alpha, reads, asyncio.ensure_future(alpha.call())


async def given_up(store: Store) -> Operation:
    """Wait until the lease of the only operation has run out, and return that."""
    async with asyncio.timeout(5):
        while not (found := await store.operations.lost()):
            await asyncio.sleep(LEASE_S)
    return found[0]


async def test_what_was_given_up_and_sent_by_another_is_not_sent_by_who_wakes_up(
    store: Store,
) -> None:
    """case: IDM-06"""
    alpha, reads, first = stopped(store)
    await reads.came.wait()
    found = await given_up(store)
    assert await store.operations.lose(found, "lease_expired", [])
    unknown = replace(found, state=OpState.INDETERMINATE)
    await store.operations.mark(unknown, OpState.FAILED_RETRYABLE, "a person looked", [])
    again = await claim(store, replace(found, call_id="call_again", state=OpState.READY))
    assert (again.met, again.operation.epoch) == (Met.TAKEN, 2)
    reads.go.set()
    finished = await first
    assert (finished.status, outcome_of(finished)["executed"]) == (Status.UNAVAILABLE, "no")
    assert alpha.server.count == 0
    assert await settle(store, again.operation, OpState.SUCCEEDED)


async def test_what_was_given_up_and_not_sent_is_known_not_to_have_been(store: Store) -> None:
    alpha, reads, first = stopped(store)
    await reads.came.wait()
    assert await store.operations.lose(await given_up(store), "lease_expired", [])
    reads.go.set()
    await first
    assert alpha.server.count == 0
    [row] = await store.operations.find(OperationFilter())
    assert row.state is OpState.FAILED_RETRYABLE


async def test_what_nobody_gave_up_meanwhile_goes_on(store: Store) -> None:
    alpha, reads, first = stopped(store)
    await reads.came.wait()
    await given_up(store)
    reads.go.set()
    assert (await first).status is Status.OK
    assert alpha.server.count == 1


class Rows:
    """Rows that are there, or are not; or a store that is away."""

    def __init__(self) -> None:
        self.there, self.away = True, False

    async def renew(self, living: object, lease_s: float) -> frozenset[str]:
        del living, lease_s
        if self.away:
            raise StoreUnavailable("away")
        return frozenset({"op_1"}) if self.there else frozenset()


def a_lease() -> tuple[Living, Rows, HandClock, Operation]:
    rows, clock = Rows(), HandClock()
    living = Living(table=rows, clock=clock, lease_s=15)
    until = microseconds(clock.now()) + 15_000_000
    operation = wanted(op_id="op_1", epoch=2, lease_until=until)
    living.begin(operation)
    return living, rows, clock, operation


async def test_within_its_lease_an_operation_may_be_sent_without_a_question() -> None:
    living, rows, clock, operation = a_lease()
    rows.away = True
    clock.move(14)
    assert await living.hold(operation)
    clock.move(2)
    assert not living.holds(operation)
    assert not await living.hold(operation)  # nobody can say
    rows.away = False
    assert await living.hold(operation)
    assert living.holds(operation)


async def test_a_row_that_others_took_ends_a_lease_before_its_time() -> None:
    living, rows, _, operation = a_lease()
    rows.there = False
    await living.renew()
    assert not living.holds(operation)
    assert not await living.hold(operation)


async def test_only_the_attempt_that_was_claimed_is_held() -> None:
    living, _, _, operation = a_lease()
    other = replace(operation, epoch=3)
    assert not living.holds(other)
    assert not await living.hold(other)
    living.end(other)
    assert living.has(operation)
    living.end(operation)
    assert not await living.hold(operation)


async def test_an_attempt_is_as_old_as_this_process_has_known_of_it() -> None:
    living, _, clock, operation = a_lease()
    clock.move(7)
    assert (living.age_s(operation), living.age_s(replace(operation, epoch=3))) == (7, 0)
    living.end(operation)
    clock.move(1)
    assert living.age_s(operation) == 8
    living.forget(operation)
    assert living.age_s(operation) == 0


async def test_what_is_known_makes_no_unknown_attempt_younger(store: Store) -> None:
    alpha = writes(store)
    await alpha.call()
    [row] = await store.operations.find(OperationFilter())
    assert alpha.pipeline.operate.living.age_s(row) == 0  # it was let go of
