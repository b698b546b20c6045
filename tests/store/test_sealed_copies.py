"""Rows of sealed copies on both engines: kept with their events, tampered with, destroyed."""

from datetime import timedelta
from functools import partial

import pytest

from gateway.actions.verifying import verify
from gateway.errors import StoreUnavailable
from gateway.events import upkeep
from gateway.events.trust import Trust
from gateway.store.backlog import Bounds
from gateway.store.changes import Change, Made
from gateway.store.retention import Hold
from gateway.store.sealed_copies import Scope
from gateway.store.store import Store
from gateway.store.unsealing import Unopened
from tests.helpers.cases import NOW
from tests.helpers.databases import OpenLog, OpenStore
from tests.helpers.events import an_event
from tests.helpers.sealed import ARGUMENTS, a_decision, a_sealer, beside, sealed, shred, telling
from tests.helpers.tampering import SIGNER, checkpoint, tamper, write


async def shreds(store: Store) -> int:
    events = [each.json() async for each in store.events.tail()]
    return sum("log_shredded" in str(each["body"]) for each in events)


async def states(store: Store) -> list[Unopened | None]:
    return [each.why for each in await beside(store)]


async def test_a_copy_is_kept_with_its_event_and_opened_beside_it(store: Store) -> None:
    await sealed(store, run="run_1")
    await sealed(store)
    store.events.append([an_event()])
    assert [each.arguments for each in await beside(store)] == [ARGUMENTS, ARGUMENTS]
    assert [each.why for each in await beside(store, None)] == [Unopened.NO_KEY] * 2


async def test_another_gateway_with_the_key_opens_it_as_well(open_store: OpenStore) -> None:
    one, other = open_store(), open_store()
    await sealed(one, a_sealer(), run="run_1")
    await sealed(other, a_sealer(), run="run_1")
    assert [each.arguments for each in await beside(one)] == [ARGUMENTS, ARGUMENTS]
    found = await shred(one, Scope(run="run_1"))
    assert (found.copies, found.keys, found.tenant) == (2, 2, "acme")
    assert await states(other) == [Unopened.SHREDDED] * 2


async def test_swapped_rows_are_not_taken_for_each_other(store: Store, store_url: str) -> None:
    one = await sealed(store, run="run_1")
    two = await sealed(store, run="run_1")
    await sealed(store, tenant="initech", run="run_2")
    tamper(
        store_url,
        f"UPDATE sealed_copies SET event_id = 'x' WHERE event_id = '{one.id}'",
        f"UPDATE sealed_copies SET event_id = '{one.id}' WHERE event_id = '{two.id}'",
        f"UPDATE sealed_copies SET event_id = '{two.id}' WHERE event_id = 'x'",
    )
    assert await states(store) == [Unopened.BROKEN, Unopened.BROKEN, None]


async def test_a_key_of_another_tenant_or_call_opens_nothing(store: Store, store_url: str) -> None:
    one = await sealed(store)
    two = await sealed(store, tenant="initech")
    three = await sealed(store, call="call_2")
    for each, other in ((one, two), (two, three)):
        mine, theirs = each.sealed, other.sealed
        assert mine is not None
        assert theirs is not None
        tamper(
            store_url,
            f"UPDATE data_keys SET wrapped = '{theirs.wrapped}' WHERE key_id = '{mine.key}'",
        )
    assert await states(store) == [Unopened.BROKEN, Unopened.BROKEN, None]


async def test_a_changed_copy_is_refused_and_a_removed_one_is_missed(
    store: Store, store_url: str
) -> None:
    one, two = await sealed(store), await sealed(store)
    tamper(
        store_url,
        f"UPDATE sealed_copies SET content = 'AAAA' || content WHERE event_id = '{one.id}'",
        f"DELETE FROM sealed_copies WHERE event_id = '{two.id}'",
    )
    assert await states(store) == [Unopened.BROKEN, Unopened.MISSING]


async def test_of_what_was_shredded_nothing_is_left_and_the_log_is_whole(
    store: Store, store_url: str
) -> None:
    await write(store, 3)
    event = await sealed(store, run="run_1")
    await sealed(store, run="run_2")
    mark = await checkpoint(store)
    found = await shred(store, Scope(run="run_1"))
    assert (found.copies, found.keys) == (1, 1)
    first, second = await beside(store)
    assert (first.why, second.why) == (Unopened.SHREDDED, None)
    assert first.since is not None
    report = await verify(store.checkpoints, Trust((SIGNER.key,)), ())
    assert report.is_whole
    assert mark.size == 5
    assert event.sealed is not None
    rows = tamper(store_url, "SELECT content FROM sealed_copies", keeps_triggers=True)
    keys = tamper(store_url, "SELECT wrapped FROM data_keys", keeps_triggers=True)
    assert event.sealed.content not in str(rows)
    assert event.sealed.wrapped not in str(keys)


async def test_shredding_twice_finds_nothing_and_says_nothing(store: Store) -> None:
    await sealed(store, run="run_1")
    assert (await shred(store, Scope(run="run_1"))).copies == 1
    assert (await shred(store, Scope(run="run_1"))).copies == 0
    assert (await shred(store, Scope(tenant="nobody"))).copies == 0
    assert await shreds(store) == 1


async def test_a_shredding_whose_answer_was_lost_is_told_once(store: Store) -> None:
    await sealed(store)
    scope = Scope(tenant="acme")
    for _ in range(2):
        found = await store.sealed.step(scope, partial(telling, scope), id="01KBSHRED")
        assert (found.copies, found.keys) == (1, 1)
    assert await shreds(store) == 1


async def test_many_are_destroyed_some_at_a_time_each_with_its_event(store: Store) -> None:
    sealer = a_sealer()
    for number in range(7):
        await sealed(store, sealer, run="run_1", call=f"call_{number}")
    found = await shred(store, Scope(run="run_1"), most=3)
    assert (found.copies, found.keys, found.tenant) == (7, 1, "acme")
    assert await states(store) == [Unopened.SHREDDED] * 7
    assert await shreds(store) == 3


async def test_a_call_of_a_run_goes_alone_and_the_last_one_takes_the_key(store: Store) -> None:
    sealer = a_sealer()
    await sealed(store, sealer, run="run_1", call="call_1")
    await sealed(store, sealer, run="run_1", call="call_2")
    first = await shred(store, Scope(call="call_1"))
    assert (first.copies, first.keys) == (1, 0)
    assert await states(store) == [Unopened.SHREDDED, None]
    last = await shred(store, Scope(call="call_2"))
    assert (last.copies, last.keys) == (1, 1)


async def test_of_a_tenant_what_is_older_goes_and_nothing_of_others(store: Store) -> None:
    await sealed(store, at=NOW - timedelta(days=2))
    await sealed(store, at=NOW)
    await sealed(store, tenant="initech", at=NOW - timedelta(days=2))
    found = await shred(store, Scope(tenant="acme", before=NOW - timedelta(days=1)))
    assert found.copies == 1
    assert await states(store) == [Unopened.SHREDDED, None, None]


@pytest.mark.parametrize("scope", [Scope(tenant="acme"), Scope(run="run_1"), Scope(call="call_1")])
@pytest.mark.parametrize("held", [("acme", ""), ("", "run_1")])
async def test_a_hold_stops_it(store: Store, scope: Scope, held: tuple[str, str]) -> None:
    await sealed(store, run="run_1", call="call_1")
    await sealed(store, tenant="initech", run="run_2", call="call_2")
    tenant, run = held
    hold = Hold(tenant=tenant, run=run, reason="suit", by="ada", at=NOW)
    await store.retention.hold(hold, an_event())
    found = await shred(store, scope)
    assert (found.copies, found.held) == (0, hold)
    assert await states(store) == [None, None]
    assert (await shred(store, Scope(run="run_2"))).copies == 1
    await store.retention.lift(tenant, run, an_event())
    assert (await shred(store, scope)).copies == 1


async def test_a_destroyed_key_seals_nothing_more_and_its_gateway_takes_another(
    store: Store,
) -> None:
    sealer = a_sealer()
    store.events.key_destroyed = sealer.forget
    await sealed(store, sealer, run="run_1")
    await shred(store, Scope(run="run_1"))
    await sealed(store, sealer, run="run_1")  # still under the key that is gone
    await sealed(store, sealer, run="run_1")
    assert await states(store) == [Unopened.SHREDDED, Unopened.SHREDDED, None]


async def test_what_leaves_the_log_takes_its_copies_with_it(store: Store, store_url: str) -> None:
    sealer = a_sealer()
    await write(store, 253)
    await sealed(store)
    await sealed(store, sealer, run="run_1")
    await sealed(store, sealer, run="run_2")
    made = await checkpoint(store)
    await sealed(store, sealer, run="run_2")
    assert await store.retention.remove(made, first=1, digest="sha256:d", event=an_event())
    assert await states(store) == [None]
    rows = tamper(store_url, "SELECT run_id FROM data_keys", keeps_triggers=True)
    assert rows == [("run_2",)]


async def test_it_is_known_whether_anything_was_ever_sealed(store: Store) -> None:
    assert await store.sealed.newest_key() is None
    event = await sealed(store)
    assert event.sealed is not None
    assert await store.sealed.newest_key() == event.sealed.wrapped


async def test_the_same_event_again_keeps_one_copy(store: Store, store_url: str) -> None:
    event = await sealed(store)
    store.events.append([event], durable=True)
    await store.events.kept()
    assert await states(store) == [None]
    assert tamper(store_url, "SELECT COUNT(*) FROM sealed_copies", keeps_triggers=True) == [(1,)]


async def test_a_change_that_keeps_no_events_keeps_no_copies(store: Store) -> None:
    event = a_sealer().sealed(a_decision(), ARGUMENTS)
    await store.events.carry(Change(lambda _: Made(None, keeps_events=False)), [event])
    assert await store.sealed.newest_key() is None
    await store.events.carry(Change(lambda _: Made(None)), [event])
    assert await states(store) == [None]


async def test_copies_count_as_what_waits(open_log: OpenLog) -> None:
    log = open_log(bounds=Bounds(bytes=100_000))
    event = a_sealer().sealed(a_decision(), {"note": "x" * 200_000})
    with pytest.raises(StoreUnavailable, match="too many events"):
        log.append([event])


async def test_a_hold_whose_row_somebody_took_away_stops_it_as_well(
    store: Store, store_url: str
) -> None:
    await sealed(store)
    hold = Hold(tenant="acme", run="", reason="suit", by="ada", at=NOW)
    told = upkeep.hold_set(
        id="h1", at=NOW, tenant="acme", run="", reason="suit", by="ada", account="root"
    )
    await store.retention.hold(hold, told)
    tamper(store_url, "DELETE FROM holds")
    found = await shred(store, Scope(tenant="acme"))
    assert (found.copies, found.held) == (0, hold)
    tamper(store_url, "DELETE FROM holds")
    assert [each async for each in store.sealed.expired(NOW + timedelta(days=9))] == []
