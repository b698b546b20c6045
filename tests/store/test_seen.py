from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.store.engine import Engine
from gateway.store.seen import Sighting, Sought
from gateway.store.store import Store
from gateway.types.json import Json
from gateway.types.tools import Form, SourceTrust
from tests.helpers.databases import OpenStore

Connect = Callable[..., Engine]
CUSTOMER = Sighting(type="crm.customer_id", record="call_1/customers/0", tool="crm.find")


def seen_as(value: Json, **changes: Any) -> Sighting:
    return replace(CUSTOMER, value=value, **changes)


def asked(value: Json, *types: str, at_least: bool = False) -> dict[str, Sought]:
    return {"/v": Sought(value=value, types=frozenset(types), at_least=at_least)}


async def test_a_value_is_known_with_its_type_and_record(store: Store) -> None:
    await store.seen.remember("acme", "run_1", [seen_as("cus_1"), seen_as("cus_2")])
    found = await store.seen.find(
        "acme", "run_1", {"/id": Sought(value="cus_1"), "/other": Sought(value="cus_3")}
    )
    assert found == {"/id": (CUSTOMER,)}


async def test_what_another_gateway_returned_is_known_at_the_next_look(
    open_store: OpenStore,
) -> None:
    mine, other = open_store(), open_store()
    for number in range(4):
        wanted = f"cus_10{number}"
        assert await mine.seen.find("acme", "r", asked(wanted)) == {}
        await other.seen.remember("acme", "r", [seen_as(wanted)])
        assert await mine.seen.find("acme", "r", asked(wanted)) == {"/v": (CUSTOMER,)}
    after = await mine.seen.trace("acme", "r", asked("cus_104", CUSTOMER.type), {"/v"})
    assert after.near["/v"] in {f"cus_10{number}" for number in range(4)}


async def test_of_very_many_values_each_is_known_too(store: Store) -> None:
    await store.seen.remember("acme", "r", [seen_as(f"cus_{each}") for each in range(300)])
    wanted = {f"/ids/{each}": Sought(value=f"cus_{each}") for each in range(400)}
    assert len(await store.seen.find("acme", "r", wanted)) == 300


@pytest.mark.parametrize(("tenant", "scope"), [("globex", "run_1"), ("acme", "run_2")])
async def test_a_value_is_unknown_to_other_tenants_and_scopes(
    store: Store, tenant: str, scope: str
) -> None:
    await store.seen.remember("acme", "run_1", [seen_as("cus_1")])
    assert await store.seen.find(tenant, scope, asked("cus_1")) == {}


@pytest.mark.parametrize(
    ("returned", "wanted"),
    [("e\u0301", "é"), (1, 1.0), (Decimal("1.50"), 1.5), (2**70, 2**70), (1e3, 1000)],
)
async def test_values_that_are_equal_are_known_in_every_spelling(
    store: Store, returned: Json, wanted: Json
) -> None:
    await store.seen.remember("acme", "s", [seen_as(returned)])
    assert await store.seen.find("acme", "s", asked(wanted))


@pytest.mark.parametrize(("returned", "wanted"), [("1", 1), ("A", "a"), (1.5, 1.6), ("a ", "a")])
async def test_values_that_are_only_alike_are_not(
    store: Store, returned: Json, wanted: Json
) -> None:
    await store.seen.remember("acme", "s", [seen_as(returned)])
    assert await store.seen.find("acme", "s", asked(wanted)) == {}


@pytest.mark.parametrize("value", [None, True, "", [], {}, float("inf")])
async def test_what_identifies_nothing_is_not_remembered(store: Store, value: Json) -> None:
    await store.seen.remember("acme", "s", [seen_as(value)])
    assert await store.seen.find("acme", "s", asked(value)) == {}


async def test_values_are_forgotten_when_their_time_is_over(store: Store) -> None:
    await store.seen.remember("acme", "s", [seen_as("old")], lasts=timedelta(0))
    assert await store.seen.find("acme", "s", asked("old")) == {}
    await store.seen.remember("acme", "s", [seen_as("old"), seen_as("old")])
    assert await store.seen.find("acme", "s", asked("old"))


@pytest.mark.parametrize(
    ("form", "returned", "wanted", "found"),
    [
        (Form.ID, "A", "a", False),
        (Form.TEXT, "A", "a", True),
        (Form.NUMBER, "12.50", 12.5, True),
        (Form.ID, "12.50", 12.5, False),
        (Form.DATE, "2026-11-30T10:00:00Z", "2026-11-30", True),
        (Form.ID, "2026-11-30T10:00:00Z", "2026-11-30", False),
    ],
)
async def test_what_is_the_same_depends_on_the_form_it_was_returned_in(
    store: Store, form: Form, returned: Json, wanted: Json, found: bool
) -> None:
    await store.seen.remember("acme", "s", [seen_as(returned, form=form)])
    assert bool(await store.seen.find("acme", "s", asked(wanted))) is found


async def test_only_the_types_that_are_asked_for_are_found(store: Store) -> None:
    await store.seen.remember("acme", "s", [seen_as("x"), seen_as("x", type="b", record="r2")])
    found = await store.seen.find("acme", "s", asked("x", "b"))
    assert [(each.type, each.record) for each in found["/v"]] == [("b", "r2")]
    assert len((await store.seen.find("acme", "s", asked("x")))["/v"]) == 2


@pytest.mark.parametrize(("wanted", "known"), [(99.5, True), (100, True), (100.01, False)])
async def test_a_number_is_known_by_a_larger_one_where_that_is_asked(
    store: Store, wanted: Json, known: bool
) -> None:
    await store.seen.remember("acme", "s", [seen_as("100.00", form=Form.NUMBER)])
    found = await store.seen.find("acme", "s", asked(wanted, at_least=True))
    assert bool(found) is known
    assert any(each.is_exact for each in found.get("/v", ())) is (wanted == 100)
    assert bool(await store.seen.find("acme", "s", asked(wanted))) is (wanted == 100)


async def test_who_could_write_a_value_is_kept_with_it(store: Store) -> None:
    await store.seen.remember("acme", "s", [seen_as("x", trust=SourceTrust.EXTERNAL)])
    (found,) = (await store.seen.find("acme", "s", asked("x")))["/v"]
    assert found.trust is SourceTrust.EXTERNAL


async def test_the_likeliest_id_that_is_near_a_value_and_was_seen_is_found(store: Store) -> None:
    seen = [seen_as("c-1010"), seen_as("c-1011"), seen_as("c-0110", type="other"), seen_as(7)]
    await store.seen.remember("acme", "s", seen)

    async def near(scope: str, value: Json, *types: str) -> object:
        found = await store.seen.trace("acme", scope, asked(value, *types), {"/v"})
        assert not found.sightings
        return found.near.get("/v")

    assert await near("s", "c-1001", CUSTOMER.type) == "c-1010"  # two swapped, not a wrong one
    assert await near("s", "c-1001", "other") is None
    assert await near("s", "c-0101", CUSTOMER.type, "other") == "c-0110"
    assert await near("s", "7", CUSTOMER.type) == 7
    assert await near("other", "c-1001", CUSTOMER.type) is None
    assert await near("s", "c-1001") is None  # of no type: asked for its record alone


async def test_near_a_value_that_was_seen_nothing_is_looked_for(store: Store) -> None:
    await store.seen.remember("acme", "s", [seen_as("c-1001"), seen_as("c-1010")])
    found = await store.seen.trace("acme", "s", asked("c-1001", CUSTOMER.type), {"/v"})
    assert (found.sightings, found.near) == ({"/v": (CUSTOMER,)}, {})


async def test_a_taint_is_of_one_scope_and_no_value(store: Store) -> None:
    await store.seen.taint("acme", "s")
    assert await store.seen.is_tainted("acme", "s")
    assert not await store.seen.is_tainted("acme", "other")
    assert not await store.seen.is_tainted("globex", "s")


async def test_no_value_is_kept_itself(store: Store, connect: Connect) -> None:
    await store.seen.remember("acme", "s", [seen_as("cus_8123")])
    with connect().transaction() as transaction:
        transaction.script("CREATE TABLE copied AS SELECT * FROM seen_values;")
        transaction.script("INSERT INTO meta SELECT 'copied', vhash FROM copied;")
        (row,) = transaction.fetch("get_fact", {"name": "copied"})
    assert len(row.text("value")) == 32
    assert "8123" not in row.text("value")
