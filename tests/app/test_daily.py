"""What would have been is told at the end of a day, and begun anew."""

from datetime import datetime, timedelta

import anyio
import pytest

from gateway.app.daily import Daily
from gateway.app.stance import Stance
from gateway.types.decisions import Mode
from gateway.types.events import Event
from gateway.types.observed import PASSED, Observed, Would
from tests.helpers.cases import NOW
from tests.helpers.fake_server import until_async


class Now:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    def time_ns(self) -> int:
        return int(self.at.timestamp() * 1e9)


async def test_a_day_is_told_once_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "weighbridge")
    clock, told = Now(), list[Event]()
    daily = Daily(stance=Stance(mode=Mode.OBSERVE), clock=clock, say=told.append, every_s=0.005)
    daily.begin()
    assert "every call passes" in caplog.text
    daily.stance.tally.count("crm.find", PASSED)
    daily.stance.tally.count("crm.ban", Observed(would=Would.DENY, rule="no-bans"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(daily.run)
        await anyio.sleep(0.02)
        assert told == []
        clock.at += timedelta(days=1)
        await until_async(lambda: told)
        tasks.cancel_scope.cancel()
    (event,) = told
    assert event.body["action"] == "calls_observed"
    assert event.body["calls"] == 2
    assert event.body["would"] == [
        {"would": "deny", "rule": "no-bans", "tool": "crm.ban", "calls": 1}
    ]
    assert "1 would have been denied" in caplog.text
    assert "deny  crm.ban  no-bans  1" in caplog.text
    assert daily.stance.tally.calls == 0


def test_nothing_is_told_of_a_day_without_calls() -> None:
    told = list[Event]()
    daily = Daily(stance=Stance(), clock=Now(), say=told.append)
    daily.begin()
    daily.tell()
    assert told == []
