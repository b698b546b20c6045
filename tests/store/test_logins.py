import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.store import Store
from gateway.types.approvals import Approver, Assurance, Channel
from tests.helpers.databases import ORIGIN
from tests.store.test_limits import HandClock

OpenStore = Callable[..., Store]
ANN = Approver(
    tenant="acme",
    user="ann",
    roles=frozenset({"finance-lead", "büro"}),
    assurance=Assurance.AUTHENTICATED,
    channel=Channel.PAGE,
    issuer="https://login.example.com/",
)
IDLE_S, LASTS_S = 1800.0, 28_800.0


async def test_of_all_who_use_a_link_at_once_one_gets_in(open_store: OpenStore) -> None:
    here, there = open_store().logins, open_store().logins
    secret = await here.new_link(tenant="acme", user="ann", account="root", lasts_s=600)
    tries = [each.use_link(secret) for each in (here, there) for _ in range(10)]
    found = [each for each in await asyncio.gather(*tries) if each is not None]
    assert [(each.tenant, each.user, each.account) for each in found] == [("acme", "ann", "root")]
    assert await there.look_at_link(secret) is None


async def test_looking_at_a_link_does_not_use_it_up(open_store: OpenStore) -> None:
    logins = open_store().logins
    secret = await logins.new_link(tenant="acme", user="ann", account="ann", lasts_s=600)
    for _ in range(3):
        assert await logins.look_at_link(secret) is not None
    assert await logins.use_link(secret) is not None


async def test_what_was_not_made_under_the_key_of_the_store_costs_no_query(
    open_store: OpenStore,
) -> None:
    store = open_store()
    secret = await store.logins.new_link(tenant="acme", user="ann", account="ann", lasts_s=600)
    other = "A" if secret[0] == "B" else "B"
    store.close()
    for guess in ("", "wrong", secret[:-1], secret[:-16], other + secret[1:], "\ud800" * 20):
        assert await store.logins.look_at_link(guess) is None
        assert await store.logins.use_link(guess) is None
    with pytest.raises(StoreUnavailable):
        await store.logins.look_at_link(secret)


async def test_a_link_ends_by_itself_and_no_other_text_is_one(open_store: OpenStore) -> None:
    clock = HandClock()
    logins = open_store(clock=clock).logins
    secret = await logins.new_link(tenant="acme", user="ann", account="ann", lasts_s=600)
    for other in ("", secret[:-1], secret + "x", "x" * 5000, "\ud800"):
        assert await logins.look_at_link(other) is None
        assert await logins.use_link(other) is None
    clock.later(600)
    assert await logins.look_at_link(secret) is None
    assert await logins.use_link(secret) is None


async def test_a_login_is_known_again_as_it_was_and_by_every_gateway(open_store: OpenStore) -> None:
    secret = await open_store().logins.begin(ANN, lasts_s=LASTS_S)
    found = await open_store().logins.find(secret, idle_s=IDLE_S)
    assert found is not None
    assert found.person == ANN


async def test_a_login_ends_when_it_is_not_used(open_store: OpenStore) -> None:
    clock = HandClock()
    logins = open_store(clock=clock).logins
    secret = await logins.begin(ANN, lasts_s=LASTS_S)
    for _ in range(3):
        clock.later(IDLE_S - 1)
        assert await logins.find(secret, idle_s=IDLE_S) is not None
    clock.later(IDLE_S)
    assert await logins.find(secret, idle_s=IDLE_S) is None


async def test_a_login_ends_with_its_lifetime_however_much_it_is_used(
    open_store: OpenStore,
) -> None:
    clock = HandClock()
    logins = open_store(clock=clock).logins
    secret = await logins.begin(ANN, lasts_s=3000)
    clock.later(1500)
    assert await logins.find(secret, idle_s=IDLE_S) is not None
    clock.later(1500)
    assert await logins.find(secret, idle_s=IDLE_S) is None


async def test_a_login_that_was_ended_is_over(open_store: OpenStore) -> None:
    logins = open_store().logins
    secret = await logins.begin(ANN, lasts_s=LASTS_S)
    assert not await logins.end("x" * 5000)
    assert await logins.end(secret)
    assert not await logins.end(secret)
    assert await logins.find(secret, idle_s=IDLE_S) is None
    assert await logins.find("x" * 5000, idle_s=IDLE_S) is None


async def test_the_database_holds_nothing_that_lets_anybody_in(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)
    link = await store.logins.new_link(tenant="acme", user="ann", account="ann", lasts_s=600)
    session = await store.logins.begin(ANN, lasts_s=LASTS_S)
    store.close()
    connection = sqlite3.connect(tmp_path / "store.db")
    dumped = "\n".join(connection.iterdump())
    connection.close()
    assert "ann" in dumped
    assert link not in dumped
    assert session not in dumped
