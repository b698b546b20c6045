"""Calls that people decide about, from the first asking to the one send."""

import asyncio

import pytest

from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import ApprovalState, Cast, Choice
from gateway.types.guarantees import Idempotency, OnVariant, Repeat
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution, Failure, Undelivered
from gateway.types.outcomes import Status
from gateway.types.repeats import KEY
from tests.helpers.approvals import an_approver
from tests.helpers.cases import ALLOW_ALL, a_principal
from tests.helpers.held import ASK, a_house
from tests.helpers.writes import Counting, outcome_of, said, text_of

pytestmark = pytest.mark.postgres


_OPEN = ApprovalFilter(is_open=True)


async def test_a_held_call_is_not_sent_until_it_is_approved_and_then_once(store: Store) -> None:
    """case: APR-01"""
    house = a_house(store)
    pending = await house.call()
    assert pending.status is Status.APPROVAL_PENDING
    assert outcome_of(pending)["executed"] == "no"
    assert pending.result["isError"] is True
    assert house.server.count == 0
    assert (await house.decide(pending)).cast is Cast.APPROVED
    done = await house.call()
    assert (done.status, text_of(done)) == (Status.OK, "done 1")
    again = await house.call()
    assert (again.status, outcome_of(again)["replayed"]) == (Status.OK, True)
    assert house.server.count == 1
    approval = await house.approval(pending)
    assert approval.state is ApprovalState.CONSUMED
    assert approval.consumed_by == outcome_of(done)["call_id"]


async def test_the_same_call_asked_again_finds_its_request_and_makes_no_other(store: Store) -> None:
    """case: APR-08"""
    house = a_house(store)
    answers = [await house.call() for _ in range(10)]
    assert len({outcome_of(each)["approval_id"] for each in answers}) == 1
    assert "end your turn" in outcome_of(answers[-1])["next"]
    assert await house.writes.events(answers[0]) == [
        "approval requested",
        "authorization decided",
        "tool_call failed",
    ]


async def test_a_denied_call_is_told_so_from_the_record(store: Store) -> None:
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending, Choice.DENY, reason="not this customer")
    for _ in range(2):
        denied = await house.call()
        assert denied.status is Status.APPROVAL_DENIED
        assert outcome_of(denied)["approval_id"] == outcome_of(pending)["approval_id"]
    reworded = await house.call({"v": 1, "note": "please"})
    assert reworded.status is Status.APPROVAL_PENDING  # another intent, as no contract says less
    assert house.server.count == 0


async def test_other_words_for_the_same_intent_are_asked_about_anew(store: Store) -> None:
    """case: APR-01"""
    house = a_house(store, idempotency=Idempotency(intent=("/v",), is_declared=True))
    first = await house.call({"v": 1, "note": "a"})
    await house.decide(first)
    second = await house.call({"v": 1, "note": "b"})
    assert second.status is Status.APPROVAL_PENDING
    assert (await house.approval(first)).state is ApprovalState.SUPERSEDED
    anew = await house.approval(second)
    assert anew.replaces == outcome_of(first)["approval_id"]
    [change] = house.people.documents.of(anew)["changes"]  # type: ignore[misc] - a list of JSON
    assert change["pointer"] == "/note"  # type: ignore[index, call-overload] - an object of JSON
    await house.decide(second)
    assert (await house.call({"v": 1, "note": "b"})).status is Status.OK
    assert house.server.asked[0].params["arguments"] == {"v": 1, "note": "b"}


async def test_nobody_who_decides_in_time_is_told_once_and_then_asked_anew(store: Store) -> None:
    house = a_house(store, policy=ASK.replace("expires: 1h", "expires: 0.5s"))
    pending = expired = await house.call()
    async with asyncio.timeout(15):
        while expired.status is Status.APPROVAL_PENDING:
            expired = await house.call()
    assert expired.status is Status.APPROVAL_EXPIRED
    assert outcome_of(expired)["approval_id"] == outcome_of(pending)["approval_id"]
    assert (await house.decide(pending)).cast in (Cast.TOO_LATE, Cast.ALREADY_DECIDED)
    anew = await house.call()
    assert anew.status is Status.APPROVAL_PENDING
    assert outcome_of(anew)["approval_id"] != outcome_of(pending)["approval_id"]


async def test_fifty_calls_that_come_back_at_once_are_sent_once(store: Store) -> None:
    house = a_house(store)
    pending = await house.call()
    await house.decide(pending)
    answers = await asyncio.gather(*(house.call() for _ in range(50)))
    assert {each.status for each in answers} == {Status.OK}
    assert {text_of(each) for each in answers} == {"done 1"}
    assert house.server.count == 1


async def test_a_user_with_too_many_undecided_requests_makes_no_other(store: Store) -> None:
    house = a_house(store, settings={"max_pending": 2})
    first = await house.call({"v": 1})
    await house.call({"v": 2})
    third = await house.call({"v": 3})
    assert (third.status, outcome_of(third)["code"]) == (
        Status.LIMIT_EXCEEDED,
        "pending_approvals",
    )
    await house.decide(first)
    assert (await house.call({"v": 3})).status is Status.APPROVAL_PENDING


async def test_a_user_for_whom_people_were_asked_often_enough_makes_no_other_within_the_hour(
    store: Store,
) -> None:
    house = a_house(store, settings={"max_requests": 2})
    for v in (1, 2):
        await house.decide(await house.call({"v": v}), Choice.DENY)
    third = await house.call({"v": 3})
    outcome = outcome_of(third)
    assert (third.status, outcome["code"]) == (Status.LIMIT_EXCEEDED, "too_many_requests")
    retry_after_s = outcome["retry_after_s"]
    assert isinstance(retry_after_s, float | int)
    assert 3500 < retry_after_s <= 3600
    other = await house.call({"v": 3}, principal=a_principal(user="kim", subject="kim"))
    assert other.status is Status.APPROVAL_PENDING


def _under(key: str) -> JsonObject:
    return {"weighbridge/idempotencyKey": key}


async def test_another_key_does_not_have_people_asked_about_what_they_denied(
    store: Store,
) -> None:
    house = a_house(store)
    denied = await house.call({"v": 1}, meta=_under("one"))
    await house.decide(denied, Choice.DENY, reason="never")
    again = await house.call({"v": 1}, meta=_under("two"))
    assert again.status is Status.APPROVAL_DENIED
    assert outcome_of(again)["approval_id"] == outcome_of(denied)["approval_id"]
    other = await house.call({"v": 2}, meta=_under("three"))
    assert other.status is Status.APPROVAL_PENDING
    eve = a_principal(user="eve", subject="eve")
    theirs = await house.call({"v": 1}, meta=_under("one"), principal=eve)
    assert theirs.status is Status.APPROVAL_PENDING
    approval = await house.approval(denied)
    await house.people.deciding.reopen(an_approver(), approval.approval_id)
    assert (await house.call({"v": 1}, meta=_under("two"))).status is Status.APPROVAL_PENDING
    assert house.server.count == 0


async def test_what_was_denied_is_asked_about_again_once_an_approver_proposes_it(
    store: Store,
) -> None:
    house = a_house(store)
    small = await house.call({"v": 1}, meta=_under("small"))
    await house.decide(small, Choice.DENY)
    large = await house.call({"v": 9}, meta=_under("large"))
    await house.decide(large, Choice.DENY, proposal={"v": 1})
    assert (await house.call({"v": 1}, meta=_under("new"))).status is Status.OK


async def test_arguments_that_nobody_could_read_are_not_even_asked_about(store: Store) -> None:
    house = a_house(store)
    refused = await house.call({"v": 1, "note": "x" * 70_000})
    assert (refused.status, outcome_of(refused)["code"]) == (
        Status.INVALID_ARGUMENTS,
        "too_large_to_approve",
    )


BUSY = Undelivered(failure=Failure.BUSY, executed=Execution.NO, detail="full")


async def test_wordings_that_a_person_allowed_are_the_only_ones_ever_sent(store: Store) -> None:
    lead = {"approvers": {"roles": ["lead"]}}
    intent = Idempotency(intent=("/v",), on_variant=OnVariant.APPROVE, is_declared=True)
    server = Counting(answers=[said("one"), BUSY])
    house = a_house(store, server, policy=ALLOW_ALL, settings=lead, idempotency=intent)
    assert (await house.call({"v": 1, "note": "a"})).status is Status.OK
    asked = await house.call({"v": 1, "note": "b"})
    await house.decide(asked)
    assert (await house.call({"v": 1, "note": "b"})).status is Status.BUSY
    for note in ("c", "b"):
        again = await house.call({"v": 1, "note": note})
        assert again.status is Status.APPROVAL_PENDING
    assert house.server.count == 2


async def test_a_repeat_that_was_allowed_and_failed_is_asked_about_anew(store: Store) -> None:
    lead = {"approvers": {"roles": ["lead"]}}
    server = Counting(answers=[said("one"), BUSY])
    house = a_house(
        store,
        server,
        policy=ALLOW_ALL,
        settings=lead,
        idempotency=Idempotency(repeat=Repeat.APPROVE),
    )
    first = await house.call({"v": 1})
    meta: JsonObject = {KEY: {"op_id": outcome_of(first)["op_id"], "reason": "once more"}}
    asked = await house.call({"v": 1}, meta=meta)
    assert asked.status is Status.APPROVAL_PENDING
    await house.decide(asked)
    assert (await house.call({"v": 1}, meta=meta)).status is Status.BUSY
    assert (await house.call({"v": 1})).status is Status.APPROVAL_PENDING
    assert house.server.count == 2


async def test_an_approval_is_not_given_up_where_no_other_request_can_be_made(
    store: Store,
) -> None:
    house = a_house(store, settings={"max_pending": 1})
    pending = await house.call({"v": 1})
    await house.decide(pending)
    await house.call({"v": 2})
    house.rule(ASK.replace("roles: [lead]}", "roles: [lead]}, quorum: 2"))
    refused = await house.call({"v": 1})
    assert (refused.status, outcome_of(refused)["code"]) == (
        Status.LIMIT_EXCEEDED,
        "pending_approvals",
    )
    house.rule(ASK)
    assert (await house.call({"v": 1})).status is Status.OK


async def test_a_server_that_asks_first_gets_answers_under_the_approval_and_no_second_call(
    store: Store,
) -> None:
    question: JsonObject = {"resultType": "input_required", "requestState": "s1"}
    server = Counting(answers=[Delivered(result=question, size=10)])
    house = a_house(store, server)
    await house.decide(await house.call())
    asked = await house.call()
    assert asked.status is Status.INPUT_REQUIRED
    back: JsonObject = {"requestState": asked.result["requestState"], "run_as": "root"}
    done = await house.call(params=back)
    assert done.status is Status.OK
    assert house.server.asked[1].params == {
        "name": "put",
        "arguments": {"v": 1},
        "requestState": "s1",
    }


async def test_a_bare_call_does_not_go_on_for_a_server_that_asked(store: Store) -> None:
    question: JsonObject = {"resultType": "input_required", "requestState": "s1"}
    house = a_house(store, Counting(answers=[Delivered(result=question, size=10)]))
    await house.decide(await house.call())
    assert (await house.call()).status is Status.INPUT_REQUIRED
    assert (await house.call()).status is Status.APPROVAL_PENDING
    assert house.server.count == 1
