from datetime import timedelta
from typing import Any

import pytest

from gateway.errors import LogChanged, StoreUnavailable
from gateway.events import upkeep
from gateway.store import retention
from gateway.store.integration import StoredCheckpoint
from gateway.store.retention import Hold
from gateway.store.store import Store
from tests.helpers.cases import NOW
from tests.helpers.databases import Connect
from tests.helpers.events import an_event
from tests.helpers.tampering import checkpoint, tamper, write

LATER = NOW + timedelta(days=1)


def a_hold(**changes: Any) -> Hold:
    fields: dict[str, Any] = {"tenant": "", "run": "", "reason": "suit", "by": "ada", "at": NOW}
    return Hold(**(fields | changes))


async def removed(store: Store, made: StoredCheckpoint, first: int = 1) -> bool:
    return await store.retention.remove(made, first=first, digest="sha256:d", event=an_event())


async def a_log(store: Store, *counts: int) -> list[StoredCheckpoint]:
    made: list[StoredCheckpoint] = []
    for count in counts:
        await write(store, count)
        made.append(await checkpoint(store))
    return made


async def test_where_nothing_was_archived_the_log_begins_at_its_beginning(store: Store) -> None:
    assert await store.retention.sealed() is None
    prefix = await store.retention.prefix(LATER, 1_000)
    assert (prefix.first, prefix.last) == (1, 0)


async def test_a_prefix_in_whole_tiles_may_go_up_to_what_stops_it(store: Store) -> None:
    await a_log(store, 600)
    await write(store, 300)
    stops = {
        "no checkpoint covers more": await store.retention.prefix(LATER, 10_000),
        "one archive holds no more": await store.retention.prefix(LATER, 300),
        "event 401 is not that old": await store.retention.prefix(
            NOW + timedelta(seconds=400), 10_000
        ),
    }
    assert {prefix.stop: prefix.last for prefix in stops.values()} == {
        "no checkpoint covers more": 512,
        "one archive holds no more": 256,
        "event 401 is not that old": 256,
    }
    assert list(stops) == [prefix.stop for prefix in stops.values()]


async def test_the_last_event_stays_so_that_numbers_go_on(store: Store) -> None:
    await a_log(store, 512)
    prefix = await store.retention.prefix(LATER, 10_000)
    assert (prefix.last, prefix.stop) == (256, "the last event stays")


async def test_a_hold_stops_it_at_the_first_event_that_has_to_stay(store: Store) -> None:
    await write(store, 300)
    await write(store, 1, tenant="initech")
    await write(store, 1, run="run_1")
    await a_log(store, 700)
    assert await store.retention.hold(a_hold(run="run_1"), an_event())
    prefix = await store.retention.prefix(LATER, 10_000)
    assert (prefix.last, prefix.stop) == (256, "event 302 is on hold, of run `run_1`")
    assert await store.retention.hold(a_hold(tenant="initech"), an_event())
    assert (await store.retention.prefix(LATER, 10_000)).stop == (
        "event 301 is on hold, of tenant `initech`"
    )
    assert await store.retention.hold(a_hold(tenant="nobody"), an_event())


async def test_holds_are_set_and_lifted_once_and_each_change_is_an_event(store: Store) -> None:
    hold = a_hold(tenant="acme")
    assert await store.retention.hold(hold, an_event())
    assert not await store.retention.hold(a_hold(tenant="acme", reason="other"), an_event())
    assert await store.retention.holds() == [hold]
    assert not await store.retention.lift("", "run_1", an_event())
    assert await store.retention.lift("acme", "", an_event())
    assert await store.retention.holds() == []
    assert await store.events.last_seq() == 2


async def test_what_is_sealed_is_removed_together_with_the_event_that_says_so(
    store: Store, store_url: str
) -> None:
    first, _ = await a_log(store, 512, 100)
    assert await removed(store, first)
    sealed = await store.retention.sealed()
    assert sealed is not None
    assert (sealed.size, sealed.edge, sealed.note) == (512, first.edge, first.note)
    assert tamper(store_url, "SELECT MIN(seq), MAX(seq), COUNT(*) FROM events") == [(513, 613, 101)]
    await write(store, 1)
    assert await store.events.last_seq() == 614
    assert (await checkpoint(store)).size == 614


async def test_the_same_is_not_removed_twice_and_nothing_out_of_turn(store: Store) -> None:
    first, second, _ = await a_log(store, 256, 256, 100)
    assert not await removed(store, second, first=257)
    assert await removed(store, first)
    assert await removed(store, first)
    assert await removed(store, second, first=257)
    assert not await removed(store, first)


async def test_what_went_on_hold_meanwhile_stays(store: Store) -> None:
    first, _ = await a_log(store, 256, 100)
    await store.retention.hold(a_hold(tenant="acme"), an_event())
    last = await store.events.last_seq()
    assert not await removed(store, first)
    assert await store.retention.sealed() is None
    assert await store.events.last_seq() == last


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events WHERE seq = 300",
        "DELETE FROM events",
        "UPDATE events SET seq = seq",
        "DELETE FROM archives",
        "UPDATE archives SET size = size",
    ],
)
async def test_every_other_change_is_refused_before_and_after(
    store: Store, store_url: str, statement: str
) -> None:
    first, _ = await a_log(store, 256, 100)
    assert await removed(store, first)
    with pytest.raises(Exception, match="can only be added"):
        tamper(store_url, statement, keeps_triggers=True)
    assert tamper(store_url, "SELECT COUNT(*) FROM events") == [(101,)]


async def test_a_sealed_size_is_what_lets_events_go(store: Store, connect: Connect) -> None:
    await a_log(store, 300)
    with (
        pytest.raises(StoreUnavailable, match="can only be added"),
        connect(5).transaction() as transaction,
    ):
        transaction.execute("remove_archived", {"size": 256})


async def test_an_edge_that_was_tampered_with_is_not_gone_on_from(
    store: Store, connect: Connect, store_url: str
) -> None:
    first, _ = await a_log(store, 256, 100)
    await removed(store, first)
    tamper(store_url, "UPDATE archives SET edge = 'AAAA'")
    with connect().reading() as reading, pytest.raises(LogChanged, match="can't be read"):
        retention.sealed(reading)


async def test_a_hold_whose_row_somebody_took_away_is_back_before_anything_goes(
    store: Store, store_url: str
) -> None:
    who = {"by": "ada", "account": "root"}
    held = upkeep.hold_set(id="h1", at=NOW, tenant="acme", run="", reason="suit", **who)
    also = upkeep.hold_set(id="h2", at=NOW, tenant="", run="run_1", reason="suit", **who)
    over = upkeep.hold_lifted(id="h3", at=NOW, tenant="", run="run_1", **who)
    assert await store.retention.hold(a_hold(tenant="acme"), held)
    assert await store.retention.hold(a_hold(run="run_1"), also)
    assert await store.retention.lift("", "run_1", over)
    await a_log(store, 600)
    before = await store.retention.prefix(LATER, 10_000)
    assert "is on hold, of tenant `acme`" in before.stop
    tamper(store_url, "DELETE FROM holds")
    assert await store.retention.prefix(LATER, 10_000) == before
    tamper(store_url, "DELETE FROM holds")
    (back,) = await store.retention.holds()
    assert (back.tenant, back.run, back.reason, back.by) == ("acme", "", "suit", "ada")
    assert back.at == NOW
