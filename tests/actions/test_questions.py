"""Questions to the log: what is wanted is found, in pages, whichever engine keeps it."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.actions import questions
from gateway.actions.questions import Page
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from tests.helpers.cases import NOW, an_actor
from tests.helpers.events import an_event


async def kept(store: Store, *changes: dict[str, Any]) -> None:
    """Keep events, each of a call of its own: `call_1` and so on."""
    events = [
        an_event(**({"call": f"call_{number}"} | each)) for number, each in enumerate(changes, 1)
    ]
    store.events.append(events)
    await store.events.kept()


async def found(store: Store, wanted: Selection, **how: Any) -> list[str]:
    return [str(one.json()["call"]) async for one in questions.each(store.events, wanted, **how)]


def calls(page: Page) -> list[str]:
    return [str(each.json()["call"]) for each in page.events]


ODD: list[tuple[str, Any, dict[str, Any]]] = [
    ("tenants", ("globex", "initech"), {"tenant": "globex"}),
    ("tenants", ("",), {"tenant": ""}),
    ("runs", ("run_1", "run_2"), {"run": "run_2"}),
    ("actors", ("ann", "bob"), {"actor": an_actor(user="ann")}),
    ("tools", ("crm.wipe",), {"body": {"tool": "crm.wipe"}}),
    ("decisions", ("deny", "allow"), {"body": {"decision": "deny"}}),
    ("decisions", ("deny", "require_approval"), {"body": {"decision": "deny"}}),
    ("statuses", ("denied", "timeout"), {"body": {"status": "denied"}}),
    ("kinds", ("admin", "run"), {"kind": EventKind.ADMIN}),
    ("kinds", ("admin", "approval"), {"kind": EventKind.APPROVAL}),
    ("stages", ("started", "decided"), {"stage": Stage.STARTED}),
    ("rules", ("never", "no"), {"body": {"rule": "no"}}),
    ("traces", ("ab" * 16,), {"trace_id": "ab" * 16}),
    ("methods", ("resources/read", "ping"), {"body": {"method": "resources/read"}}),
    ("methods", ("elicit",), {"body": {"method": "tools/call", "question": "elicit"}}),
    ("actions", ("log_read",), {"body": {"action": "log_read"}}),
    ("approvals", ("apr_1", "apr_2"), {"body": {"approval": "apr_2"}}),
    ("revisions", ("sha256:a%",), {"body": {"revision": "sha256:a%"}}),
    ("since", NOW + timedelta(hours=1), {"at": NOW + timedelta(hours=1)}),
]


@pytest.mark.parametrize(("field", "values", "odd"), ODD, ids=lambda value: str(value)[:40])
async def test_each_field_finds_what_any_of_its_values_names_and_nothing_else(
    store: Store, field: str, values: Any, odd: dict[str, Any]
) -> None:
    await kept(store, {}, odd, {})
    assert await found(store, Selection(**{field: values})) == ["call_2"]


async def test_all_fields_have_to_fit(store: Store) -> None:
    await kept(store, {"tenant": "globex"}, {"run": "run_1"}, {"tenant": "globex", "run": "run_1"})
    assert await found(store, Selection(tenants=("globex",), runs=("run_1",))) == ["call_3"]


async def test_what_only_stands_in_arguments_is_not_taken_for_what_the_event_says(
    store: Store,
) -> None:
    body = {"method": "ping", "arguments": {"method": "tools/call", "approval": "apr_1"}}
    await kept(store, {"body": body}, {"body": {"method": "tools/call"}})
    assert await found(store, Selection(methods=("tools/call",))) == ["call_2"]
    assert await found(store, Selection(approvals=("apr_1",))) == []


@pytest.mark.parametrize("value", ["%", "cr_.find", "crm.find' OR ''='", "\\", "\0", "é\n", "!"])
async def test_a_value_is_only_ever_compared(store: Store, value: str) -> None:
    body = {"tool": value, "method": value}
    await kept(store, {}, {"body": body}, {})
    assert await found(store, Selection(tools=(value,))) == ["call_2"]
    assert await found(store, Selection(methods=(value,))) == ["call_2"]


async def test_a_time_has_its_beginning_and_not_its_end_whatever_the_order_of_the_log(
    store: Store,
) -> None:
    hours = (3, 1, 2, 0)  # clocks of gateways differ
    await kept(store, *({"at": NOW + timedelta(hours=hour)} for hour in hours))
    wanted = Selection(since=NOW + timedelta(hours=1), until=NOW + timedelta(hours=3))
    assert await found(store, wanted) == ["call_2", "call_3"]
    assert await found(store, wanted, newest_first=True) == ["call_3", "call_2"]
    assert await found(store, Selection(since=NOW + timedelta(hours=9))) == []


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("wanted", [Selection(), Selection(methods=("ping",))])
async def test_pages_go_on_from_each_other_and_end(
    store: Store, wanted: Selection, newest_first: bool
) -> None:
    await kept(store, *({"body": {"method": "ping"}} for _ in range(5)))
    cursor, pages = None, list[list[str]]()
    while True:
        page = await questions.page(
            store.events, wanted, limit=2, newest_first=newest_first, cursor=cursor
        )
        pages.append(calls(page))
        if page.cursor is None:
            break
        cursor = page.cursor
    expected = [["call_1", "call_2"], ["call_3", "call_4"], ["call_5"]]
    backwards = [["call_5", "call_4"], ["call_3", "call_2"], ["call_1"]]
    assert pages == (backwards if newest_first else expected)


async def test_a_page_that_is_full_is_the_last_one_where_nothing_is_left(store: Store) -> None:
    await kept(store, {}, {})
    page = await questions.page(store.events, Selection(), limit=2)
    assert (calls(page), page.cursor) == (["call_1", "call_2"], None)
    assert (await questions.page(store.events, Selection(), limit=9, cursor=2)).events == ()


async def test_a_bounded_page_says_how_far_it_looked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_WIDTH", 2)
    await kept(store, *({"tenant": "globex" if number == 5 else "acme"} for number in range(6)))
    wanted = Selection(tenants=("globex",))
    first = await questions.page(store.events, wanted, reads=2)
    assert (first.events, first.cursor) == ((), 4)
    second = await questions.page(store.events, wanted, reads=2, cursor=first.cursor)
    assert (calls(second), second.cursor) == (["call_6"], None)
    newest = await questions.page(store.events, wanted, reads=1, newest_first=True)
    assert (calls(newest), newest.cursor) == (["call_6"], 5)


@pytest.mark.parametrize("newest_first", [False, True])
async def test_windows_leave_nothing_out(
    store: Store, monkeypatch: pytest.MonkeyPatch, newest_first: bool
) -> None:
    monkeypatch.setattr(questions, "_WIDTH", 3)
    await kept(store, *({"tenant": "globex" if number % 3 else "acme"} for number in range(20)))
    wanted = Selection(tenants=("globex",))
    names = await found(store, wanted, size=4, newest_first=newest_first)
    expected = [f"call_{number + 1}" for number in range(20) if number % 3]
    assert names == (expected[::-1] if newest_first else expected)


async def test_what_comes_while_it_is_read_is_not_part_of_the_answer(store: Store) -> None:
    await kept(store, {}, {})
    names = list[str]()
    async for event in questions.each(store.events, Selection(), size=1):
        names.append(str(event.json()["call"]))
        await kept(store, {"call": "later"})
    assert names == ["call_1", "call_2"]
    as_of = questions.until(Selection(last=9), 1)
    assert await found(store, as_of) == ["call_1"]
    assert questions.until(Selection(last=1), 9) == Selection(last=1)
