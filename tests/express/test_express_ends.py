"""However a call ends that was begun on the short way, it ends as on the long one."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import pytest

from gateway.express import express
from gateway.types.calls import Era
from gateway.types.events import Stage
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Rejected,
    Undelivered,
)
from gateway.types.outcomes import Status
from gateway.types.relay import URL_REQUIRED
from gateway.types.runs import Phase
from gateway.types.values import replaced
from tests.helpers.cases import a_contract, a_principal
from tests.helpers.expressed import OPEN, RESULT, RUN, TOOL, Both, Seen, Side, Speaker, read, same

IN_RUN: Final = replaced(RUN, phase=Phase.RETRIEVING)
TEXT: Final[JsonObject] = {"content": [{"type": "text", "text": "x" * 60}]}
ASKS: Final[JsonObject] = {
    "resultType": "input_required",
    "inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "?"}}},
}
BEHIND: Final = b"the event log is behind"


def delivered(result: JsonObject, size: int = 90, redactions: int = 0) -> Delivered:
    return Delivered(result=result, size=size, redactions=redactions)


def undelivered(failure: Failure, executed: Execution) -> Undelivered:
    return Undelivered(failure=failure, executed=executed, detail="crm did not", retry_after_s=2.0)


URLS: Final[Any] = {"elicitations": [{"mode": "url", "url": "https://x.example", "message": "m"}]}
ENDS: Final[dict[str, tuple[Delivery | BaseException, Status]]] = {
    "an error": (delivered({**TEXT, "isError": True}), Status.TOOL_FAILED),
    "an error of its form": (delivered({**RESULT, "isError": True}), Status.TOOL_FAILED),
    "questions": (delivered(ASKS), Status.RESULT_INVALID),
    "a task": (delivered({"resultType": "task", "task": {"taskId": "1"}}), Status.OK),
    "an odd type": (delivered({**RESULT, "resultType": "odd"}), Status.OK),
    "an odd type of an error": (
        delivered({**RESULT, "resultType": "odd", "isError": True}),
        Status.OK,
    ),
    "no result at all": (delivered({}), Status.RESULT_INVALID),
    "content that is none": (delivered({"content": 1}), Status.RESULT_INVALID),
    "an odd error": (delivered({**RESULT, "isError": "yes"}), Status.RESULT_INVALID),
    "another form": (
        delivered({**TEXT, "structuredContent": {"n": "one"}}),
        Status.RESULT_INVALID,
    ),
    "no form": (delivered(TEXT), Status.RESULT_INVALID),
    "no text": (delivered({"structuredContent": {"n": 1}}), Status.OK),
    "empty content": (delivered({"content": [], "structuredContent": {"n": 1}}), Status.OK),
    "a credential": (delivered(RESULT, redactions=3), Status.OK),
    "too large": (delivered(RESULT, size=200_000), Status.RESULT_TOO_LARGE),
    "an error of the protocol": (Rejected(code=-32602, message="no", size=9), Status.TOOL_FAILED),
    "an error with data": (
        Rejected(code=-32000, message="no", data={"a": 1}, size=9, status=400),
        Status.TOOL_FAILED,
    ),
    "what is to be visited": (
        Rejected(code=URL_REQUIRED, message="visit", data=URLS, size=9),
        Status.RESULT_INVALID,
    ),
    "nothing in time": (
        undelivered(Failure.TIMEOUT, Execution.UNKNOWN),
        Status.TIMEOUT,
    ),
    "nobody": (undelivered(Failure.UNAVAILABLE, Execution.NO), Status.UNAVAILABLE),
    "busy": (undelivered(Failure.BUSY, Execution.NO), Status.BUSY),
    "given up": (undelivered(Failure.CANCELLED, Execution.UNKNOWN), Status.CANCELLED),
    "a fault": (RuntimeError("password=hunter2"), Status.INTERNAL),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize("in_runs", [False, True])
async def test_an_unusual_end(
    end: tuple[Delivery | BaseException, Status], is_at_once: bool, era: Era, in_runs: bool
) -> None:
    both, call = Both(is_at_once=is_at_once, in_runs=in_runs), read(caller=Speaker(era=era))
    if in_runs:
        both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await (await both.taught(call)).short_way(call)
    answer, status = end
    both.answers(answer)
    # Once with arguments that events show as they are, and once with others.
    for sent in ({"text": "y"}, {"text": "ann@example.org"}):
        arguments: Any = sent
        seen = await both.long_way(read(arguments, caller=Speaker(era=era)))
        assert seen.finished is not None
        assert seen.finished.status is status
        assert len(seen.asked) == 1, "it was begun on the short way, and sent once"
        assert sum(row.stage == Stage.DECIDED for row in seen.rows) == 1
    both.answers(delivered(RESULT))
    await both.short_way(call)


async def test_each_size_is_held_against_the_contract_before_the_configuration() -> None:
    both = await Both(contract=a_contract(TOOL, max_result_bytes=100)).taught()
    both.answers(delivered(RESULT, size=100))
    await both.short_way(read())
    both.answers(delivered(RESULT, size=101))
    seen = await both.long_way(read())
    assert seen.finished is not None
    assert seen.finished.status is Status.RESULT_TOO_LARGE


async def test_plain_text_is_cut_and_says_so() -> None:
    both = await Both(tool=OPEN, contract=a_contract(OPEN, max_result_bytes=100)).taught()
    both.answers(delivered(TEXT, size=130))
    assert b"cut from 130 bytes" in (await both.long_way(read())).left


async def test_a_result_that_misses_its_schema_passes_with_a_note_where_that_is_allowed() -> None:
    both = await Both(contract=a_contract(TOOL, lenient_output=True)).taught()
    both.answers(delivered({**TEXT, "structuredContent": {"n": "one"}}))
    seen = await both.long_way(read())
    assert b'"notes"' in seen.left


@pytest.mark.parametrize("answer", [ends[0] for ends in ENDS.values()], ids=ENDS)
async def test_no_track_is_laid_by_an_unusual_end(answer: Delivery | BaseException) -> None:
    both = Both()
    await both.take(read())
    both.answers(answer)
    await both.long_way(read())  # the second, by which a track could be laid
    both.answers(delivered(RESULT))
    for _ in range(3):
        await both.take(read())
    await both.short_way(read())


async def left(both: Both, waiting: Callable[[Side], Any], *, lets_go: bool = False) -> Seen:
    """Have the caller go once `waiting` waits for its event, both ways."""
    seen: list[Seen] = []
    call = replaced(read({"text": "y"}), received_at=both.short.clock.at)
    for side in both.sides:
        waits = asyncio.Event()
        waiting(side).may_answer = waits
        going = asyncio.ensure_future(side.take(call))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not going.done()
        if lets_go:
            waits.set()
        going.cancel()
        seen.append(await going)
        waiting(side).may_answer = None
    same(*seen)
    assert seen[0].failure == "CancelledError"
    assert seen[0].under_way == 0
    return seen[0]


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("in_runs", [False, True])
async def test_a_caller_that_leaves_still_gets_its_final_event(
    is_at_once: bool, in_runs: bool
) -> None:
    both = await Both(is_at_once=is_at_once, in_runs=in_runs).taught()
    for lets_go in (False, True):
        seen = await left(both, lambda side: side.server, lets_go=lets_go)
        assert [(row.stage, row.status) for row in seen.rows] == [
            ("decided", "ok"),
            ("failed", "cancelled"),
        ]
        assert len(seen.asked) == 1
    await both.short_way(read())


async def test_a_caller_may_leave_while_its_run_is_looked_for() -> None:
    both = await Both(in_runs=True).taught()
    seen = await left(both, lambda side: side.runs)
    assert seen.asked == []
    assert seen.rows[-1].status == "cancelled"
    await both.short_way(read())


def refusing(both: Both, *numbers: int) -> None:
    """Let the log refuse what it is handed for the n-th time, from 1."""

    def change(side: Side) -> None:
        count = iter(range(1, 100))
        side.journal.takes = lambda: next(count) not in numbers

    both.both(change)


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("in_runs", [False, True])
async def test_a_decision_that_can_not_be_kept_is_not_acted_upon(
    is_at_once: bool, in_runs: bool
) -> None:
    both = await Both(is_at_once=is_at_once, in_runs=in_runs).taught()
    for numbers in ((1,), (1, 2)):
        refusing(both, *numbers)
        seen = await both.long_way(read())
        assert seen.finished is not None
        assert (seen.finished.status, seen.asked) == (Status.AUDIT_UNAVAILABLE, [])
        assert seen.under_way == 0
    refusing(both)
    await both.short_way(read())


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("in_runs", [False, True])
async def test_an_end_that_can_not_be_kept_is_told_to_its_caller(
    is_at_once: bool, in_runs: bool
) -> None:
    both = await Both(is_at_once=is_at_once, in_runs=in_runs).taught()
    refusing(both, 2)
    seen = await both.long_way(read())
    assert BEHIND in seen.left
    assert seen.finished is not None
    assert seen.finished.status is Status.OK
    assert (seen.refused, len(seen.rows), len(seen.spans)) == (2, 1, 1), "once, in the gap"
    refusing(both)
    await both.short_way(read())


@pytest.mark.parametrize("is_at_once", [False, True])
async def test_while_the_log_fails_at_the_end_callers_are_told(is_at_once: bool) -> None:
    both = await Both(is_at_once=is_at_once).taught()

    def failing(side: Side) -> None:
        side.server.meanwhile = lambda: setattr(side.journal, "failing", "disk full")

    both.both(failing)
    seen = await both.long_way(read())
    assert BEHIND in seen.left
    assert len(seen.rows) == 3
    both.both(lambda side: setattr(side.server, "meanwhile", lambda: None))
    both.both(lambda side: setattr(side.journal, "failing", ""))
    await both.short_way(read())


async def test_an_end_that_can_not_be_kept_and_was_no_usual_one() -> None:
    both = await Both().taught()
    for end, _ in ENDS.values():
        both.answers(end)
        refusing(both, 2)
        await both.long_way(read())


async def test_a_read_that_waited_long_says_when_it_came() -> None:
    """A decision that is a second late tells when its call came, by which it can be judged anew."""
    both = await Both(in_runs=True).taught()
    both.both(lambda side: setattr(side.runs, "meanwhile", lambda: side.clock.passes(1500)))
    seen = await both.short_way(read())
    assert '"received_us":1507000' in seen.rows[0].body
    for both in (await Both().taught(), await Both(is_at_once=True).taught()):
        both.both(lambda side: side.clock.passes(1500))
        call = read()
        seen_short = await both.short.take(call)
        seen_long = await both.long.take(call)
        same(seen_short, seen_long)
        assert '"received_us":' in seen_short.rows[0].body


async def test_calls_at_the_same_time_are_told_apart() -> None:
    both = await Both().taught()
    for side in both.sides:
        waits = side.server.may_answer = asyncio.Event()
        going = [
            asyncio.ensure_future(side.way(read({"text": str(number)}, call_id=f"call_{number}")))
            for number in range(3)
        ]
        await asyncio.sleep(0)
        assert side.pipeline.record.under_way.calls == 3
        waits.set()
        await asyncio.gather(*going)
        assert side.pipeline.record.under_way.calls == 0
        side.server.may_answer = None
        rows = side.journal.taken()
        assert sorted(row.call_id for row in rows) == sorted(
            f"call_{number}" for number in (0, 1, 2) for _ in range(3)
        )


async def test_only_a_call_that_is_alone_leaves_its_time_of_waiting_to_the_log() -> None:
    both = await Both().taught()
    for side in both.sides:
        side.journal.caught_up = 0
        waits = side.server.may_answer = asyncio.Event()
        going = [asyncio.ensure_future(side.way(read())) for _ in range(3)]
        await asyncio.sleep(0)
        assert side.journal.caught_up == 1
        waits.set()
        await asyncio.gather(*going)


class Marked(Speaker):
    """A caller that can be looked for."""


async def test_nothing_of_the_first_calls_is_kept() -> None:
    for in_runs in (False, True):
        both = Both(in_runs=in_runs)
        side = both.short
        caller = Marked()
        gone = weakref.ref(caller)
        sent: JsonObject = {"text": "a text that nobody else sends"}
        for number in range(6):
            params: JsonObject = {"arguments": sent}
            await side.take(read(dict(sent), caller=caller, call_id=f"c{number}", params=params))
        assert side.alike
        del caller
        gc.collect()
        assert gone() is None
        assert sent not in [
            each for each in gc.get_objects() if type(each) is dict and each is not sent
        ]


@pytest.mark.parametrize("in_runs", [False, True])
async def test_tracks_are_bounded_and_forgotten_with_their_revision(in_runs: bool) -> None:
    both = Both(in_runs=in_runs)
    side = both.short
    sees: Any = side.pipeline.express
    with patch.object(express, "_MOST", 3):
        for principal in [a_principal(user=f"u{number}") for number in range(10)]:
            for _ in range(5):
                await side.take(read(principal=principal, received_at=side.clock.at))
            assert side.is_taken(read(principal=principal))
            assert max(map(len, (sees._tracks, sees._inside, sees._tried))) <= 3
    side.law.revision = replace(side.law.revision, id="sha256:2")
    await side.take(read())
    assert [len(sees._tracks), len(sees._inside)] == [0, 0]


async def test_calls_of_a_kind_that_lay_no_track_are_not_looked_at_for_ever() -> None:
    both = await Both(contract=a_contract(TOOL, timeout_s=3)).taught()
    seen = await both.short_way(read())
    assert seen.asked[0][0].deadline_s == 3
    telemetry, other = both.short.telemetry, a_principal(user="other")
    with patch.object(telemetry, "stencil", return_value=None) as asked:
        for _ in range(20):
            await both.short.take(read(principal=other, received_at=both.short.clock.at))
        assert 0 < asked.call_count <= 8


async def test_what_is_learned_of_a_call_never_costs_it_its_answer() -> None:
    both = Both()
    with patch.object(express.tracks, "laid", side_effect=RuntimeError("broken")):
        for _ in range(4):
            seen, is_short = await both.take(read())
            assert not is_short
            assert seen.finished is not None
            assert seen.finished.status is Status.OK
            assert seen.under_way == 0


async def test_an_actor_that_was_looked_at_is_held_so_that_its_id_is_nobody_elses() -> None:
    both = Both()
    side = both.short
    principal = a_principal(user="u")
    await side.take(read(principal=principal))
    sees: Any = side.pipeline.express
    assert [actor for _, actor in sees._tried.values()] == [principal.actor]
