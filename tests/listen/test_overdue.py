"""One timer for all that is open."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from gateway.listen.overdue import Overdue


@dataclass(eq=False)
class One:
    has_ended: bool = False
    told: int = 0

    def is_overdue(self) -> None:
        self.told += 1


async def test_what_has_not_ended_is_told_once_and_what_has_is_not() -> None:
    overdue = Overdue(0.01)
    quick, slow, last = One(), One(), One()
    for one in (quick, slow):
        overdue.watch(one)
    quick.has_ended = True
    await anyio.sleep(0)
    overdue.watch(last)
    assert slow.told == 0
    with anyio.fail_after(5):
        while not last.told:
            await anyio.sleep(0.001)
    await anyio.sleep(0.02)
    assert [one.told for one in (quick, slow, last)] == [0, 1, 1]


async def test_nobody_is_told_before_the_time() -> None:
    overdue = Overdue(3_600)
    one = One()
    overdue.watch(one)
    await anyio.sleep(0.01)
    assert one.told == 0


async def test_one_timer_serves_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []

    class Loop:
        def time(self) -> float:
            return 1.0

        def call_later(self, delay: float, callback: Callable[[], None]) -> object:
            del callback
            made.append(delay)
            return object()

    monkeypatch.setattr(asyncio, "get_running_loop", Loop)
    overdue = Overdue(60)
    for _ in range(100):
        overdue.watch(One(has_ended=True))
    assert made == [30]


async def test_nothing_is_looked_after_when_nothing_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each gets as old as it has to, to the span; then there is no timer, and nothing is kept."""
    due: list[Callable[[], None]] = []

    class Loop:
        def call_later(self, delay: float, callback: Callable[[], None]) -> object:
            assert delay == 30
            due.append(callback)
            return object()

    monkeypatch.setattr(asyncio, "get_running_loop", Loop)
    overdue = Overdue(60)
    first, later = One(), One()
    overdue.watch(first)
    told: list[tuple[int, int]] = []
    for number in range(4):
        due.pop()()
        told.append((first.told, later.told))
        if number == 0:
            overdue.watch(later)
    assert told == [(0, 0), (0, 0), (1, 0), (1, 1)]
    assert due == []
    ended = weakref.ref(first)
    del first
    gc.collect()
    assert ended() is None
