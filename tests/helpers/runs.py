"""Runs in a real store, for tests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gateway import ids
from gateway.events import runs as events
from gateway.runs.templates import Template
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.store.times import microseconds, moment
from gateway.types.events import Event
from gateway.types.runs import BindingKind, Bound, Collected, Mover, Phase, Place, Run, Trust
from gateway.types.tools import Effect
from gateway.types.values import replaced
from tests.helpers.cases import NOW, a_principal
from tests.helpers.held import House
from tests.helpers.shelves import a_belonging

START = microseconds(NOW)
TALK = Place(kind=BindingKind.CONVERSATION, value="vscode.conversationId=c1")


def a_run(**changes: Any) -> Run:
    """Return a run of Ana's that has just begun."""
    values: dict[str, Any] = {
        "run_id": ids.new("run"),
        "tenant": "acme",
        "owner": "0" * 32,
        "user": "ana",
        "created_at": START,
        "active_at": START,
    }
    return Run(**(values | changes))


def a_field(value: Any = "c-1", **changes: Any) -> Collected:
    """Return a field that a host has set."""
    values: dict[str, Any] = {"trust": Trust.HOST, "source": "host", "at": START}
    return Collected(value=value, **(values | changes))


def started(run: Run) -> Sequence[Event]:
    """Tell of the start of a run."""
    return [_event(None, run)]


def told(before: Run, after: Run) -> Sequence[Event]:
    """Tell of a change of a run."""
    return [_event(before, after)]


def _event(before: Run | None, after: Run) -> Event:
    at = moment(after.created_at)
    return events.event(before, after, by=Mover.HOST, id=ids.ulid(), at=at)


def in_runs(house: House, *templates: Template, **options: Any) -> House:
    """Return a house whose calls may belong to runs: `crm__put` writes, and `crm__drop` reads."""
    contracts = house.law.revision.contracts
    reading = replace(contracts["crm.drop"], effect=Effect.READ)
    house.law.revision = replace(
        house.law.revision,
        templates={each.name: each for each in templates},
        contracts={**contracts, "crm.drop": reading},
    )
    belonging = a_belonging(house.law, house.writes.store, **({"is_enabled": True} | options))
    house.writes.pipeline.resolve.belonging = belonging
    pipeline = replace(house.writes.pipeline, belonging=belonging)
    return replace(house, writes=replace(house.writes, pipeline=pipeline))


async def begun(store: Store, *places: Place, **changes: Any) -> Run:
    """Keep a new run of the usual principal."""
    run = a_run(owner=store.runs.owner(a_principal()), **changes)
    return await store.runs.start(run, places or (TALK,), started)


async def moved(store: Store, run: Run, phase: Phase, **changes: Any) -> Run:
    """Move a run; it has to be in the version that is given."""
    after = await store.runs.change(run, replaced(run, phase=phase, **changes), told)
    assert after is not None
    return after


async def found(store: Store, *places: Place, **principal: Any) -> list[Bound]:
    """Return what places lead to for a principal."""
    return [*await store.runs.bound(a_principal(**principal), places or (TALK,))]


async def tales(store: Store, run: Run) -> list[tuple[str, str]]:
    """Return stage and phase of the events of a run, in the order of the log."""
    kept = await store.events.query(EventFilter(run=run.run_id, kind="run"))
    return [(str(each.json()["stage"]), str(each.json()["phase"])) for each in kept]
