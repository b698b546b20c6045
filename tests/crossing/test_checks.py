"""The checks of an outcome that read: before a write, after it, and later."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.case import Case
from gateway.crossing.checks import Checks, Found, NotRead
from gateway.crossing.conditions import NOT_DECLARED, VERIFIED
from gateway.types.guarantees import (
    CallTemplate,
    Checksum,
    Idempotency,
    Lookup,
    Readback,
    Wait,
)
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Verification, VerificationState
from gateway.types.tools import Effect, Ensure
from tests.helpers.cases import a_case, a_contract
from tests.helpers.operations import wanted
from tests.helpers.reads import BUSY, DENIED, NOT_FOUND, Scripted

FAILED, INCONCLUSIVE = VerificationState.FAILED, VerificationState.INCONCLUSIVE
PENDING = VerificationState.PENDING

SAME = Ensure(when="result.amount == args.amount", message="the amount is the one asked for")
LESS = Ensure(when="result.balance < old.balance", message="the balance is less")
SUM = Checksum(of="$args.body", equals="$result.sum")
OLD = CallTemplate(tool="crm.account", args={"id": "$args.id", "by": "$op.id"})
BACK = Readback(
    call=CallTemplate(tool="crm.get", args={"id": "$result.id"}),
    expect="result.amount == answer.amount",
    wait=Wait(not_found_ok_for_s=5, interval_s=0.01, max_s=5),
)
ANSWER: JsonObject = {
    "id": "re_1",
    "amount": 3,
    "balance": 2,
    "sum": hashlib.sha256(b"hello").hexdigest(),
}


def a_write(**declared: Any) -> Case:
    return a_case(
        contract=a_contract(effect=Effect.WRITE, **declared),
        effect=Effect.WRITE,
        arguments={"id": 1, "amount": 3, "body": "hello"},
        operation=replace(wanted(), op_id="op_1"),
    )


def came(answer: Json, **more: Json) -> Delivered:
    return Delivered(result={"content": [], "structuredContent": answer, **more}, size=1)


def checks(*answers: Json | NotRead | Exception) -> tuple[Checks, Scripted]:
    reads = Scripted(answers or (RuntimeError("nobody asks"),))
    return Checks(reads=reads), reads


async def checked(
    case: Case,
    answer: Json,
    *reads: Json | NotRead | Exception,
    old: Json | NotRead = None,
    within_s: float = 5,
    **more: Json,
) -> Verification:
    return await checks(*reads)[0].after(case, came(answer, **more), old, within_s=within_s)


async def test_what_there_was_before_is_read_once_with_the_arguments_of_the_call() -> None:
    check, reads = checks({"balance": 5})
    assert await check.before(a_write(old=OLD)) == {"balance": 5}
    assert reads.asked == [("crm.account", {"id": 1, "by": "op_1"})]


async def test_nothing_is_read_that_nobody_asked_for() -> None:
    check, reads = checks()
    assert await check.before(a_write()) is None
    assert reads.asked == []


@pytest.mark.parametrize("fault", [DENIED, RuntimeError("x")])
async def test_a_failed_read_before_is_a_reason_and_no_fault(fault: NotRead | Exception) -> None:
    assert isinstance(await checks(fault)[0].before(a_write(old=OLD)), NotRead)


async def test_a_read_before_can_not_know_the_result() -> None:
    early = CallTemplate(tool="crm.account", args={"id": "$result.id"})
    assert isinstance(await checks({})[0].before(a_write(old=early)), NotRead)


async def test_a_call_that_is_no_operation_can_read_before_as_well() -> None:
    plain = CallTemplate(tool="crm.account", args={"id": "$args.id"})
    case = replace(a_write(old=plain), operation=None)
    assert await checks({"balance": 5})[0].before(case) == {"balance": 5}


async def test_without_a_promise_there_is_nothing_to_verify() -> None:
    assert await checked(a_write(), ANSWER) == NOT_DECLARED


async def test_what_holds_every_promise_is_verified() -> None:
    case = a_write(ensure=(SAME, LESS), checksum=SUM, readback=BACK, old=OLD)
    assert await checked(case, ANSWER, {"amount": 3}, old={"balance": 5}) == VERIFIED


async def test_one_broken_promise_is_a_failure_and_nothing_more_is_read() -> None:
    check, reads = checks({"amount": 3})
    case = a_write(ensure=(SAME, LESS), checksum=SUM, readback=BACK)
    wrong = came(ANSWER | {"amount": 4, "sum": "0" * 64})
    found = await check.after(case, wrong, DENIED, within_s=5)
    assert found == Verification(
        state=FAILED,
        detail="the amount is the one asked for; `$result.sum` is not the sha256 of `$args.body`",
    )
    assert reads.asked == []


async def test_a_failed_read_back_outweighs_a_condition_that_can_not_be_told() -> None:
    case = a_write(ensure=(LESS,), readback=BACK)
    assert (await checked(case, ANSWER, {"amount": 4}, old=DENIED)).state is FAILED


async def test_a_condition_that_can_not_be_told_outweighs_all_that_holds() -> None:
    case = a_write(ensure=(SAME, LESS), readback=BACK)
    found = await checked(case, ANSWER, {"amount": 3}, old=DENIED)
    assert found.state is INCONCLUSIVE
    assert DENIED.reason in found.detail


async def test_a_change_that_shows_later_is_pending_until_somebody_looks_again() -> None:
    case = a_write(ensure=(SAME,), readback=BACK)
    assert (await checked(case, ANSWER, NOT_FOUND, within_s=0.05)).state is PENDING
    check, reads = checks(NOT_FOUND, {"amount": 3})
    result = came(ANSWER).result
    assert (await check.again(case, result, None, age_s=2)).state is PENDING
    assert await check.again(case, result, None, age_s=4) == VERIFIED
    assert [args for _, args in reads.asked] == [{"id": "re_1"}] * 2


async def test_a_change_that_never_shows_is_inconclusive_in_the_end() -> None:
    found = await checks(NOT_FOUND)[0].again(
        a_write(readback=BACK), came(ANSWER).result, None, age_s=5
    )
    assert found == Verification(state=INCONCLUSIVE, detail="`crm.get`: not visible after 5 s")


async def test_a_look_later_can_find_a_failure() -> None:
    check, _ = checks({"amount": 4})
    found = await check.again(a_write(readback=BACK), came(ANSWER).result, None, age_s=2)
    assert found.state is FAILED


async def test_there_is_nothing_to_look_at_again_without_a_read_back() -> None:
    check, reads = checks()
    assert await check.again(a_write(ensure=(SAME,)), {}, None, age_s=0) == NOT_DECLARED
    assert reads.asked == []


@pytest.mark.parametrize("member", [{"isError": True}, {"resultType": "task"}])
async def test_what_claims_no_success_is_not_checked(member: JsonObject) -> None:
    case = a_write(ensure=(SAME,), checksum=SUM, readback=BACK)
    check, reads = checks({"amount": 3})
    delivered = came({"amount": 4}, **member)
    assert await check.after(case, delivered, None, within_s=5) == NOT_DECLARED
    assert await check.again(case, delivered.result, None, age_s=0) == NOT_DECLARED
    assert reads.asked == []


async def test_a_lookup_goes_the_same_way() -> None:
    by_id = CallTemplate(tool="crm.search", args={"about": "$op.id"})
    declared = Lookup(call=by_id, found="size(result) > 0", absent_after_s=60)
    case = a_write(idempotency=Idempotency(lookup=declared))
    check, reads = checks([1])
    assert await check.lookup(case, replace(wanted(), op_id="op_1"), now_us=0) is Found.HAPPENED
    assert reads.asked == [("crm.search", {"about": "op_1"})]


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
anything = st.recursive(
    leaves, lambda some: st.lists(some) | st.dictionaries(st.text(), some), max_leaves=8
)
reads_that_fail = st.sampled_from([NOT_FOUND, BUSY, DENIED, RuntimeError("x")])


@given(answer=anything, read=anything | reads_that_fail, old=anything)
async def test_whatever_comes_no_check_breaks_and_what_was_not_read_is_not_verified(
    answer: Json, read: Json | NotRead | Exception, old: Json
) -> None:
    for expect in ("result.amount == answer.amount", "result == old", "true"):
        back = replace(BACK, expect=expect, call=CallTemplate(tool="crm.get"))
        case = a_write(ensure=(SAME, LESS), checksum=SUM, readback=back)
        await checked(case, answer, read, old=old, within_s=0.001)
        found = await checks(read)[0].again(case, came(answer).result, old, age_s=9)
        if read is None or isinstance(read, NotRead | Exception):
            assert found.state is INCONCLUSIVE
