"""The way of a call as a whole: what comes before what, and what nothing may be left without."""

import asyncio
from typing import Any, Final

import pytest

from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.outcomes import Status
from tests.helpers.cases import ALLOW_ALL
from tests.helpers.expressed import TOOL, Both, Side, read

DENY: Final = ALLOW_ALL.replace("match:", "when: args.text == 'x', match:").replace("allow", "deny")
RULES: Final = DENY + "  - {id: rest, decision: allow, match: {tools: ['*']}}\n"


def stages(rows: Any) -> list[str]:
    return [row.stage for row in rows]


@pytest.mark.parametrize("in_runs", [False, True])
async def test_a_refused_call_is_never_sent(in_runs: bool) -> None:
    both = Both(policy=RULES, in_runs=in_runs)
    refused: tuple[JsonObject, ...] = ({"text": "x"}, {"text": 1})
    allowed: JsonObject = {"text": "y"}
    for _ in range(5):  # before there is a track, and once there is one
        for sent in refused:
            seen, _ = await both.take(read(sent))
            assert seen.finished is not None
            assert seen.finished.status in {Status.DENIED, Status.INVALID_ARGUMENTS}
            assert (seen.asked, seen.under_way) == ([], 0)
            assert seen.rows, "and it is in the log"
        seen, _ = await both.take(read(allowed))
        assert len(seen.asked) == 1
    assert both.short.alike


async def test_a_name_that_nothing_has_is_in_the_log_too() -> None:
    seen, _ = await Both().take(read(name="crm__nothing"))
    assert seen.finished is not None
    assert seen.finished.status is Status.UNKNOWN_TOOL
    assert seen.rows


async def test_the_decision_is_handed_to_the_log_before_a_call_is_sent() -> None:
    both = Both(is_at_once=True)
    for _ in range(6):
        for side in both.sides:
            seen: list[str] = []

            def look(side: Side = side, seen: list[str] = seen) -> None:
                seen += stages(side.journal.taken())

            side.server.meanwhile = look
            await side.take(read(received_at=side.clock.at))
            assert seen == ["decided"]
    assert both.short.alike


async def test_a_decision_that_the_log_refuses_keeps_a_call_from_being_sent() -> None:
    both = Both()
    for number in range(8):
        refuses = number % 2 == 1
        both.both(lambda side, refuses=refuses: setattr(side.journal, "takes", lambda: not refuses))
        seen, _ = await both.take(read())
        assert len(seen.asked) == (not refuses)
        assert seen.under_way == 0
    assert both.short.alike


async def test_a_caller_that_leaves_still_gets_its_final_event() -> None:
    both = Both()
    for number in range(6):
        for side in both.sides:
            side.server.may_answer = asyncio.Event()
            going = asyncio.ensure_future(side.take(read(received_at=side.clock.at)))
            await asyncio.sleep(0)
            going.cancel()
            seen = await going
            assert seen.failure == "CancelledError"
            assert stages(seen.rows) == ["decided", "failed"]
            assert seen.under_way == 0
            side.server.may_answer = None
        await both.take(read(call_id=f"call_{number}"))
    assert both.short.alike


async def test_a_usual_read_goes_the_short_way_from_its_third_time_on() -> None:
    both = Both(is_at_once=True)
    ways = [(await both.take(read({"text": str(number)})))[1] for number in range(5)]
    assert ways == [False, False, True, True, True]


async def test_a_call_that_was_taken_up_again_is_dispatched_once() -> None:
    both = await Both().taught()
    both.answers(Delivered(result={"content": [], "isError": True}, size=20))
    seen = await both.long_way(read())
    assert len(seen.asked) == 1
    assert seen.finished is not None
    assert seen.finished.status is Status.TOOL_FAILED


async def test_a_fault_of_ours_is_an_answer_and_an_event() -> None:
    both = Both()
    for _ in range(5):
        await both.take(read())
        both.answers(RuntimeError("broken"))
        seen, is_short = await both.take(read())
        assert not is_short
        assert seen.finished is not None
        assert (seen.finished.status, seen.failure) == (Status.INTERNAL, "")
        assert stages(seen.rows)[-1] == "failed"
        both.answers(Delivered(result={"content": [], "structuredContent": {"n": 1}}, size=9))
    assert TOOL.exposed_name == read().name
