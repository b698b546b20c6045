import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.store.store import Store
from gateway.types.decisions import RUN_S, Exceeded, Limit
from tests.helpers.cases import NOW
from tests.helpers.runs import begun

OpenStore = Callable[..., Store]


@dataclass
class HandClock:
    """A clock that the test moves."""

    at: datetime = field(default=NOW)

    def now(self) -> datetime:
        return self.at

    def time_ns(self) -> int:
        return int(self.at.timestamp() * 1e9)

    def monotonic(self) -> float:
        return self.at.timestamp()

    def later(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def timed(open_store: OpenStore, clock: HandClock) -> Store:
    return open_store(clock=clock)


def a_limit(**changes: Any) -> Limit:
    fields: dict[str, Any] = {
        "id": "rate",
        "key": "sam",
        "maximum": 2,
        "window_s": 60,
        "amount": 1,
        "rule": "r",
    }
    return Limit(**(fields | changes))


async def test_a_limit_is_used_up_and_says_when_there_is_room(
    timed: Store, clock: HandClock
) -> None:
    assert await timed.limits.reserve("c1", [a_limit()]) is None
    clock.later(10)
    assert await timed.limits.reserve("c2", [a_limit()]) is None
    clock.later(5)
    assert await timed.limits.reserve("c3", [a_limit()]) == Exceeded(limit="rate", retry_after_s=45)


async def test_the_window_slides(timed: Store, clock: HandClock) -> None:
    for call in ("c1", "c2"):
        await timed.limits.reserve(call, [a_limit()])
        clock.later(30)
    assert await timed.limits.reserve("c3", [a_limit()]) is None
    assert await timed.limits.reserve("c4", [a_limit()]) is not None


async def test_a_call_that_asks_again_takes_nothing_more(timed: Store) -> None:
    for _ in range(5):
        assert await timed.limits.reserve("c1", [a_limit()]) is None
    assert await timed.limits.reserve("c2", [a_limit()]) is None


async def test_all_limits_are_taken_from_or_none(timed: Store) -> None:
    tight = a_limit(id="tight", maximum=0)
    exceeded = await timed.limits.reserve("c1", [a_limit(), tight])
    assert exceeded == Exceeded(limit="tight", retry_after_s=math.inf)
    for call in ("c2", "c3"):
        assert await timed.limits.reserve(call, [a_limit()]) is None


async def test_keys_are_counted_apart(timed: Store) -> None:
    for key in ("sam", "kim"):
        for number in range(2):
            assert await timed.limits.reserve(f"{key}{number}", [a_limit(key=key)]) is None


async def test_sums_of_amounts_are_limited_as_people_count_them(timed: Store) -> None:
    tenth = a_limit(maximum=1.0, amount=0.1)
    taken = [await timed.limits.reserve(f"c{number}", [tenth]) for number in range(11)]
    assert taken[:10] == [None] * 10
    assert taken[10] is not None


async def test_what_was_not_carried_out_is_given_back(timed: Store) -> None:
    for call in ("c1", "c2"):
        await timed.limits.reserve(call, [a_limit()])
    await timed.limits.release("c1")
    assert await timed.limits.reserve("c3", [a_limit()]) is None


async def test_what_was_used_stays_taken(timed: Store) -> None:
    for call in ("c1", "c2"):
        await timed.limits.reserve(call, [a_limit()])
    await timed.limits.settle("c1")
    await timed.limits.release("c1")
    assert await timed.limits.reserve("c3", [a_limit()]) is not None


async def test_a_day_is_over_to_the_microsecond(timed: Store, clock: HandClock) -> None:
    a_day = a_limit(maximum=1, window_s=86400)
    assert await timed.limits.reserve("c1", [a_day]) is None
    clock.at += timedelta(days=1, microseconds=-1)
    met = await timed.limits.reserve("c2", [a_day])
    assert met == Exceeded(limit="rate", retry_after_s=1e-6)
    clock.at += timedelta(microseconds=1)
    assert await timed.limits.reserve("c3", [a_day]) is None


async def test_whoever_comes_back_when_told_finds_room_in_every_limit(
    timed: Store, clock: HandClock
) -> None:
    both = [a_limit(maximum=1, window_s=60), a_limit(id="a-day", maximum=1, window_s=86400)]
    assert await timed.limits.reserve("c1", both) is None
    for order in (both, both[::-1]):
        met = await timed.limits.reserve("c2", order)
        assert met == Exceeded(limit="a-day", retry_after_s=86400)
    clock.later(86400)
    assert await timed.limits.reserve("c2", both) is None


async def test_a_clock_that_goes_back_gives_nothing_away(timed: Store, clock: HandClock) -> None:
    for call in ("c1", "c2"):
        await timed.limits.reserve(call, [a_limit()])
    clock.later(-3600)
    assert await timed.limits.reserve("c3", [a_limit()]) == Exceeded(
        limit="rate", retry_after_s=3660
    )


@pytest.mark.parametrize("maximum", [0, 2.5])
async def test_a_call_that_alone_is_too_much_is_never_told_to_come_back(
    timed: Store, maximum: float
) -> None:
    met = await timed.limits.reserve("c1", [a_limit(maximum=maximum, amount=3)])
    assert met == Exceeded(limit="rate", retry_after_s=math.inf)


async def test_what_a_rule_counts_for_a_run_stays_taken_and_is_forgotten_with_it(
    timed: Store, clock: HandClock
) -> None:
    runs = [await begun(timed) for _ in range(2)]
    limits = [a_limit(key=f"of_run={run.run_id}|rate|tenant=acme", window_s=RUN_S) for run in runs]
    for number, limit in enumerate(limits * 2):
        assert await timed.limits.reserve(f"c{number}", [limit]) is None
    clock.later(40 * 365 * 86400)
    for limit in limits:
        met = await timed.limits.reserve("c9", [limit])
        assert met == Exceeded(limit="rate", retry_after_s=math.inf)
    await timed.runs.forget(runs[0])
    assert await timed.limits.reserve("c9", [limits[0]]) is None
    assert await timed.limits.reserve("c10", [limits[1]]) is not None


async def test_gateways_that_share_a_store_never_take_more_than_there_is(
    open_store: OpenStore,
) -> None:
    stores = [open_store(), open_store()]
    limit = a_limit(maximum=5)
    answers = await asyncio.gather(
        *(stores[n % 2].limits.reserve(f"c{n}", [limit]) for n in range(20))
    )
    assert answers.count(None) == 5
