import asyncio
from collections.abc import Callable

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.engine import Lock
from gateway.store.events import EventFilter, EventLog
from tests.helpers.databases import Connect, Outage, recovered
from tests.helpers.events import an_event

OpenLog = Callable[..., EventLog]


async def failing(log: EventLog) -> None:
    """Wait until the log has noticed that its database is away."""
    log.append([an_event()], durable=True)
    with pytest.raises(StoreUnavailable):
        await log.kept()


async def test_events_of_an_outage_are_written_afterwards_in_order_and_once(
    open_log: OpenLog, outage: Outage
) -> None:
    """case: OBS-03"""
    log = open_log(wait_s=1.0)
    log.append([an_event(id="e0")])
    await log.kept()
    outage.begin()
    for number in range(1, 6):
        log.append([an_event(id=f"e{number}")], durable=number % 2 == 0)
    with pytest.raises(StoreUnavailable, match=r"1 s"):
        await log.kept()
    health = log.health
    assert (health.ok, health.backlog) == (False, 5)
    assert health.reason
    assert health.since is not None
    outage.end()
    await recovered(log)
    found = [event.json()["id"] for event in await log.query(EventFilter())]
    assert found == [f"e{number}" for number in range(6)]
    assert log.failing == ""


async def test_while_it_fails_for_long_nobody_waits_again(
    open_log: OpenLog, outage: Outage
) -> None:
    log = open_log(wait_s=1.0)
    await log.kept()
    outage.begin()
    await failing(log)
    while not log.failing:
        await failing(log)
    with pytest.raises(StoreUnavailable):
        await log.kept()
    outage.end()
    await recovered(log)


async def test_an_outage_is_told_once_and_so_is_its_end(
    open_log: OpenLog, outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    log = open_log(wait_s=1.0)
    log.append([an_event()])
    await log.kept()
    outage.begin()
    await failing(log)
    outage.end()
    await recovered(log)
    said = [record.getMessage() for record in caplog.records if "stored" in record.getMessage()]
    assert len(said) == 2
    assert said[1] == "events are stored again"


async def test_a_commit_that_gets_no_answer_counts_as_failing_while_it_lasts(
    open_log: OpenLog, connect: Connect
) -> None:
    log = open_log(wait_s=0.1)  # the connection itself waits for locks five times as long
    await log.kept()
    with connect().transaction(lock=Lock.EVENTS):
        log.append([an_event()])
        async with asyncio.timeout(15):
            while not log.failing:
                await asyncio.sleep(0.01)
        assert "no answer" in log.failing
        assert not log.health.ok
        assert log.health.since is not None
        with pytest.raises(StoreUnavailable, match="no answer"):
            await log.kept()
    await recovered(log)
    assert log.health.ok


async def test_closing_writes_what_waits(open_log: OpenLog) -> None:
    log = open_log()
    log.append([an_event(id=f"e{number:04}") for number in range(2_500)])
    assert log.close() == 0
    assert len(await log.query(EventFilter(limit=5_000))) == 2_500


async def test_closing_during_an_outage_ends_within_its_bound_and_says_what_is_left(
    open_log: OpenLog, outage: Outage
) -> None:
    log = open_log(wait_s=1.0)
    log.append([an_event()])
    await log.kept()
    outage.begin()
    log.append([an_event(), an_event()])
    assert log.close(timeout_s=0.3) == 2
    outage.end()


async def test_what_waits_at_the_same_time_is_committed_together(
    open_log: OpenLog, outage: Outage
) -> None:
    log = open_log(wait_s=1.0)
    outage.begin()
    for number in range(6):
        log.append([an_event(id=f"e{number}")], durable=True)
    outage.end()
    await recovered(log)
    before = log.health
    assert before.committed == 6
    assert before.commits <= 2  # the first may have been on its way alone
    log.append([an_event()])
    await log.kept()
    assert (log.health.committed, log.health.commits) == (7, before.commits + 1)
