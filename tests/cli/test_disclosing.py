"""A command that tells of the log is in the log, with the user of the machine."""

from gateway.cli import disclosing
from gateway.cli.people import who
from gateway.store.events import EventFilter
from gateway.store.store import Store


async def test_the_user_of_the_machine_is_named(store: Store) -> None:
    id = await disclosing.told(store, "query", {"tenant": ["acme"]}, tenant="acme", events=2)
    (event,) = await store.events.query(EventFilter(tenant="acme"))
    body = event.json()["body"]
    assert event.json()["id"] == id
    assert body == {
        **{"action": "log_read", "how": "query", "by": "", "account": who("").account},
        **{"asked": {"tenant": ["acme"]}, "events": 2},
    }
