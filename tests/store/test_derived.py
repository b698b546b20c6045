from gateway import jsontext
from gateway.store import derived
from gateway.store.engine import Row
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.databases import Connect
from tests.helpers.events import an_event


async def rows(store: Store, connect: Connect) -> list[Row]:
    await store.events.kept()
    with connect().reading() as reading:
        return reading.fetch("rows_after", {"after": 0, "last": 100})


async def test_what_is_stored_says_what_the_event_says(store: Store, connect: Connect) -> None:
    """Whatever its texts are: too long for a column, with NUL, with half a pair."""
    odd = "a\0b\ud800c" * 100
    store.events.append(
        [
            an_event(),
            an_event(tenant=odd, call=odd, run="run_1", trace_id="f" * 32, actor=None),
            an_event(body={"tool": odd, "rule": odd, "decision": "deny", "status": 7}),
            an_event(body={"tool": "crm.find", "blob": "x" * 300_000, "status": "ok"}),
        ]
    )
    for row in await rows(store, connect):
        event = derived.event_of(row.text("body").encode())
        assert event is not None
        assert derived.differing(row, event) == []


async def test_each_column_that_differs_is_named(store: Store, connect: Connect) -> None:
    store.events.append([an_event()])
    (row,) = await rows(store, connect)
    other: JsonObject = {
        "id": "x",
        "ts": "yesterday",
        "body": {"tool": "crm.wipe"},
        "actor": {"user": 7},
    }
    assert derived.differing(row, other) == [
        *("id", "kind", "stage", "tenant", "call_id"),
        *("tool", "status", "actor_user", "at"),
    ]


def test_only_an_object_is_an_event() -> None:
    assert derived.event_of(jsontext.dump({"a": 1})) == {"a": 1}
    assert derived.event_of(b"[]") is None
    assert derived.event_of(b"{") is None
