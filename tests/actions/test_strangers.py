"""Names in a question that no event has."""

import pytest

from gateway.actions import strangers as module
from gateway.actions.strangers import strangers
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import EventKind
from tests.helpers.cases import an_actor
from tests.helpers.events import an_event


async def kept(store: Store, count: int = 1) -> None:
    store.events.append([an_event(body={"tool": "crm.find"}) for _ in range(count)])
    await store.events.kept()


async def said(store: Store, **names: tuple[str, ...]) -> list[str]:
    return [each.said for each in await strangers(store.events, Selection(**names))]  # pyright: ignore[reportArgumentType] - names of one test


async def test_names_that_events_have_are_none(store: Store) -> None:
    await kept(store)
    names = {"tenants": ("acme", ""), "actors": ("sam",), "tools": ("crm.find",)}
    assert await said(store, **names) == []
    assert await said(store) == []


async def test_each_that_none_has_is_told_with_what_is_near(store: Store) -> None:
    await kept(store)
    names = {"tenants": ("amce", "acme"), "actors": ("zoe",), "tools": ("crm.fnd",)}
    assert await said(store, **names) == [
        "no event in the store names the tenant `amce`; did you mean `acme`?",
        "no event in the store names the actor `zoe`",
        "no event in the store names the tool `crm.fnd`; did you mean `crm.find`?",
    ]


async def test_that_somebody_asked_for_a_name_does_not_make_it_one(store: Store) -> None:
    read = {"action": "log_read", "how": "query"}
    store.events.append([an_event(kind=EventKind.ADMIN, tenant="amce", body=read)])
    await kept(store)
    assert len(await said(store, tenants=("amce",))) == 1


async def test_what_is_known_otherwise_is_no_slip(store: Store) -> None:
    await kept(store)
    wanted = Selection(tools=("crm.wipe", "crm.wip"))
    (only,) = await strangers(store.events, wanted, {"tools": ["crm.wipe"]})
    assert (only.name, only.near) == ("crm.wip", "crm.wipe")


async def test_of_a_long_log_the_newest_are_looked_at_step_by_step(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_FIRST", 2), ("_WIDTH", 2), ("_MOST", 4)):
        monkeypatch.setattr(module, name, value)
    await kept(store, 3)
    store.events.append([an_event(actor=an_actor(user="ann")) for _ in range(3)])
    await store.events.kept()
    assert await said(store, actors=("ann", "sam")) == []
    (only,) = await said(store, actors=("san",))
    assert only == "none of the newest 4 events names the actor `san`; did you mean `sam`?"


async def test_an_empty_log_has_no_names(store: Store) -> None:
    assert await said(store, tenants=("acme",)) == [
        "no event in the store names the tenant `acme`",
    ]
