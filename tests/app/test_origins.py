"""Where a call stands in its trace."""

from collections.abc import Sequence

from gateway.app.origins import Origins
from gateway.errors import StoreUnavailable
from gateway.store.events import EventFilter, StoredEvent
from gateway.store.store import Store
from gateway.telemetry.context import parse
from tests.helpers.events import an_event

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


async def test_a_call_is_found_by_its_own_span(store: Store) -> None:
    store.events.append([an_event(call="call_1", trace_id=TRACE, span_id=SPAN)])
    await store.events.kept()
    origins = Origins(query=store.events.query, is_traced=lambda: True)
    found = parse(await origins.of("call_1"))
    assert found is not None
    assert (found.trace_id, found.span_id) == (TRACE, SPAN)
    assert await origins.of("call_2") == ""


async def test_a_call_without_a_trace_has_no_place_in_one(store: Store) -> None:
    store.events.append([an_event(call="call_1", trace_id="", span_id="")])
    await store.events.kept()
    origins = Origins(query=store.events.query, is_traced=lambda: True)
    assert await origins.of("call_1") == ""


async def test_nothing_is_read_that_nobody_needs() -> None:
    async def query(wanted: EventFilter) -> Sequence[StoredEvent]:
        raise AssertionError(wanted)

    assert await Origins(query=query, is_traced=lambda: False).of("call_1") == ""


async def test_a_store_that_is_away_costs_the_link_and_nothing_else() -> None:
    async def query(wanted: EventFilter) -> Sequence[StoredEvent]:
        raise StoreUnavailable(f"gone: {wanted.call}")

    assert await Origins(query=query, is_traced=lambda: True).of("call_1") == ""
