import asyncio
from contextlib import suppress
from dataclasses import replace

import anyio
import pytest

from gateway.app.owner import ProcessOwner
from gateway.crossing.presence import Callers, Waiting
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.types.guarantees import Idempotency
from gateway.types.operations import Execution, Failure, OpState, Undelivered
from tests.helpers.cases import a_case, a_contract, a_tool
from tests.helpers.fake_server import until_async
from tests.helpers.operations import wanted
from tests.helpers.writes import Counting, writes

SAFE = Idempotency(is_cancel_safe=True, is_declared=True)
LOST = Undelivered(failure=Failure.TIMEOUT, executed=Execution.UNKNOWN, detail="it stopped")


def test_everybody_is_told_once_that_a_caller_has_left() -> None:
    waiting, told = Waiting(), list[int]()
    waiting.on_left(lambda: told.append(1))
    assert told == []
    waiting.leave()
    waiting.leave()
    waiting.on_left(lambda: told.append(2))
    assert told == [1, 2]


def test_only_callers_of_writes_that_may_be_cancelled_are_watched() -> None:
    tool, callers = a_tool(), Callers()
    safe = a_case(tool=tool, contract=a_contract(tool, idempotency=SAFE))
    for case, is_watched in ((safe, True), (a_case(tool=tool), False)):
        with callers.waiting(case):
            assert (callers.of(case) is not None) is is_watched
        assert callers.of(case) is None


def test_a_caller_that_got_its_answer_has_not_left() -> None:
    tool, callers, told = a_tool(), Callers(), list[int]()
    case = a_case(tool=tool, contract=a_contract(tool, idempotency=SAFE))
    with callers.waiting(case):
        waiting = callers.of(case)
        assert waiting is not None
        waiting.on_left(lambda: told.append(1))
    assert told == []
    with suppress(asyncio.CancelledError), callers.waiting(case):
        waiting = callers.of(case)
        assert waiting is not None
        waiting.on_left(lambda: told.append(2))
        raise asyncio.CancelledError
    assert told == [2]


@pytest.mark.parametrize("joined", [True, False])
def test_a_write_that_others_wait_for_as_well_is_not_cancelled(joined: bool) -> None:
    tool, told = a_tool(), list[int]()
    callers = Callers(joined=lambda op_id: joined and op_id == "op_1")
    case = a_case(tool=tool, contract=a_contract(tool, idempotency=SAFE))
    with suppress(asyncio.CancelledError), callers.waiting(case):
        waiting = callers.of(replace(case, operation=wanted(op_id="op_1")))
        assert waiting is not None
        waiting.on_left(lambda: told.append(1))
        raise asyncio.CancelledError
    assert told == ([] if joined else [1])


@pytest.mark.parametrize("is_safe", [True, False])
async def test_a_server_learns_of_a_caller_that_leaves_only_where_the_contract_lets_it(
    store: Store, is_safe: bool
) -> None:
    server, told = Counting(answers=[LOST]), list[int]()
    server.go.clear()
    async with anyio.create_task_group() as process:
        alpha = writes(
            store,
            server,
            idempotency=replace(SAFE, is_cancel_safe=is_safe),
            change=lambda pipeline: replace(pipeline, owner=ProcessOwner(process)),
        )
        async with anyio.create_task_group() as caller:
            caller.start_soon(alpha.call)
            await server.came.wait()
            [sent] = server.asked
            assert sent.may_cancel is is_safe
            if sent.presence is not None:
                sent.presence.on_left(lambda: told.append(1))
            caller.cancel_scope.cancel()
        assert told == [1] * is_safe
        server.go.set()  # what comes back settles it, whoever has gone

        async def settled() -> bool:
            [found] = await store.operations.find(OperationFilter())
            return found.state is OpState.INDETERMINATE

        await until_async(settled)
    assert server.count == 1
