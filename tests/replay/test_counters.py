from datetime import timedelta
from random import Random
from typing import Any

import pytest

from gateway.replay import counters
from gateway.replay.counters import Counting, Window, exceeded
from gateway.replay.types import Asked, Counters, Ended, Judgement, Recorded, Taken
from gateway.types.decisions import RUN_S, DecisionEffect
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


def test_a_window_counts_as_one_that_looks_at_all_that_was_ever_taken() -> None:
    random, window = Random(4), Window()
    now, taken = 0, list[tuple[int, float]]()
    for _ in range(3_000):
        now += random.randrange(3)
        until, amount = now + random.choice((5, 50, 500)), float(random.randrange(1, 9))
        window.take(amount, until)
        taken.append((until, amount))
        if random.random() < 0.3:
            counts = sum(amount for until, amount in taken if until > now)
            assert window.at(now) == pytest.approx(counts)
    assert window.at(now + 500) == 0.0
    assert window.is_over


def test_windows_of_which_nothing_counts_any_more_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counters, "_OFTEN", 50)
    counting = Counting(mode=Counters.RECORDED)
    for number in range(400):
        own = replaced(LESS, limits=(replaced(ONE, key=f"user={number}"),))
        assert counting(a_call(600.0 * number), ALLOW, own) == ""
    assert len(counting._windows) < 100  # pyright: ignore[reportPrivateUsage] - it shows nowhere else
    again = replaced(LESS, limits=(replaced(ONE, key="user=399"),))
    assert counting(a_call(600.0 * 399 + 1), ALLOW, again) == "l"


def test_what_a_limit_of_a_whole_run_counts_is_never_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counters, "_OFTEN", 1)
    counting = Counting(mode=Counters.RECORDED)
    whole = replaced(LESS, limits=(replaced(ONE, key="of_run=r", window_s=RUN_S),))
    other = replaced(LESS, limits=(replaced(ONE, key="of_run=s", window_s=RUN_S),))
    found = [
        counting(a_call(after_s), ALLOW, each)
        for after_s, each in ((0, whole), (1, other), (9e6, whole), (9e6, other))
    ]
    assert found == ["", "", "l", "l"]


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
