"""Nobody reads the log without a trace of it in the log."""

import pytest

from gateway.actions.disclosure import Reader, disclosed
from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.store.events import EventFilter
from gateway.store.store import Store
from tests.helpers.databases import Outage


async def test_who_asked_for_what_is_kept_before_anything_is_told(store: Store) -> None:
    id = await disclosed(
        store.events,
        SystemClock(),
        Reader(account="root", by="ann"),
        how="query",
        tenant="acme",
        asked={"tenant": ["acme"], "since": "24h", "run": [], "status": "", "newest": False},
        events=3,
    )
    (event,) = await store.events.query(EventFilter(kind="admin"))
    told = event.json()
    assert (told["id"], told["tenant"]) == (id, "acme")
    assert told["body"] == {
        **{"action": "log_read", "how": "query", "by": "ann", "account": "root"},
        **{"asked": {"tenant": ["acme"], "since": "24h"}, "events": 3},
    }


async def test_a_question_for_everything_says_nothing_of_what_was_asked(store: Store) -> None:
    await disclosed(store.events, SystemClock(), Reader(account="root"), how="tail")
    (event,) = await store.events.query(EventFilter())
    body = {"action": "log_read", "how": "tail", "by": "", "account": "root"}
    assert (event.json()["tenant"], event.json()["body"]) == ("", body)


async def test_what_cant_be_kept_refuses_the_reading(store: Store, outage: Outage) -> None:
    outage.begin()
    with pytest.raises(StoreUnavailable, match="nothing is told, since who reads the log has to"):
        await disclosed(store.events, SystemClock(), Reader(account="root"), how="query")
