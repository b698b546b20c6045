"""Reading back what a write did."""

import asyncio
from typing import Any

import pytest

from gateway.crossing.conditions import VERIFIED, Seen
from gateway.crossing.reads import NotRead
from gateway.crossing.waiting import Waiter
from gateway.types.guarantees import CallTemplate, Readback, Wait
from gateway.types.json import Json
from gateway.types.operations import Verification, VerificationState
from tests.helpers.cases import a_case
from tests.helpers.reads import BUSY, DENIED, NOT_FOUND, Scripted

FAILED, INCONCLUSIVE = VerificationState.FAILED, VerificationState.INCONCLUSIVE
PENDING = VerificationState.PENDING
SEEN = Seen(args={"amount": 3}, answer={"id": "re_1"}, old={"open": True})
GOOD: Json = {"amount": 3, "status": "done"}
WORKING: Json = {"amount": 0, "status": "working"}


def readback(expect: str = "result.amount == args.amount", **wait: Any) -> Readback:
    times: dict[str, Any] = {"interval_s": 0.01, "max_s": 5.0, "not_found_ok_for_s": 5.0}
    return Readback(
        call=CallTemplate(tool="crm.get", args={"id": "$result.id"}),
        expect=expect,
        wait=Wait(**(times | wait)),
    )


def waiter(*answers: Json | NotRead | Exception) -> tuple[Waiter, Scripted]:
    reads = Scripted(answers)
    return Waiter(reads=reads, look_s=3), reads


async def looked(
    answer: Json | NotRead | Exception, back: Readback, *, age_s: float = 0, seen: Seen = SEEN
) -> Verification:
    return await waiter(answer)[0].look(a_case(), back, seen, age_s=age_s)


async def test_a_change_that_shows_is_verified() -> None:
    look, reads = waiter(GOOD)
    assert await look.wait(a_case(), readback(), SEEN, within_s=2) == VERIFIED
    assert reads.asked == [("crm.get", {"id": "re_1"})]


async def test_a_look_takes_no_more_than_its_time_and_no_more_than_is_left() -> None:
    look, reads = waiter(GOOD)
    await look.wait(a_case(), readback(), SEEN, within_s=2)
    await look.wait(a_case(), readback(), SEEN, within_s=60)
    await look.look(a_case(), readback(), SEEN, age_s=0)
    assert 1.5 < reads.deadlines[0] <= 2
    assert reads.deadlines[1:] == [3, 3]


async def test_a_change_that_does_not_show_has_failed_and_the_condition_is_named() -> None:
    found = await looked({"amount": 4}, readback())
    assert found == Verification(
        state=FAILED, detail="`crm.get` does not show that `result.amount == args.amount`"
    )


async def test_a_condition_knows_the_answer_of_the_write_and_what_was_before() -> None:
    assert await looked(GOOD, readback("answer.id == 're_1' && old.open")) == VERIFIED


@pytest.mark.parametrize("answer", [{}, [], "text", {"amount": None}, {"amount": 2**70}, 7])
async def test_a_condition_that_can_not_be_evaluated_is_inconclusive(answer: Json) -> None:
    found = await looked(answer, readback("result.amount > args.amount"))
    assert found.state is INCONCLUSIVE
    assert "whether `result.amount > args.amount`" in found.detail


@pytest.mark.parametrize("fault", [DENIED, None, RuntimeError("x")])
async def test_a_read_that_shows_nothing_is_inconclusive(fault: NotRead | Exception | None) -> None:
    assert (await looked(fault, readback())).state is INCONCLUSIVE


async def test_a_read_that_can_not_be_filled_is_inconclusive() -> None:
    found = await looked(GOOD, readback(), seen=Seen(args={}, answer=None))
    assert found.state is INCONCLUSIVE
    assert "`$result.id`" in found.detail


async def test_a_thing_that_is_not_found_at_first_and_then_visible_is_verified() -> None:
    look, reads = waiter(NOT_FOUND, NOT_FOUND, GOOD)
    assert await look.wait(a_case(), readback(), SEEN, within_s=5) == VERIFIED
    assert len(reads.asked) == 3


async def test_a_thing_that_is_never_found_is_inconclusive_when_its_time_is_over() -> None:
    look, reads = waiter(NOT_FOUND)
    found = await look.wait(a_case(), readback(not_found_ok_for_s=0.05), SEEN, within_s=5)
    assert found == Verification(state=INCONCLUSIVE, detail="`crm.get`: not visible after 0.05 s")
    assert len(reads.asked) > 1


async def test_without_a_time_for_it_a_thing_has_to_be_found_at_once() -> None:
    found = await looked(NOT_FOUND, readback(not_found_ok_for_s=0.0))
    assert found == Verification(state=INCONCLUSIVE, detail="`crm.get`: not visible")


@pytest.mark.parametrize(
    ("answer", "what"),
    [(NOT_FOUND, "`crm.get`: not visible"), (BUSY, BUSY.reason), (WORKING, "`crm.get`: still")],
)
async def test_what_is_pending_stays_so_until_the_longest_time_is_over(
    answer: Json | NotRead, what: str
) -> None:
    back = readback(pending="result.status == 'working'", max_s=60.0, not_found_ok_for_s=60.0)
    early = await looked(answer, back, age_s=59.9)
    late = await looked(answer, back, age_s=60)
    assert (early.state, late.state) == (PENDING, INCONCLUSIVE)
    assert early.detail.startswith(what)
    assert late.detail.endswith(" after 60 s")


async def test_work_that_ends_meanwhile_is_verified() -> None:
    look, _ = waiter(WORKING, BUSY, WORKING, GOOD)
    back = readback(pending="result.status == 'working'")
    assert await look.wait(a_case(), back, SEEN, within_s=5) == VERIFIED


async def test_what_is_no_longer_pending_can_still_be_wrong() -> None:
    look, _ = waiter(WORKING, {"amount": 4, "status": "done"})
    back = readback(pending="result.status == 'working'")
    assert (await look.wait(a_case(), back, SEEN, within_s=5)).state is FAILED


async def test_nobody_can_wait_for_what_can_not_be_evaluated() -> None:
    found = await looked({"amount": 3}, readback(pending="result.status == 'working'"))
    assert found.state is INCONCLUSIVE
    assert "whether it is pending: `status` is missing" in found.detail


async def test_nobody_is_kept_waiting_for_a_look_that_would_come_too_late() -> None:
    look, reads = waiter(WORKING)
    back = readback(pending="result.status == 'working'", interval_s=30.0, max_s=60.0)
    async with asyncio.timeout(5):
        found = await look.wait(a_case(), back, SEEN, within_s=20)
    assert (found.state, len(reads.asked)) == (PENDING, 1)


async def test_when_the_time_is_over_it_is_pending() -> None:
    look, reads = waiter(NOT_FOUND)
    found = await look.wait(a_case(), readback(interval_s=0.02), SEEN, within_s=0.1)
    assert found.state is PENDING
    assert 1 < len(reads.asked) < 7


@pytest.mark.parametrize("within_s", [0, -1])
async def test_without_time_there_is_no_look(within_s: float) -> None:
    look, reads = waiter(GOOD)
    found = await look.wait(a_case(), readback(), SEEN, within_s=within_s)
    assert (found.state, reads.asked) == (PENDING, [])
