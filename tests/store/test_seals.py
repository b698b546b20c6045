"""Rows of sealed copies that say what the log doesn't: `verify` finds them, `shred` mends them."""

import pytest

from gateway.actions.verifying import verify
from gateway.events.faults import FaultKind
from gateway.events.trust import Trust
from gateway.store.sealed_copies import Scope
from gateway.store.store import Store
from gateway.store.unsealing import Unopened
from tests.helpers.sealed import a_sealer, beside, sealed, shred
from tests.helpers.tampering import SIGNER, tamper


async def faults(store: Store) -> list[str]:
    report = await verify(store.checkpoints, Trust((SIGNER.key,)), ())
    assert {each.kind for each in report.faults} <= {FaultKind.SEALED}
    return [each.what for each in report.faults]


async def states(store: Store) -> list[Unopened | None]:
    return [each.why for each in await beside(store)]


@pytest.mark.parametrize("scope", [Scope(run="run_1"), Scope(call="call_1"), Scope(tenant="acme")])
async def test_a_row_that_names_another_owner_goes_with_its_event(
    store: Store, store_url: str, scope: Scope
) -> None:
    await sealed(store, run="run_1", call="call_1")
    tamper(
        store_url,
        "UPDATE sealed_copies SET tenant = 'nobody', call_id = 'call_x', run_id = 'run_x', at = 1",
    )
    assert len(await faults(store)) == 1
    assert (await shred(store, scope)).copies == 1
    assert await states(store) == [Unopened.SHREDDED]
    assert await faults(store) == []


async def test_a_row_that_poses_as_another_tenants_is_not_shredded_with_that(
    store: Store, store_url: str
) -> None:
    await sealed(store, tenant="initech")
    tamper(store_url, "UPDATE sealed_copies SET tenant = 'acme'")
    await sealed(store)
    await shred(store, Scope(tenant="initech"))
    assert await states(store) == [Unopened.SHREDDED, None]


@pytest.mark.parametrize("table", ["sealed_copies", "data_keys"])
async def test_what_only_says_that_it_was_shredded_is_found_and_is(
    store: Store, store_url: str, table: str
) -> None:
    await sealed(store, call="call_1")
    tamper(store_url, f"UPDATE {table} SET shredded_at = 1796000000000000")
    assert await states(store) == [Unopened.BROKEN]
    assert "says that it was shredded, and is there" in (await faults(store))[0]
    found = await shred(store, Scope(call="call_1"))
    assert (found.copies, found.keys) == (1, 1)
    assert await states(store) == [Unopened.SHREDDED]
    assert await faults(store) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE sealed_copies SET content = '', shredded_at = 7, shred = 'x'", "no event does"),
        ("UPDATE sealed_copies SET content = 'AAAA'", "is another one"),
        ("UPDATE sealed_copies SET key_id = 'other'", "another `key_id`"),
        ("UPDATE data_keys SET wrapped = ''", "data key is gone"),
        ("DELETE FROM sealed_copies", "no event says that it was"),
        ("DELETE FROM data_keys", "data key is gone"),
        ("UPDATE sealed_copies SET event_id = 'x'", "which is no event"),
    ],
)
async def test_verify_names_what_is_not_as_the_event_says(
    store: Store, store_url: str, change: str, what: str
) -> None:
    await sealed(store)
    assert await faults(store) == []
    tamper(store_url, change)
    assert what in "; ".join(await faults(store))


async def test_a_copy_that_was_never_kept_since_its_key_was_destroyed_is_no_fault(
    store: Store,
) -> None:
    sealer = a_sealer()
    await sealed(store, sealer, run="run_1")
    await shred(store, Scope(run="run_1"))
    await sealed(store, sealer, run="run_1")
    assert await faults(store) == []
