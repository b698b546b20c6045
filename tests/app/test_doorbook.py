"""The book of requests that were turned away."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest

from gateway.app import doorbook
from gateway.app.doorbook import DoorBook, peer_class
from gateway.errors import StoreUnavailable
from gateway.events import schemas
from gateway.events.envelope import Origin, to_json
from gateway.types.event_rows import EventRow
from gateway.types.events import Event, EventKind
from gateway.types.json import JsonObject
from gateway.types.refused import TurnedAway, TurnedAwayFor
from tests.helpers.issuer import NOW, HandClock


class Log:
    """A journal in memory that can be away."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.is_away = False
        self.grew = anyio.Event()

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        if self.is_away:
            raise StoreUnavailable("the disk is full")
        self.events += events
        self.grew.set()
        self.grew = anyio.Event()

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        del most
        self.append([each for each in make() if isinstance(each, Event)], owed=owed)

    def catch_up(self) -> None:
        return None

    async def kept(self) -> None:
        return None

    @property
    def failing(self) -> str:
        return ""

    async def holds(self, number: int) -> JsonObject:
        """Wait for so many events and return the body of the last."""
        with anyio.fail_after(15):
            while len(self.events) < number:
                await self.grew.wait()
        return self.events[number - 1].body


def knock(
    reason: TurnedAwayFor = TurnedAwayFor.PARSE_ERROR, *, peer: str = "127.0.0.1", method: str = ""
) -> TurnedAway:
    return TurnedAway(reason=reason, transport="http", peer=peer, method=method)


async def test_the_first_is_written_at_once_and_a_flood_costs_one_more_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """case: OBS-05"""
    monkeypatch.setattr(doorbook, "FIRST_PAUSE_S", 0.05)
    log, clock = Log(), HandClock()
    book = DoorBook(log, clock)
    book.note(knock(method="tools/call"))
    assert log.events[0].body == {
        "action": "request_refused",
        "reason": "parse_error",
        "count": 1,
        "since": NOW.isoformat(),
        "peers": ["127.0.0.1"],
        "transport": "http",
        "methods": ["tools/call"],
    }
    clock.move(7)
    for number in range(10_000):
        book.note(knock(peer=f"127.0.{number // 250}.{number % 250}"))
    assert len(log.events) == 1
    counted = await log.holds(2)
    assert (counted["count"], counted["methods"]) == (10_000, [])
    assert counted["since"] == (NOW + timedelta(seconds=7)).isoformat()
    assert isinstance(counted["peers"], list)
    assert len(counted["peers"]) == 20
    book.close()


async def test_the_pause_grows_while_they_keep_coming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbook, "FIRST_PAUSE_S", 0.01)
    log = Log()
    book = DoorBook(log, HandClock())
    began = anyio.current_time()
    for number in range(1, 5):
        book.note(knock())
        await log.holds(number)
    assert anyio.current_time() - began >= 0.01 + 0.02 + 0.04
    book.close()


async def test_after_a_quiet_time_the_next_is_the_first_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doorbook, "FIRST_PAUSE_S", 0.0)
    log = Log()
    book = DoorBook(log, HandClock())
    book.note(knock())
    for _ in range(10):  # the pause is over in the next round of the loop
        await anyio.lowlevel.checkpoint()
    book.note(knock())
    assert [event.body["count"] for event in log.events] == [1, 1]
    book.close()


async def test_kinds_do_not_hide_one_another() -> None:
    log = Log()
    book = DoorBook(log, HandClock())
    book.note(knock())
    book.note(knock(peer="8.8.4.4"))
    book.note(knock(peer="10.0.0.9"))
    book.note(knock(TurnedAwayFor.NO_CREDENTIAL))
    book.note(TurnedAway(reason=TurnedAwayFor.PARSE_ERROR, transport="stdio"))
    assert len(log.events) == 5
    book.close()


async def test_a_log_that_is_away_stops_nobody_and_loses_no_count() -> None:
    """case: OBS-05"""
    log = Log()
    book = DoorBook(log, HandClock())
    log.is_away = True
    book.note(knock())
    book.note(knock())
    log.is_away = False
    book.close()
    assert [event.body["count"] for event in log.events] == [2]


async def test_the_end_writes_what_was_left_out() -> None:
    log = Log()
    book = DoorBook(log, HandClock())
    for _ in range(3):
        book.note(knock())
    book.close()
    assert [event.body["count"] for event in log.events] == [1, 2]


@pytest.mark.parametrize("reason", TurnedAwayFor)
async def test_every_reason_makes_an_event_of_the_published_form(reason: TurnedAwayFor) -> None:
    log = Log()
    book = DoorBook(log, HandClock())
    book.note(TurnedAway(reason=reason, transport="http", detail="send a credential"))
    book.close()
    (event,) = log.events
    wanted = "auth_rejected" if reason.is_about_credential else "request_refused"
    assert event.body["action"] == wanted
    validator: Any = jsonschema.Draft202012Validator(schemas.schema(EventKind.ADMIN))
    validator.validate(to_json(event, Origin(instance="gw", version="1")))


@pytest.mark.parametrize(
    ("peer", "wanted"),
    [
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("192.168.1.4", "private"),
        ("8.8.8.8", "public"),
        ("", ""),
        ("a.b", ""),
    ],
)
def test_peers_fall_into_few_classes(peer: str, wanted: str) -> None:
    assert peer_class(peer) == wanted


def test_the_page_about_operation_names_every_reason_with_its_event() -> None:
    page = Path(__file__).parents[2] / "docs/reference/operation.md"
    rows = [
        line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    named = {row.split("`")[1]: set(row.split("`")[3::2]) for row in rows}
    credentials = {reason.value for reason in TurnedAwayFor if reason.is_about_credential}
    assert named["auth_rejected"] == credentials
    assert named["request_refused"] == {reason.value for reason in TurnedAwayFor} - credentials
