from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from gateway.store.engine import Engine
from gateway.store.seen import Sighting
from gateway.store.store import Store
from gateway.types.json import Json

Connect = Callable[..., Engine]
CUSTOMER = Sighting(type="crm.customer_id", record="call_1/customers/0", tool="crm.find")


def seen_as(value: Json) -> Sighting:
    return Sighting(type=CUSTOMER.type, record=CUSTOMER.record, tool=CUSTOMER.tool, value=value)


async def test_a_value_is_known_with_its_type_and_record(store: Store) -> None:
    await store.seen.remember("acme", "run_1", [seen_as("cus_1"), seen_as("cus_2")])
    found = await store.seen.find("acme", "run_1", {"/id": "cus_1", "/other": "cus_3"})
    assert found == {"/id": (CUSTOMER,)}


@pytest.mark.parametrize(("tenant", "scope"), [("globex", "run_1"), ("acme", "run_2")])
async def test_a_value_is_unknown_to_other_tenants_and_scopes(
    store: Store, tenant: str, scope: str
) -> None:
    await store.seen.remember("acme", "run_1", [seen_as("cus_1")])
    assert await store.seen.find(tenant, scope, {"/id": "cus_1"}) == {}


@pytest.mark.parametrize(
    ("returned", "asked"),
    [("e\u0301", "é"), (1, 1.0), (Decimal("1.50"), 1.5), (2**70, 2**70), (1e3, 1000)],
)
async def test_values_that_are_equal_are_known_in_every_spelling(
    store: Store, returned: Json, asked: Json
) -> None:
    await store.seen.remember("acme", "s", [seen_as(returned)])
    assert await store.seen.find("acme", "s", {"/v": asked})


@pytest.mark.parametrize(("returned", "asked"), [("1", 1), ("A", "a"), (1.5, 1.6), ("a ", "a")])
async def test_values_that_are_only_alike_are_not(
    store: Store, returned: Json, asked: Json
) -> None:
    await store.seen.remember("acme", "s", [seen_as(returned)])
    assert await store.seen.find("acme", "s", {"/v": asked}) == {}


@pytest.mark.parametrize("value", [None, True, "", [], {}, float("inf")])
async def test_what_identifies_nothing_is_not_remembered(store: Store, value: Json) -> None:
    await store.seen.remember("acme", "s", [seen_as(value)])
    assert await store.seen.find("acme", "s", {"/v": value}) == {}


async def test_values_are_forgotten_when_their_time_is_over(store: Store) -> None:
    await store.seen.remember("acme", "s", [seen_as("old")], lasts=timedelta(0))
    assert await store.seen.find("acme", "s", {"/v": "old"}) == {}
    await store.seen.remember("acme", "s", [seen_as("old"), seen_as("old")])
    assert await store.seen.find("acme", "s", {"/v": "old"})


async def test_no_value_is_kept_itself(store: Store, connect: Connect) -> None:
    await store.seen.remember("acme", "s", [seen_as("cus_8123")])
    with connect().transaction() as transaction:
        transaction.script("CREATE TABLE copied AS SELECT * FROM seen_values;")
        transaction.script("INSERT INTO meta SELECT 'copied', vhash FROM copied;")
        (row,) = transaction.fetch("get_fact", {"name": "copied"})
    assert len(row.text("value")) == 32
    assert "8123" not in row.text("value")
