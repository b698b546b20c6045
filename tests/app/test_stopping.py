"""The deadline of a stop."""

import anyio

from gateway.app.stopping import CALLS_S, SERVERS_S, WHOLE_S, Stopping
from tests.helpers.issuer import HandClock


def test_everything_counts_from_the_same_moment() -> None:
    clock = HandClock()
    stopping = Stopping(clock)
    clock.move(100)
    stopping.begin()
    clock.move(4)
    stopping.begin()
    assert stopping.left(CALLS_S) == CALLS_S - 4
    clock.move(2)
    assert stopping.left(CALLS_S) == 0
    assert stopping.left(SERVERS_S) == SERVERS_S - 6


def test_whoever_wants_to_know_is_told_once_that_it_begins() -> None:
    told: list[str] = []
    stopping = Stopping(HandClock())
    stopping.tell(lambda: told.append("begun"))
    assert told == []
    stopping.begin()
    stopping.left(CALLS_S)
    assert told == ["begun"]


def test_a_stop_that_nobody_announced_begins_when_it_is_asked_about() -> None:
    assert Stopping(HandClock()).left(WHOLE_S) == WHOLE_S


def test_the_last_things_get_a_moment_however_late_it_is() -> None:
    clock = HandClock()
    stopping = Stopping(clock)
    assert stopping.last_s(2) == 2
    clock.move(8.5)
    assert stopping.last_s(2) == 1.5
    clock.move(100)
    assert stopping.last_s(2) == 1


async def test_servers_that_are_late_are_killed_and_others_left_alone() -> None:
    clock, killed = HandClock(), anyio.Event()
    stopping = Stopping(clock)
    stopping.begin()
    clock.move(SERVERS_S - 0.01)
    async with stopping.killing_late(killed.set) as told:
        assert not killed.is_set()
        told()
        with anyio.fail_after(15):
            await killed.wait()
    spared = anyio.Event()
    clock.move(1)  # due in the next round of the loop
    async with stopping.killing_late(spared.set) as told:
        told()
    for _ in range(10):
        await anyio.lowlevel.checkpoint()
    assert not spared.is_set()
