from datetime import timedelta
from typing import Any

import pytest

from gateway.replay.counters import Counting, Window, exceeded
from gateway.replay.types import Asked, Counters, Ended, Judgement, Recorded, Taken
from gateway.types.decisions import DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.values import replaced
from tests.replay.test_types import RECORDED

LIMIT = Taken(id="l", rule="a", amount=1.0, key="user=sam", maximum=2.0, window_s=60.0)
ONE = replaced(LIMIT, maximum=1.0)
ALLOW = Judgement(effect=DecisionEffect.ALLOW, limits=(LIMIT,))
LESS = replaced(ALLOW, limits=(ONE,))
DENY = Judgement(effect=DecisionEffect.DENY)
DONE = Ended(status=Status.OK, code="", executed=Execution.YES, seq=2)
FULL = Ended(status=Status.LIMIT_EXCEEDED, code="l", executed=Execution.NO, seq=2)


def a_call(after_s: float = 0.0, ended: Ended = DONE, **changes: Any) -> Recorded:
    at = RECORDED.at + timedelta(seconds=after_s)
    fields = {"at": at, "judged": ALLOW, "ended": ended, "is_sent": ended is not FULL, **changes}
    return replaced(RECORDED, **fields)


def test_what_was_taken_counts_for_the_length_of_its_window() -> None:
    window = Window()
    window.take(1.5, until=10)
    window.take(2.0, until=20)
    assert [window.at(now) for now in (9, 10, 20)] == [3.5, 2.0, 0.0]


def test_a_limit_that_had_no_room_is_one_of_the_call() -> None:
    assert exceeded(a_call(ended=FULL)) == "l"
    assert exceeded(a_call(ended=replaced(FULL, code="pending_approvals"))) == ""
    assert exceeded(a_call()) == ""


def test_the_same_limit_says_what_it_said() -> None:
    counting = Counting(mode=Counters.RECORDED)
    assert counting(a_call(ended=FULL), ALLOW, ALLOW) == "l"
    assert [counting(a_call(each), ALLOW, ALLOW) for each in range(5)] == [""] * 5


@pytest.mark.parametrize("mode", Counters)
def test_another_limit_is_counted_by_what_was_sent(mode: Counters) -> None:
    counting = Counting(mode=mode)
    found = [counting(a_call(each), ALLOW, LESS) for each in (0, 10, 61)]
    recorded = ["", "l", "l"]  # the second was sent, and counts
    simulated = ["", "l", ""]  # it would not have been
    assert found == (recorded if mode is Counters.RECORDED else simulated)


def test_an_earlier_denial_leaves_room_for_later_calls_where_that_is_simulated() -> None:
    found: dict[Counters, list[str]] = {}
    for mode in Counters:
        counting = Counting(mode=mode)
        calls = [(a_call(0), DENY), (a_call(1), ALLOW), (a_call(2, FULL), ALLOW)]
        found[mode] = [counting(call, ALLOW, after) for call, after in calls]
    assert found == {Counters.RECORDED: ["", "", "l"], Counters.SIMULATED: ["", "", ""]}


def test_what_was_given_back_takes_nothing() -> None:
    counting = Counting(mode=Counters.SIMULATED)
    unsent = Ended(status=Status.UNAVAILABLE, code="", executed=Execution.NO, seq=2)
    assert [counting(a_call(0, unsent), ALLOW, LESS) for _ in range(3)] == [""] * 3


def test_a_call_that_people_would_have_to_decide_about_takes_where_they_said_yes() -> None:
    held = replaced(LESS, effect=DecisionEffect.REQUIRE_APPROVAL)
    for state, full in (("approved", "l"), ("denied", "")):
        counting = Counting(mode=Counters.SIMULATED)
        asked = Asked(approval="apr_1", state=state)
        counting(a_call(0, asked=asked, is_sent=False), held, held)
        assert counting(a_call(1), ALLOW, LESS) == full


def test_an_amount_that_is_not_known_is_not_counted() -> None:
    counting = Counting(mode=Counters.SIMULATED)
    unknown = replaced(LESS, limits=(replaced(ONE, amount=None),))
    assert [counting(a_call(each), ALLOW, unknown) for each in range(3)] == [""] * 3


@pytest.mark.parametrize("mode", Counters)
def test_repeats_of_one_operation_need_room_once(mode: Counters) -> None:
    counting = Counting(mode=mode)
    calls = [a_call(0), a_call(1, is_sent=False), a_call(2, is_sent=False)]
    found = [counting(call, DENY, LESS, op) for call, op in zip(calls, "aab", strict=True)]
    assert found == ["", "", "l"]
