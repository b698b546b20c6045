"""Looking through the event log for what no column of it holds."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.search import each, search
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Hold ten events, of which every third is odd; one of those belongs to another tenant."""
    with closing(Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)) as store:
        store.events.append(
            [
                an_event(
                    body={"status": "ok" if number % 3 else "odd"},
                    tenant="globex" if number == 6 else "acme",
                )
                for number in range(1, 11)
            ]
        )
        yield store


def is_odd(event: JsonObject) -> bool:
    body = event["body"]
    return isinstance(body, dict) and body["status"] == "odd"


async def found(store: Store, page: int, **wanted: Any) -> list[int]:
    await store.events.kept()
    events = await search(store.events, EventFilter(**wanted), is_odd, page=page)
    return [event.seq for event in events]


@pytest.mark.parametrize("page", [1, 3, 4, 10, 100])
async def test_the_whole_log_is_looked_through_in_either_order(store: Store, page: int) -> None:
    assert await found(store, page) == [3, 6, 9]
    assert await found(store, page, newest_first=True) == [9, 6, 3]


@pytest.mark.parametrize("page", [1, 3, 100])
async def test_the_limit_and_the_other_conditions_hold(store: Store, page: int) -> None:
    assert await found(store, page, limit=2) == [3, 6]
    assert await found(store, page, limit=2, newest_first=True) == [9, 6]
    assert await found(store, page, tenant="acme") == [3, 9]
    assert await found(store, page, tenant="acme", newest_first=True) == [9, 3]
    assert await found(store, page, after=3, newest_first=True) == [9, 6]


async def test_all_events_of_a_query_are_read_page_by_page(store: Store) -> None:
    await store.events.kept()
    wanted = EventFilter(tenant="acme")
    found = [event.seq async for event in each(store.events, wanted, page=2)]
    assert found == [1, 2, 3, 4, 5, 7, 8, 9, 10]
