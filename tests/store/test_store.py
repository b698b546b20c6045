from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.store.engine import Transaction
from gateway.store.store import Store
from tests.helpers.databases import ORIGIN, Outage
from tests.helpers.events import an_event

OpenStore = Callable[..., Store]


async def test_what_one_process_wrote_another_one_reads(open_store: OpenStore) -> None:
    first = open_store()
    first.events.append([an_event(id="e1")])
    assert first.close() == 0
    second = open_store()
    assert await second.events.last_seq() == 1
    assert second.keys.fingerprint() == first.keys.fingerprint()


def test_a_store_that_is_away_can_not_be_opened(open_store: OpenStore, outage: Outage) -> None:
    open_store().close()
    outage.begin()
    try:
        with pytest.raises((StoreUnavailable, ConfigurationError)):
            open_store(create=False)
    finally:
        outage.end()
    open_store()


async def test_who_asks_waits_as_long_as_was_said(open_store: OpenStore) -> None:
    store, held = open_store(wait_s=0.05), Event()

    def slow(transaction: Transaction) -> None:
        del transaction
        held.wait(timeout=30)

    try:
        with pytest.raises(StoreUnavailable, match=r"gave no answer in 0\.05 s"):
            await store.events.read(slow)
    finally:
        held.set()


def test_another_secret_is_refused(open_store: OpenStore) -> None:
    open_store(secret="one").close()
    with pytest.raises(ConfigurationError):
        open_store(secret="two")


def test_reading_commands_make_no_store(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no store"):
        Store.open(f"sqlite:///{tmp_path}/none.db", origin=ORIGIN, create=False)
    assert not list(tmp_path.iterdir())
