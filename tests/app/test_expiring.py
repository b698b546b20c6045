"""Sealed copies that are old enough, on both engines."""

from datetime import timedelta

from gateway.app.expiring import Expiring
from gateway.clock import SystemClock
from gateway.store.retention import Hold
from gateway.store.store import Store
from gateway.store.unsealing import Unopened
from tests.helpers.cases import NOW
from tests.helpers.events import an_event
from tests.helpers.sealed import beside, sealed

DAY_S = 86_400.0
OLD = timedelta(days=100)


def expiring(store: Store) -> Expiring:
    return Expiring(sealed=store.sealed, keep_s=90 * DAY_S, clock=SystemClock())


async def test_what_is_old_enough_is_destroyed_tenant_by_tenant_and_told(store: Store) -> None:
    now = SystemClock().now()
    await sealed(store, at=now - OLD)
    await sealed(store, at=now)
    await sealed(store, at=now - OLD, tenant="initech", run="run_1")
    assert await expiring(store).once() == 2
    assert [each.why for each in await beside(store)] == [
        *(Unopened.SHREDDED, None, Unopened.SHREDDED),
    ]
    assert await expiring(store).once() == 0
    events = [each.json() async for each in store.events.tail()]
    told = [each for each in events if "log_shredded" in str(each["body"])]
    assert [each["tenant"] for each in told] == ["acme", "initech"]
    assert "events.sealing.keep" in str(told[0]["body"])


async def test_what_is_on_hold_stays_and_stops_nothing_else(store: Store) -> None:
    old = SystemClock().now() - OLD
    for run in ("run_1", "run_2"):
        await sealed(store, at=old, run=run)
    await sealed(store, at=old, tenant="initech")
    for tenant, run in (("", "run_1"), ("initech", "")):
        hold = Hold(tenant=tenant, run=run, reason="suit", by="ada", at=NOW)
        await store.retention.hold(hold, an_event())
    assert await expiring(store).once() == 1
    assert [each.why for each in await beside(store)] == [None, Unopened.SHREDDED, None]
