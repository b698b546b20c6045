import logging
from collections.abc import Callable

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.changes import Change
from gateway.store.definitions import Definitions
from gateway.store.store import Store
from gateway.types.events import Event
from tests.helpers.cases import a_definition, a_tool
from tests.store.test_limits import HandClock

OpenStore = Callable[..., Store]


async def test_a_definition_is_kept_once_by_its_pin(open_store: OpenStore) -> None:
    store = open_store()
    first, other = a_tool(), a_tool(a_definition("put"))
    for tool in (first, other, first):
        store.definitions.keep(tool)
    await store.events.kept()
    assert await store.definitions.all() == {
        first.pin: first.definition,
        other.pin: other.definition,
    }


class Full:
    """A log that takes nothing."""

    async def carry(self, change: Change[None], events: object = (), *, owed: bool = False) -> None:
        raise NotImplementedError(change, events, owed)

    def promise(self, change: Change[None], events: tuple[Event, ...] = ()) -> None:
        raise StoreUnavailable("too much waits")


async def test_a_store_that_is_away_stops_no_call(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    definitions = Definitions(Full(), open_store()._worker, HandClock())  # pyright: ignore[reportArgumentType, reportPrivateUsage] - a log that fails, over a real worker
    with caplog.at_level(logging.WARNING):
        definitions.keep(a_tool())
    assert "was not kept: too much waits" in caplog.text
