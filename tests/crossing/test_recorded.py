"""Answers of operations that have ended, on every way on which they leave."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from gateway.store.operations import OperationFilter
from gateway.store.sealed_copies import Scope
from gateway.store.store import Store
from gateway.types.guarantees import Idempotency, Injection, InjectPlace, Repeat
from gateway.types.json import Json
from gateway.types.operations import Delivered, OpState, RetryClass
from gateway.types.outcomes import Finished, Status
from gateway.types.tools import Risk
from tests.helpers.fake_server import until_async
from tests.helpers.held import ASK, a_house
from tests.helpers.sealed import telling
from tests.helpers.writes import Counting, outcome_of, said, writes

KEY = "weighbridge/idempotencyKey"
FAULT = said("no such customer", isError=True)
OPEN = ASK + "    output: {keep: [/id, /iban]}\n"
NARROW = ASK + "    output: {keep: [/id]}\n"


def texts(finished: Finished) -> list[str]:
    content = finished.result["content"]
    assert isinstance(content, list)
    return [str(block["text"]) for block in content if isinstance(block, dict)]


def customer() -> Delivered:
    data: dict[str, Json] = {"id": 1, "iban": "DE02100"}
    return said("customer 1 has DE02100", structuredContent=data)


async def test_an_answer_that_was_erased_is_said_to_be_and_nothing_is_sent_again(
    store: Store,
) -> None:
    alpha = writes(store, Counting(answers=[customer()]))
    await alpha.call()
    (operation,) = await store.operations.find(OperationFilter())
    scope, calls = Scope(tenant=operation.tenant), [operation.call_id]
    found = await store.sealed.step(scope, partial(telling, scope), id="01KBSHRED", calls=calls)
    assert found.operations == 1
    again = outcome_of(await alpha.call())
    assert (again["code"], again["executed"]) == ("outcome_lost", "yes")
    assert alpha.server.count == 1


@pytest.mark.parametrize(
    ("repeat", "way"),
    [
        (Repeat.DENY, "the contract lets nobody send it again unchanged before that"),
        (Repeat.ALLOW, "`gateway_repeat`, where that is listed, has it sent again unchanged"),
        (Repeat.APPROVE, "`gateway_repeat`, where that is listed, has a person asked"),
    ],
)
async def test_a_failure_that_is_told_again_says_so_and_how_long_it_stands_and_how_to_go_on(
    store: Store, repeat: Repeat, way: str
) -> None:
    alpha = writes(store, Counting(answers=[FAULT]), idempotency=Idempotency(repeat=repeat))
    first, again = await alpha.call(), await alpha.call()
    assert texts(first) == ["no such customer"]
    original, words = texts(again)
    assert original == "no such customer"
    until = datetime.fromisoformat(outcome_of(first)["replay_until"])
    assert f"gets the same answer until {outcome_of(first)['replay_until']}" in words
    assert datetime.fromisoformat(outcome_of(again)["replay_until"]) == until
    assert words.startswith("[replayed] the same call was sent before and failed")
    assert "nothing was sent now. Next: if the error names a mistake, call with corrected" in words
    assert outcome_of(first)["op_id"] in words
    assert way in words
    assert all(note in words for note in outcome_of(again)["notes"])
    assert (again.status, again.result["isError"]) == (Status.TOOL_FAILED, True)
    assert (await alpha.call({"v": 2})).status is Status.OK
    assert alpha.server.count == 2


async def test_who_gave_a_key_of_his_own_gets_a_failure_again_with_nothing_beside_it(
    store: Store,
) -> None:
    """case: IDM-01"""
    alpha = writes(store, Counting(answers=[FAULT]))
    first, again = await alpha.call(meta={KEY: "k1"}), await alpha.call(meta={KEY: "k1"})
    assert again.result["content"] == first.result["content"]
    assert (outcome_of(again)["replayed"], alpha.server.count) == (True, 1)


async def test_who_waited_for_the_same_call_gets_its_failure_with_nothing_beside_it(
    store: Store,
) -> None:
    server = Counting(answers=[FAULT])
    server.go.clear()
    alpha = writes(store, server)
    both = [asyncio.ensure_future(alpha.call()) for _ in range(2)]
    await server.came.wait()
    server.go.set()
    first, second = await asyncio.gather(*both)
    assert first.result["content"] == second.result["content"]


async def test_a_failure_after_which_nobody_knows_says_who_can_settle_it(store: Store) -> None:
    alpha = writes(store, Counting(answers=[FAULT]), risk=Risk.HIGH)
    op_id = outcome_of(await alpha.call())["op_id"]
    again = await alpha.call()
    assert (again.status, alpha.server.count) == (Status.INDETERMINATE, 1)
    assert f"have an administrator settle it (`weighbridge ops resolve {op_id}`)" in texts(again)[0]
    assert "replay_until" not in outcome_of(again)


async def test_what_may_be_sent_twice_is_sent_again_and_no_failure_stands_in_its_way(
    store: Store,
) -> None:
    alpha = writes(
        store, Counting(answers=[FAULT]), idempotency=Idempotency(retry=RetryClass.NATURAL)
    )
    await alpha.call()
    assert ((await alpha.call()).status, alpha.server.count) == (Status.OK, 2)


@pytest.mark.parametrize("waits", [False, True])
async def test_who_repeats_or_joins_a_call_gets_what_the_rules_of_his_own_call_let_out(
    store: Store, *, waits: bool
) -> None:
    server = Counting(answers=[customer()])
    alpha = a_house(store, server, policy=_allowing("/id, /iban"))
    if waits:
        server.go.clear()
    first = asyncio.ensure_future(alpha.call())
    await server.came.wait()
    if not waits:
        await first
    alpha.rule(_allowing("/id"))
    second = asyncio.ensure_future(alpha.call())
    if waits:
        [operation] = await store.operations.find(OperationFilter())
        joins = alpha.writes.pipeline.claim.joins
        await until_async(lambda: joins.awaits(operation.op_id))
    server.go.set()
    assert (await first).result["structuredContent"] == {"id": 1, "iban": "DE02100"}
    told = await second
    assert (told.result["structuredContent"], outcome_of(told)["replayed"]) == ({"id": 1}, True)
    assert "DE02100" not in str(told.result)
    assert server.count == 1


def _allowing(kept: str) -> str:
    return f"""rules:
  - id: may
    decision: allow
    match: {{tools: ["crm.*"]}}
    output: {{keep: [{kept}]}}
"""


async def test_who_comes_back_for_a_held_call_gets_what_the_rules_of_today_let_out(
    store: Store,
) -> None:
    house = a_house(store, Counting(answers=[customer()]), policy=OPEN)
    await house.decide(await house.call())
    assert "DE02100" in str((await house.call()).result)
    house.rule(NARROW)
    told = await house.call()
    assert (told.result["structuredContent"], outcome_of(told)["replayed"]) == ({"id": 1}, True)
    assert "DE02100" not in str(told.result)


async def test_a_late_answer_leaves_by_the_rules_of_the_day_on_which_it_is_told(
    store: Store,
) -> None:
    server = Counting(answers=[customer()])
    server.go.clear()
    house = a_house(store, server, policy=_allowing("/id, /iban"), timeout_s=0.1, window_s=30.0)
    lost = await house.call()
    assert lost.status is Status.INDETERMINATE
    house.rule(_allowing("/id"))
    server.go.set()
    await _until(lambda: _is_known(house.writes.operation, lost))
    told = await house.call()
    assert (told.result["structuredContent"], outcome_of(told)["replayed"]) == ({"id": 1}, True)
    assert "DE02100" not in str(told.result)


async def _is_known(operation: Callable[[Finished], Awaitable[Any]], finished: Finished) -> bool:
    return (await operation(finished)).state is OpState.SUCCEEDED


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(5):
        while not await holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("retry", "sends"), [(RetryClass.KEYED, 2), (RetryClass.NEVER, 1)])
async def test_an_error_that_could_be_made_again_is_an_answer_once_its_contract_says_otherwise(
    store: Store, retry: RetryClass, sends: int
) -> None:
    inject = Injection(place=InjectPlace.META, name="key")
    keyed = Idempotency(retry=RetryClass.KEYED, inject=inject)
    server = Counting(answers=[FAULT])
    house = a_house(store, server, policy=_allowing("/id"), idempotency=keyed)
    first = await house.call()
    assert "replay_until" not in outcome_of(first)
    house.rule(_allowing("/id"), idempotency=Idempotency(retry=retry, inject=inject))
    again = await house.call()
    assert server.count == sends
    if sends == 1:
        assert outcome_of(again)["replayed"] is True
        assert texts(again)[1].startswith("[replayed] the same call was sent before and failed")
