import asyncio
from datetime import datetime

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.backlog import Backlog, Bounds, Entry
from tests.helpers.cases import NOW


def now() -> datetime:
    return NOW


def entries(count: int, *, size: int = 1, durable: bool = False) -> list[Entry]:
    return [Entry((), size, durable) for _ in range(count)]


def filled(count: int, bounds: Bounds | None = None, *, size: int = 1) -> Backlog:
    backlog = Backlog(bounds or Bounds())
    backlog.append(entries(count, size=size), owed=False, now=now)
    return backlog


def group(backlog: Backlog) -> list[Entry]:
    found = backlog.group()
    assert found is not None
    return found


def test_what_is_written_stays_until_it_is_done() -> None:
    backlog = filled(3)
    first = group(backlog)
    assert len(backlog) == 3
    assert group(backlog) == first
    backlog.done(first)
    assert (len(backlog), backlog.bytes, backlog.committed) == (0, 0, 3)


def test_what_was_admitted_has_room_later_and_counts_while_it_is_ahead() -> None:
    backlog = filled(2, Bounds(events=4))
    backlog.admit(1, ahead=0, owed=False, now=now)
    backlog.admit(1, ahead=1, owed=False, now=now)
    with pytest.raises(StoreUnavailable, match="too many"):
        backlog.admit(1, ahead=2, owed=False, now=now)
    backlog.admit(1, ahead=2, owed=True, now=now)
    backlog.append(entries(3), owed=True, now=now, admitted=True)
    assert len(backlog) == 5


def test_a_group_is_bounded_in_number_and_size_but_never_empty() -> None:
    assert len(group(filled(2_500))) == 1_000
    assert len(group(filled(3, size=3 << 20))) == 1


def test_events_of_one_entry_count_one_by_one() -> None:
    backlog = Backlog(Bounds(events=2_000))
    entry = Entry((), 1, durable=False, events=600)
    backlog.append([entry, entry], owed=False, now=now)
    assert len(backlog) == 1_200
    assert group(backlog) == [entry]
    with pytest.raises(StoreUnavailable, match="too many"):
        backlog.append([Entry((), 1, durable=False, events=900)], owed=False, now=now)
    backlog.done([entry])
    assert (len(backlog), backlog.committed, backlog.bytes) == (600, 600, 1)


def test_a_full_backlog_takes_all_or_none() -> None:
    backlog = filled(9, Bounds(events=10))
    with pytest.raises(StoreUnavailable, match="too many"):
        backlog.append(entries(2), owed=False, now=now)
    assert len(backlog) == 9
    backlog.append(entries(1), owed=False, now=now)


def test_size_counts_too() -> None:
    backlog = filled(1, Bounds(bytes=100), size=90)
    with pytest.raises(StoreUnavailable):
        backlog.append(entries(1, size=20), owed=False, now=now)


def test_ends_of_calls_that_were_sent_find_room_where_others_do_not() -> None:
    """case: OBS-03"""
    backlog = filled(8, Bounds(events=8))
    backlog.append(entries(2), owed=True, now=now)
    with pytest.raises(StoreUnavailable):
        backlog.append(entries(1), owed=True, now=now)


def test_what_was_refused_is_told_once_things_move_again() -> None:
    backlog = filled(1, Bounds(events=1))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            backlog.append(entries(3), owed=False, now=now)
    gap = backlog.done(group(backlog))
    assert gap is not None
    assert (gap.count, gap.since) == (6, NOW)
    backlog.append(entries(1), owed=False, now=now)
    assert backlog.done(group(backlog)) is None


async def test_one_waits_for_what_was_appended_before_and_for_nothing_else() -> None:
    backlog = filled(1)
    waiter = backlog.wait()
    assert waiter is not None
    first = group(backlog)
    backlog.append(entries(1), owed=False, now=now)
    backlog.done(first)
    await asyncio.wait_for(waiter.future, 15)
    assert backlog.wait() is not None


async def test_nobody_waits_for_what_is_committed() -> None:
    backlog = filled(1)
    backlog.done(group(backlog))
    assert backlog.wait() is None


async def test_a_wait_that_was_given_up_hurts_nobody() -> None:
    backlog = filled(1)
    gone, left = backlog.wait(), backlog.wait()
    assert gone is not None
    assert left is not None
    gone.future.cancel()
    backlog.done(group(backlog))
    await asyncio.wait_for(left.future, 15)


def test_a_loop_that_ended_while_it_waited_hurts_nobody() -> None:
    backlog = filled(1)

    async def wait() -> None:
        assert backlog.wait() is not None

    asyncio.run(wait())
    backlog.done(group(backlog))


def test_a_closed_backlog_gives_out_what_is_left_and_takes_nothing() -> None:
    backlog = filled(1)
    backlog.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        backlog.append(entries(1), owed=True, now=now)
    backlog.done(group(backlog))
    assert backlog.group() is None


def of_a_crowd(count: int) -> Backlog:
    """Return an empty backlog for whose last commit so many have waited."""
    backlog = filled(1)
    for _ in range(count):
        assert backlog.wait() is not None
    backlog.done(group(backlog))
    return backlog


async def test_in_a_crowd_a_commit_waits_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.store.backlog._GATHER_S", 60)
    backlog = of_a_crowd(4)
    backlog.append(entries(1, durable=True), owed=False, now=now)
    writer = asyncio.create_task(asyncio.to_thread(group, backlog))
    done, _ = await asyncio.wait({writer}, timeout=0.05)
    assert not done
    backlog.append(entries(2, durable=True), owed=False, now=now)
    backlog.close()
    assert len(await writer) == 3


@pytest.mark.parametrize(("crowd", "durable"), [(3, True), (4, False)])
async def test_without_a_crowd_or_anybody_who_waits_no_commit_is_held_back(
    monkeypatch: pytest.MonkeyPatch, crowd: int, *, durable: bool
) -> None:
    monkeypatch.setattr("gateway.store.backlog._GATHER_S", 60)
    backlog = of_a_crowd(crowd)
    backlog.append(entries(1, durable=durable), owed=False, now=now)
    assert len(await asyncio.wait_for(asyncio.to_thread(group, backlog), 15)) == 1


async def test_who_waits_for_what_is_being_written_hurries_nothing_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.store.backlog._LINGER_S", 60)
    backlog = filled(1)
    assert backlog.wait() is not None
    first = group(backlog)
    assert backlog.wait() is not None
    backlog.done(first)
    backlog.append(entries(1), owed=False, now=now)
    writer = asyncio.create_task(asyncio.to_thread(group, backlog))
    done, _ = await asyncio.wait({writer}, timeout=0.05)
    assert not done
    assert backlog.wait() is not None
    assert len(await writer) == 1


async def test_after_a_failure_what_was_being_written_is_urgent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backlog = filled(1)
    first = group(backlog)
    monkeypatch.setattr("gateway.store.backlog._LINGER_S", 60)
    assert backlog.wait() is not None
    backlog.pause(0)
    assert await asyncio.wait_for(asyncio.to_thread(group, backlog), 15) == first
