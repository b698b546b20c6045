"""A write whose stateless server asks something first: all rounds are one operation."""

import asyncio

import pytest

from gateway.store.store import Store
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution, Failure, OpState, RetryClass, Undelivered
from gateway.types.outcomes import Finished, Status
from tests.helpers.writes import Counting, Writes, outcome_of, said, text_of, writes

LOST = Undelivered(failure=Failure.CLOSED, executed=Execution.UNKNOWN, detail="gone")


def question(state: str) -> Delivered:
    """Return the answer of a server that has to be asked again, with this state."""
    return Delivered(result={"resultType": "input_required", "requestState": state}, size=10)


def back(asked: Finished) -> JsonObject:
    """Return what a client brings to the next round."""
    return {"requestState": asked.result["requestState"]}


async def again(alpha: Writes, asked: Finished) -> Finished:
    return await alpha.call(params=back(asked))


async def test_a_further_round_is_sent_and_not_answered_from_the_store(store: Store) -> None:
    alpha = writes(store, Counting(answers=[question("s1"), question("s2")]))
    first = await alpha.call()
    second = await again(alpha, first)
    done = await again(alpha, second)
    assert [each.status for each in (first, second)] == [Status.INPUT_REQUIRED] * 2
    assert (done.status, text_of(done)) == (Status.OK, "done 3")
    assert "replayed" not in outcome_of(done)
    states = [each.params.get("requestState") for each in alpha.server.asked]
    assert states == [None, "s1", "s2"]
    operation = await alpha.operation(done)
    assert (operation.state, operation.epoch) == (OpState.SUCCEEDED, 3)


async def test_a_round_that_is_sent_again_after_its_answer_gets_that_answer(store: Store) -> None:
    alpha = writes(store, Counting(answers=[question("s1")]))
    asked = await alpha.call()
    done, repeated = await again(alpha, asked), await again(alpha, asked)
    whole = await alpha.call()
    assert [text_of(each) for each in (done, repeated, whole)] == ["done 2"] * 3
    assert outcome_of(repeated)["replayed"] is outcome_of(whole)["replayed"] is True
    assert alpha.server.count == 2


async def test_a_round_that_comes_twice_at_once_is_sent_once(store: Store) -> None:
    alpha = writes(store, Counting(answers=[question("s1")]))
    asked = await alpha.call()
    alpha.server.came.clear()
    alpha.server.go.clear()
    both = [asyncio.ensure_future(again(alpha, asked)) for _ in range(2)]
    await alpha.server.came.wait()
    alpha.server.go.set()
    assert [text_of(each) for each in await asyncio.gather(*both)] == ["done 2"] * 2
    assert alpha.server.count == 2


async def test_a_round_whose_answer_was_lost_is_unknown_and_not_sent_again(store: Store) -> None:
    """The question of the round before proves nothing of this one. case: IDM-03"""
    alpha = writes(store, Counting(answers=[question("s1"), LOST]))
    asked = await alpha.call()
    lost = await again(alpha, asked)
    assert (lost.status, outcome_of(lost)["executed"]) == (Status.INDETERMINATE, "unknown")
    for repeated in (await again(alpha, asked), await alpha.call()):
        assert repeated.status is Status.INDETERMINATE
    assert alpha.server.count == 2


@pytest.mark.parametrize("place", InjectPlace)
async def test_every_round_has_the_same_key_for_the_server(
    store: Store, place: InjectPlace
) -> None:
    inject = Injection(place=place, name="/note" if place is InjectPlace.ARGUMENT else "x-key")
    idempotency = Idempotency(retry=RetryClass.KEYED, inject=inject)
    alpha = writes(store, Counting(answers=[question("s1")]), idempotency=idempotency)
    await again(alpha, await alpha.call())
    sent = alpha.server.asked
    keys = [(each.params["arguments"], each.params.get("_meta"), each.headers) for each in sent]
    assert keys[0] == keys[1]
    assert (await alpha.operation(await alpha.call())).downstream_key in str(keys[0])


async def test_the_state_of_one_call_leads_to_no_other(store: Store) -> None:
    alpha = writes(store, Counting(answers=[question("s1"), said("another")]))
    asked = await alpha.call({"v": 1})
    other = await alpha.call({"v": 2}, params=back(asked))
    assert other.error is not None
    assert alpha.server.count == 1
