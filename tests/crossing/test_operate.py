"""Writes through the whole pipeline, over a real store."""

import asyncio
from dataclasses import fields, replace
from datetime import datetime

import pytest

from gateway.case import Case
from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.pipeline import Pipeline
from gateway.relay.relay import Relay
from gateway.steps.claim import Terms
from gateway.steps.dispatch import Send
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.store.times import moment
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.operations import (
    Delivered,
    Execution,
    Failure,
    OpState,
    Rejected,
    RetryClass,
    Undelivered,
)
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.relay import Underway
from gateway.types.tools import Ensure, Sensitivity
from tests.helpers.databases import Outage, recovered
from tests.helpers.fake_server import until_async
from tests.helpers.writes import Counting, outcome_of, said, text_of, writes

KEY = "weighbridge/idempotencyKey"
LOST = Undelivered(failure=Failure.CLOSED, executed=Execution.UNKNOWN, detail="gone")
UNSENT = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="away")


async def test_a_write_is_sent_once_and_told_once(store: Store) -> None:
    alpha = writes(store)
    finished = await alpha.call()
    assert (finished.status, text_of(finished)) == (Status.OK, "done 1")
    operation = await alpha.operation(finished)
    assert (operation.state, operation.epoch) == (OpState.SUCCEEDED, 1)
    assert await alpha.events(finished) == [
        "authorization decided",
        "tool_call started",
        "tool_call finished",
        "side_effect recorded",
    ]


async def test_the_same_call_gets_the_same_answer_again(store: Store) -> None:
    """case: IDM-01"""
    alpha = writes(store)
    first = await alpha.call({"v": 1, "note": "a"})
    again = await alpha.call({"note": "a", "v": 1})
    assert alpha.server.count == 1
    assert again.result["content"] == first.result["content"]
    assert outcome_of(again)["replayed"] is True
    assert outcome_of(again)["op_id"] == outcome_of(first)["op_id"]
    assert await alpha.events(again) == ["authorization decided", "tool_call finished"]
    assert (await alpha.call({"v": 2})).status is Status.OK
    assert alpha.server.count == 2


async def test_an_answer_says_until_when_it_is_told_again(store: Store) -> None:
    """case: IDM-06"""
    alpha = writes(store, terms=Terms(assumed_window_s=60.0))
    first, again = await alpha.call(), await alpha.call()
    until = datetime.fromisoformat(outcome_of(first)["replay_until"])
    assert until == moment((await alpha.operation(first)).replay_until)
    assert 0 < (until - SystemClock().now()).total_seconds() <= 60
    assert outcome_of(again)["replay_until"] == outcome_of(first)["replay_until"]


@pytest.mark.parametrize("retry", [RetryClass.NATURAL, RetryClass.NEVER])
async def test_what_is_not_told_again_has_no_time_for_it(store: Store, retry: RetryClass) -> None:
    fault = [] if retry is RetryClass.NATURAL else [LOST]
    alpha = writes(store, Counting(answers=[*fault]), idempotency=Idempotency(retry=retry))
    assert "replay_until" not in outcome_of(await alpha.call())


async def test_fifty_at_once_are_one(store: Store) -> None:
    alpha = writes(store)
    answers = await asyncio.gather(*(alpha.call() for _ in range(50)))
    assert alpha.server.count == 1
    assert [text_of(each) for each in answers] == ["done 1"] * 50


async def test_a_caller_that_leaves_loses_nothing_but_its_answer(store: Store) -> None:
    """case: IDM-01"""
    server = Counting()
    server.go.clear()
    alpha = writes(store, server, timeout_s=0.2)
    waiting = asyncio.ensure_future(alpha.call())
    await server.came.wait()
    second = await alpha.call()
    assert (second.status, outcome_of(second)["retryable"]) == (Status.IN_PROGRESS, True)
    server.go.set()
    assert text_of(await waiting) == "done 1"
    assert text_of(await alpha.call()) == "done 1"
    assert server.count == 1


async def test_an_outcome_that_nobody_knows_is_said_to_be_so_and_not_sent_again(
    store: Store,
) -> None:
    """case: IDM-03"""
    alpha = writes(store, Counting(answers=[LOST]))
    first = await alpha.call()
    assert (first.status, outcome_of(first)["executed"]) == (Status.INDETERMINATE, "unknown")
    again = await alpha.call()
    assert (again.status, outcome_of(again)["op_id"]) == (
        Status.INDETERMINATE,
        outcome_of(first)["op_id"],
    )
    assert alpha.server.count == 1


@pytest.mark.parametrize("fault", [UNSENT, Rejected(code=-32601, message="no")])
async def test_what_certainly_did_not_happen_can_be_tried_again(
    store: Store, fault: Undelivered | Rejected
) -> None:
    """case: IDM-03"""
    alpha = writes(store, Counting(answers=[fault]))
    assert (await alpha.call()).status is not Status.OK
    again = await alpha.call()
    assert (again.status, alpha.server.count) == (Status.OK, 2)
    assert (await alpha.operation(again)).epoch == 2


@pytest.mark.parametrize("retry", [RetryClass.NATURAL, RetryClass.KEYED])
async def test_where_twice_is_once_an_unknown_outcome_is_sent_again(
    store: Store, retry: RetryClass
) -> None:
    inject = Injection(place=InjectPlace.META, name="key")
    alpha = writes(
        store,
        Counting(answers=[LOST]),
        idempotency=Idempotency(retry=retry, inject=inject if retry is RetryClass.KEYED else None),
    )
    await alpha.call()
    again = await alpha.call()
    assert (again.status, alpha.server.count) == (Status.OK, 2)
    first, second = (asked.params.get("_meta") for asked in alpha.server.asked)
    assert first == second
    assert (first is not None) == (retry is RetryClass.KEYED)


async def test_an_outcome_that_is_refused_takes_nothing_along_that_may_not_leave(
    store: Store,
) -> None:
    alpha = writes(
        store,
        Counting(answers=[said("made blue-canary", structuredContent={"code": "blue-canary"})]),
        sensitive_results={"/code": Sensitivity.SECRET},
        ensure=(Ensure(when="result.code == 'x'", message="another code"),),
    )
    refused = await alpha.call()
    assert refused.status is Status.POSTCONDITION_FAILED
    assert "made" in str(refused.result)
    assert "blue-canary" not in str(refused.result)
    again = await alpha.call()
    assert "blue-canary" not in str(again.result)
    await store.events.kept()
    for event in await store.events.query(EventFilter()):
        assert "blue-canary" not in str(event.json())


async def test_a_time_that_is_over_makes_a_new_operation(store: Store) -> None:
    """case: IDM-06"""
    alpha = writes(store, terms=Terms(assumed_window_s=0.0))
    await alpha.call()
    again = await alpha.call()
    assert (alpha.server.count, (await alpha.operation(again)).generation) == (2, 1)


async def test_a_late_answer_settles_what_was_unknown(store: Store) -> None:
    server = Counting()
    server.go.clear()
    alpha = writes(store, server, timeout_s=0.1, window_s=60)
    first = await alpha.call()
    assert first.status is Status.INDETERMINATE
    server.go.set()

    async def known() -> bool:
        return (await alpha.operation(first)).state is OpState.SUCCEEDED

    await until_async(known)
    assert (await alpha.operation(first)).evidence == "late_answer"
    again = await alpha.call()
    assert (text_of(again), outcome_of(again)["replayed"]) == ("done 1", True)
    assert (await alpha.events(first)).count("side_effect recorded") == 2
    assert server.count == 1


async def test_a_late_answer_that_contradicts_what_others_settled_is_told(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    server = Counting()
    server.go.clear()
    alpha = writes(store, server, timeout_s=0.1, window_s=60)
    first = await alpha.call()
    row = await alpha.operation(first)
    assert await store.operations.mark(row, OpState.FAILED_RETRYABLE, "a person looked", [])
    server.go.set()

    async def told() -> bool:
        return (await alpha.events(first)).count("side_effect recorded") == 2

    await until_async(told)
    assert (await alpha.operation(first)).evidence == "a person looked"
    assert "took effect: yes; its row says failed_retryable" in caplog.text


async def test_a_late_answer_that_agrees_with_what_others_settled_is_no_news(store: Store) -> None:
    server = Counting()
    server.go.clear()
    alpha = writes(store, server, timeout_s=0.1, window_s=60)
    first = await alpha.call()
    row = await alpha.operation(first)
    assert await store.operations.mark(row, OpState.SUCCEEDED, "lookup", [])
    server.go.set()
    living = alpha.pipeline.operate.living
    await until_async(lambda: not living.has(row))
    assert (await alpha.events(first)).count("side_effect recorded") == 1


async def test_a_fault_of_ours_after_the_intent_is_unknown(store: Store) -> None:
    alpha = writes(store, Counting(answers=[RuntimeError("MARK1")]))
    finished = await alpha.call()
    operation = await alpha.operation(finished)
    assert operation.state is OpState.INDETERMINATE
    assert "MARK1" not in str(finished.result)
    assert (await alpha.call()).status is Status.INDETERMINATE
    assert alpha.server.count == 1


async def test_a_question_of_an_earlier_round_says_nothing_of_the_next(store: Store) -> None:
    """case: IDM-02"""
    asks = Delivered(result={"resultType": "input_required"}, size=9)
    server = Counting(answers=[asks, RuntimeError("the process stops")])
    alpha = writes(store, server, change=asked_once)
    finished = await alpha.call()
    assert server.count == 2
    assert (await alpha.operation(finished)).state is OpState.INDETERMINATE
    await alpha.call()
    assert server.count == 2


class Again(Relay):
    """Answers every question by itself: the request is sent once more."""

    async def settle(
        self, case: Case, underway: Underway, delivered: Delivered, send: Send
    ) -> Delivered | Answer | Refusal:
        del case, delivered
        return await send(underway.outbound)


def asked_once(pipeline: Pipeline) -> Pipeline:
    """Let the questions of a server be answered."""
    parts = {each.name: getattr(pipeline.relay, each.name) for each in fields(pipeline.relay)}
    return replace(pipeline, dispatch=replace(pipeline.dispatch, relay=Again(**parts)))


async def test_a_call_that_is_given_up_with_its_process_is_unknown(store: Store) -> None:
    """case: IDM-02"""
    server = Counting()
    server.go.clear()
    alpha = writes(store, server)
    under_way = asyncio.ensure_future(alpha.call())
    await server.came.wait()
    under_way.cancel()
    await asyncio.wait({under_way})
    await store.events.kept()
    [found] = await store.operations.find(OperationFilter())
    assert found.state is OpState.INDETERMINATE


async def test_nothing_is_sent_that_could_not_be_recorded(store: Store, outage: Outage) -> None:
    alpha = writes(store)
    await alpha.call()
    store.events._wait_s = 0.3  # pyright: ignore[reportPrivateUsage] - or it takes 5 s
    outage.begin()
    finished = await alpha.call({"v": 2})
    assert (finished.status, alpha.server.count) == (Status.AUDIT_UNAVAILABLE, 1)
    outage.end()
    store.events._wait_s = 15  # pyright: ignore[reportPrivateUsage] - as above
    await recovered(store.events)
    again = await alpha.call({"v": 2})
    assert (again.status, alpha.server.count) == (Status.OK, 2)


async def test_an_outcome_that_could_not_be_kept_at_once_is_kept_later(
    store: Store, outage: Outage
) -> None:
    server = Counting()
    server.go.clear()
    alpha = writes(store, server)
    waiting = asyncio.ensure_future(alpha.call())
    await server.came.wait()
    outage.begin()
    store.events._wait_s = 0.3  # pyright: ignore[reportPrivateUsage] - or it takes 5 s
    server.go.set()
    finished = await waiting
    assert "behind" in str(outcome_of(finished)["notes"])
    outage.end()
    store.events._wait_s = 15  # pyright: ignore[reportPrivateUsage] - as above

    async def known() -> bool:
        try:
            return (await alpha.operation(finished)).state is OpState.SUCCEEDED
        except StoreUnavailable:
            return False

    await until_async(known)


async def test_an_error_of_the_tool_itself_is_told_again_under_the_same_key(
    store: Store,
) -> None:
    """case: IDM-01"""
    alpha = writes(store, Counting(answers=[said("no such customer", isError=True)]))
    first = await alpha.call(meta={KEY: "k1"})
    again = await alpha.call(meta={KEY: "k1"})
    assert (text_of(again), text_of(first)) == ("no such customer", "no such customer")
    assert (again.result["isError"], alpha.server.count) == (True, 1)


async def test_an_operation_that_was_swept_meanwhile_is_settled_late(store: Store) -> None:
    """case: IDM-06"""
    server = Counting()
    server.go.clear()
    alpha = writes(store, server)
    waiting = asyncio.ensure_future(alpha.call())
    await server.came.wait()
    [found] = await store.operations.find(OperationFilter())
    assert await store.operations.lose(found, "lease_expired", [])
    server.go.set()
    finished = await waiting
    operation = await alpha.operation(finished)
    assert (operation.state, operation.evidence) == (OpState.SUCCEEDED, "late_answer")


async def test_of_a_tool_that_nobody_reviewed_no_call_is_taken_for_another(store: Store) -> None:
    alpha = writes(store, reviewed=False)
    first, second = await asyncio.gather(alpha.call(), alpha.call())
    assert {text_of(first), text_of(second)} == {"done 1", "done 2"}
    keyed = [await alpha.call(meta={KEY: "k1"}) for _ in range(2)]
    assert text_of(keyed[0]) == text_of(keyed[1])
    assert alpha.server.count == 3
