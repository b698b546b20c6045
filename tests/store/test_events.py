import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from gateway.errors import StoreUnavailable
from gateway.store import sealed_copies
from gateway.store.backlog import Bounds
from gateway.store.engine import Engine, Lock
from gateway.store.events import EventFilter, EventLog
from gateway.store.store import Store
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW, an_actor
from tests.helpers.databases import Outage, recovered
from tests.helpers.events import an_event

OpenLog = Callable[..., EventLog]
OpenStore = Callable[..., Store]
Connect = Callable[..., Engine]


async def ids_of(log: EventLog, wanted: EventFilter | None = None) -> list[object]:
    return [event.json()["id"] for event in await log.query(wanted or EventFilter())]


async def test_what_was_appended_is_read_back_byte_for_byte_and_numbered(store: Store) -> None:
    store.events.append([an_event(id="e1", body={"n": "é ✓ \u0000"})])
    store.events.append([an_event(id="e2")])
    await store.events.kept()
    first, second = await store.events.query(EventFilter())
    assert (first.seq, second.seq) == (1, 2)
    assert b'"body":{"n":"\xc3\xa9 \xe2\x9c\x93 \\u0000"}' in first.body
    assert first.json()["seq"] == 1


async def test_events_that_nobody_waits_for_are_kept_all_the_same_and_in_order(
    store: Store, open_store: OpenStore
) -> None:
    names = [f"e{number:03}" for number in range(150)]
    for name in names:
        store.events.append([an_event(id=name)])
    reader = open_store()
    async with asyncio.timeout(15):
        while len(found := await ids_of(reader.events, EventFilter(limit=999))) < 150:
            await asyncio.sleep(0)
    assert found == names


async def test_what_is_durable_comes_after_what_was_appended_before_it(store: Store) -> None:
    store.events.append([an_event(id="read")])
    store.events.append([an_event(id="intent")], durable=True)
    await asyncio.to_thread(store.events.append, [an_event(id="gap")], owed=True)
    await store.events.kept()
    assert await ids_of(store.events) == ["read", "intent", "gap"]


async def test_what_is_made_later_is_kept_in_its_place(store: Store) -> None:
    made: list[str] = []

    def make(*names: str) -> Callable[[], list[Event]]:
        def events() -> list[Event]:
            made.extend(names)
            return [an_event(id=name) for name in names]

        return events

    store.events.append([an_event(id="a")])
    store.events.append_later(make("b"), 1)
    store.events.append_later(make("c", "d"), 3)  # fewer than there could have been
    store.events.append([an_event(id="e")])
    assert made == []
    store.events.append([an_event(id="f")], durable=True)
    assert made == ["b", "c", "d"]
    await store.events.kept()
    assert await ids_of(store.events) == ["a", "b", "c", "d", "e", "f"]


async def test_what_is_made_later_is_kept_though_nobody_asks(
    store: Store, open_store: OpenStore
) -> None:
    store.events.append_later(lambda: [an_event(id="a")], 1)
    reader = open_store()
    async with asyncio.timeout(15):
        while await ids_of(reader.events) != ["a"]:
            await asyncio.sleep(0)


async def test_many_that_are_made_later_do_not_wait_for_the_time(store: Store) -> None:
    made: list[int] = []

    def make() -> list[Event]:
        made.append(1)
        return []

    for turn in range(1, 20):
        for _ in range(30):
            store.events.append_later(make, 2)
        assert len(made) == 30 * (turn - 1), "they were made between two steps of a call"
        await asyncio.sleep(0)
        assert len(made) == 30 * turn, "what comes in faster than it is made would pile up"


async def test_what_comes_later_has_a_timer_of_its_own(store: Store) -> None:
    for name in ("a", "b"):
        store.events.append_later(lambda name=name: [an_event(id=name)], 1)
        async with asyncio.timeout(15):
            while len(await ids_of(store.events)) < (1 if name == "a" else 2):
                await asyncio.sleep(0.01)


async def test_what_was_put_off_is_made_when_the_caller_gives_way(store: Store) -> None:
    made: list[int] = []

    def make() -> list[Event]:
        made.append(1)
        return [an_event()]

    store.events.catch_up()  # there is nothing yet
    store.events.append_later(make, 1)
    await asyncio.sleep(0)
    assert made == []
    store.events.catch_up()
    store.events.catch_up()
    assert made == []
    await asyncio.sleep(0)
    assert made == [1]
    await store.events.kept()
    assert len(await ids_of(store.events)) == 1


async def test_another_thread_does_not_make_what_a_loop_has_put_off(store: Store) -> None:
    made: list[int] = []

    def make() -> list[Event]:
        made.append(threading.get_ident())
        return [an_event()]

    store.events.append_later(make, 1)
    await asyncio.to_thread(store.events.catch_up)
    await store.events.kept()
    assert made == [threading.get_ident()]


async def test_events_that_can_not_be_made_leave_a_gap_that_is_told(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> list[Event]:
        raise KeyError("secret")

    store.events.append_later(lambda: [an_event(id="a")], 1)
    store.events.append_later(fails, 2)
    store.events.append_later(lambda: [an_event(id="b")], 1)
    await store.events.kept()
    first, gap, last = [event.json() for event in await store.events.query(EventFilter())]
    assert (first["id"], last["id"]) == ("a", "b")
    assert gap["kind"] == "admin"
    body = gap["body"]
    assert isinstance(body, dict)
    assert body["reason"] == "events of a call could not be made: KeyError"
    assert "secret" not in str(gap)
    assert "could not be made" in caplog.text


async def test_nothing_is_made_of_what_finds_no_room(open_log: OpenLog, outage: Outage) -> None:
    log = open_log(wait_s=1.0, bounds=Bounds(events=4))
    outage.begin()
    log.append_later(lambda: [an_event(id="e1")], 4)

    def never() -> list[Event]:
        raise AssertionError("it has no place")

    with pytest.raises(StoreUnavailable, match="too many"):
        log.append_later(never, 1)
    outage.end()
    await recovered(log)
    assert "e1" in await ids_of(log)


@pytest.mark.parametrize("most", [1, 7])
async def test_room_is_used_up_to_its_end_and_no_further(
    open_log: OpenLog, outage: Outage, most: int
) -> None:
    log = open_log(wait_s=1.0, bounds=Bounds(events=400))
    outage.begin()
    taken = 0

    def fill() -> None:
        nonlocal taken
        for _ in range(500):
            log.append_later(lambda: [an_event() for _ in range(most)], most)
            taken += most

    with pytest.raises(StoreUnavailable, match="too many"):
        fill()
    assert taken == 400 // most * most
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="too many"):
        log.append_later(lambda: [an_event()], 400 - taken + 1)
    outage.end()
    await recovered(log)


async def test_what_another_thread_has_made_later_is_made_by_it(store: Store) -> None:
    makers: list[threading.Thread] = []

    def make() -> list[Event]:
        makers.append(threading.current_thread())
        return [an_event()]

    for _ in range(2):
        store.events.append_later(make, 1)
    await asyncio.to_thread(store.events.append_later, make, 1)
    assert [each is threading.main_thread() for each in makers] == [False]
    await store.events.kept()
    assert [each is threading.main_thread() for each in makers] == [False, True, True]


async def test_another_thread_does_not_make_what_waits(store: Store) -> None:
    makers: list[threading.Thread] = []

    def make() -> list[Event]:
        makers.append(threading.current_thread())
        return [an_event(id="late")]

    store.events.append_later(make, 1)
    await asyncio.to_thread(store.events.append, [an_event(id="beside")])
    await store.events.kept()
    assert makers == [threading.main_thread()]
    assert sorted(map(str, await ids_of(store.events))) == ["beside", "late"]


async def test_what_was_appended_last_is_written_before_the_log_is_closed(
    open_store: OpenStore,
) -> None:
    store = open_store()
    store.events.append([an_event(id="last")])
    assert store.events.close() == 0
    assert await ids_of(open_store().events) == ["last"]


async def test_kept_returns_at_once_when_nothing_waits(store: Store) -> None:
    await store.events.kept()


async def test_the_same_event_is_never_there_twice(store: Store) -> None:
    store.events.append([an_event(id="e1"), an_event(id="e1"), an_event(id="e2")])
    store.events.append([an_event(id="e1")], durable=True)
    await store.events.kept()
    events = await store.events.query(EventFilter())
    assert [(event.seq, event.json()["id"]) for event in events] == [(1, "e1"), (2, "e2")]


async def test_an_event_that_is_there_already_costs_the_new_ones_neither_place_nor_order(
    store: Store,
) -> None:
    old, new = [an_event() for _ in range(150)], [an_event() for _ in range(150)]
    store.events.append(old, durable=True)
    await store.events.kept()
    store.events.append([*new[:70], old[5], *new[70:], old[149]], durable=True)
    await store.events.kept()
    events = await store.events.query(EventFilter(limit=1_000))
    assert [event.seq for event in events] == list(range(1, 301))
    assert [event.json()["id"] for event in events] == [event.id for event in (*old, *new)]


async def test_several_gateways_share_one_log_without_gaps(open_store: OpenStore) -> None:
    stores = [open_store(), open_store(), open_store()]

    async def append(store: Store) -> None:
        for _ in range(40):
            store.events.append([an_event(), an_event()], durable=True)
            await store.events.kept()

    await asyncio.gather(*(append(store) for store in stores))
    found = await stores[0].events.query(EventFilter(limit=1_000))
    assert [event.seq for event in found] == list(range(1, 241))
    assert len({str(event.json()["id"]) for event in found}) == 240


@pytest.mark.parametrize("statement", ["UPDATE events SET kind = 'x'", "DELETE FROM events"])
async def test_events_can_neither_be_changed_nor_removed(
    store: Store, connect: Connect, statement: str
) -> None:
    store.events.append([an_event()])
    await store.events.kept()
    with pytest.raises(StoreUnavailable, match="only be added"), connect().transaction() as raw:
        raw.script(statement + ";")
    assert await store.events.last_seq() == 1


@pytest.mark.parametrize(
    "wanted",
    [
        {"tenant": "globex"},
        {"run": "run_9"},
        {"call": "call_9"},
        {"actor": "kim"},
        {"tool": "mail.send"},
        {"decision": "deny"},
        {"status": "denied"},
        {"kind": "authorization"},
        {"stage": "decided"},
        {"rule": "no-mail"},
        {"trace": "b" * 32},
        {"since": NOW + timedelta(seconds=1)},
        {"after": 1},
        {"tenant": "globex", "tool": "mail.send", "since": NOW, "until": NOW + timedelta(hours=1)},
    ],
    ids="+".join,
)
async def test_events_are_found_by_what_they_are_about(
    store: Store, wanted: dict[str, object]
) -> None:
    special = an_event(
        id="special",
        at=NOW + timedelta(minutes=1),
        kind=EventKind.AUTHORIZATION,
        stage=Stage.DECIDED,
        body={"tool": "mail.send", "decision": "deny", "status": "denied", "rule": "no-mail"},
        tenant="globex",
        run="run_9",
        call="call_9",
        actor=an_actor(user="kim"),
        trace_id="b" * 32,
    )
    store.events.append([an_event(id="other"), special])
    await store.events.kept()
    assert await ids_of(store.events, EventFilter(**wanted)) == ["special"]  # pyright: ignore[reportArgumentType] - one field a case
    assert await ids_of(store.events, EventFilter(until=NOW + timedelta(seconds=1))) == ["other"]


async def test_events_of_several_calls_come_in_the_order_of_the_log(store: Store) -> None:
    calls = ("call_a", "call_b", "call_c", "call_a", "x\0y", "call_b")
    store.events.append([an_event(id=f"e{n}", call=call) for n, call in enumerate(calls)])
    await store.events.kept()
    some = EventFilter(few_calls=("call_b", "call_a", "call_none"))
    assert await ids_of(store.events, some) == ["e0", "e1", "e3", "e5"]
    assert await ids_of(store.events, replace(some, limit=2, after=1)) == ["e1", "e3"]
    assert await ids_of(store.events, EventFilter(few_calls=("x\0y",))) == ["e4"]


async def test_the_newest_come_first_when_asked_for(store: Store) -> None:
    store.events.append([an_event(id=f"e{number}") for number in range(5)])
    await store.events.kept()
    assert await ids_of(store.events, EventFilter(newest_first=True, limit=2)) == ["e4", "e3"]
    older = EventFilter(newest_first=True, limit=2, before=4)
    assert await ids_of(store.events, older) == ["e2", "e1"]


@pytest.mark.parametrize("name", ["x\0y", "\ud800", "ß" * 5_000])
async def test_no_name_from_outside_can_stop_the_log(store: Store, name: str) -> None:
    """case: OBS-05"""
    store.events.append([an_event(call=name, body={"tool": name, "status": name})], durable=True)
    await store.events.kept()
    assert len(await store.events.query(EventFilter(tool=name))) == 1
    assert len(await store.events.query(EventFilter(call=name))) == 1


async def test_tail_yields_what_there_is_in_pages(store: Store) -> None:
    store.events.append([an_event() for _ in range(1_200)])
    await store.events.kept()
    assert [event.seq async for event in store.events.tail(5)] == list(range(6, 1_201))


async def test_tail_follows_what_another_gateway_appends(open_store: OpenStore) -> None:
    writer, reader = open_store(), open_store()
    writer.events.append([an_event(id="e1")])
    async with AsyncExitStack() as stack:
        tail = reader.events.tail(follow=True, poll_s=0.01)
        stack.push_async_callback(tail.aclose)  # pyright: ignore - an async generator has it
        async with asyncio.timeout(15):
            assert (await anext(tail)).json()["id"] == "e1"
            writer.events.append([an_event(id="e2")])
            assert (await anext(tail)).json()["id"] == "e2"


async def test_a_full_backlog_refuses_and_the_gap_is_recorded(
    open_log: OpenLog, outage: Outage
) -> None:
    """case: OBS-03"""
    log = open_log(wait_s=1.0, bounds=Bounds(events=4))
    log.append([an_event(id="e0")])
    await log.kept()
    outage.begin()
    log.append([an_event(id=f"e{number}") for number in range(1, 5)])
    with pytest.raises(StoreUnavailable, match="too many"):
        log.append([an_event(), an_event()])
    log.append([an_event(id="end")], owed=True)
    outage.end()
    while not (gaps := await _gaps(log)):
        continue
    (gap,) = gaps
    assert gap["count"] == 2
    found = await ids_of(log)
    assert found[:6] == ["e0", "e1", "e2", "e3", "e4", "end"]


async def _gaps(log: EventLog) -> list[JsonObject]:
    try:
        found = await log.query(EventFilter(kind="admin"))
    except StoreUnavailable:
        return []
    bodies = [event.json()["body"] for event in found]
    return [body for body in bodies if isinstance(body, dict)]


async def test_a_lock_of_another_process_delays_but_never_blocks_the_loop(
    store: Store, connect: Connect
) -> None:
    """case: OBS-04"""
    other = connect()
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)

    heart = asyncio.ensure_future(beat())
    with other.transaction(lock=Lock.EVENTS):
        store.events.append([an_event(id="e1")], durable=True)
        waiting = asyncio.ensure_future(store.events.kept())
        done, _ = await asyncio.wait([waiting], timeout=2.5)
        assert not done
        store.events.append([an_event(id="e2")], durable=True)
    await waiting
    await store.events.kept()
    heart.cancel()
    assert await ids_of(store.events) == ["e1", "e2"]
    assert longest < 1.0


async def test_a_lock_that_stays_refuses_in_time_and_loses_nothing(
    open_log: OpenLog, connect: Connect
) -> None:
    """case: OBS-04"""
    log = open_log(wait_s=1.0)
    log.append([an_event(id="e0")])
    await log.kept()
    with connect().transaction(lock=Lock.EVENTS):
        log.append([an_event(id="e1")], durable=True)
        with pytest.raises(StoreUnavailable, match="locked"):
            await log.kept()
        log.append([an_event(id="e2")], owed=True)
    async with asyncio.timeout(15):
        while True:
            try:
                await log.kept()
            except StoreUnavailable:  # until the try that met the lock is through
                await asyncio.sleep(0.01)
            else:
                break
    assert await ids_of(log) == ["e0", "e1", "e2"]


async def test_a_commit_that_hangs_is_waited_for_once(
    open_log: OpenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(wait_s=0.5)
    hangs, goes_on = threading.Event(), threading.Event()
    keep = sealed_copies.keep

    def hang(*given: Any) -> Any:
        hangs.set()
        goes_on.wait(30)
        return keep(*given)

    monkeypatch.setattr(sealed_copies, "keep", hang)
    log.append([an_event(id="e1")], durable=True)
    await asyncio.to_thread(hangs.wait)  # the commit began before anybody waits for it
    with pytest.raises(StoreUnavailable, match="no answer"):
        await log.kept()
    with patch.object(asyncio, "timeout", side_effect=AssertionError("it waits")):
        log.append([an_event(id="e2")], durable=True)
        with pytest.raises(StoreUnavailable):
            await log.kept()
    goes_on.set()
    async with asyncio.timeout(15):
        while await ids_of(log) != ["e1", "e2"]:
            await asyncio.sleep(0)
    log.append([an_event(id="e3")], durable=True)
    await log.kept()


KILLED = """
import asyncio, os, signal, sys
from gateway.events.envelope import Origin
from gateway.store.store import Store
from tests.helpers.events import an_event

async def main():
    store = Store.open(sys.argv[1], origin=Origin(instance="killed", version="0"))
    store.events.append([an_event(id="intent")], durable=True)
    await store.events.kept()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_was_kept_survives_the_death_of_the_process(
    store_url: str, open_store: OpenStore
) -> None:
    process = subprocess.run([sys.executable, "-c", KILLED, store_url], check=False)
    assert process.returncode == -9
    assert await ids_of(open_store().events) == ["intent"]
