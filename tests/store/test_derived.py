from gateway import jsontext
from gateway.store import derived
from gateway.store.engine import Row
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.events import an_event
from tests.helpers.tampering import tamper

COLUMNS = (
    *("seq", "id", "at", "kind", "stage", "tenant", "run_id", "call_id", "tool", "actor_user"),
    *("decision", "rule", "status", "trace_id", "body"),
)


async def rows(store: Store, url: str) -> list[Row]:
    """Every row as it is; what verification reads leaves out those that SQLite has looked at."""
    await store.events.kept()
    found = tamper(url, f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY seq")
    return [Row(dict(zip(COLUMNS, each, strict=True))) for each in found]


async def test_what_is_stored_says_what_the_event_says(store: Store, store_url: str) -> None:
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
    found = await rows(store, store_url)
    assert len(found) == 4
    for row in found:
        event = derived.event_of(row.text("body").encode())
        assert event is not None
        assert derived.differing(row, event) == []


async def test_each_column_that_differs_is_named(store: Store, store_url: str) -> None:
    store.events.append([an_event()])
    (row,) = await rows(store, store_url)
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
