"""Which run a call belongs to, through the whole pipeline and over a real store."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import StoreUnavailable
from gateway.runs.binding import KEY
from gateway.runs.templates import Guard, Template
from gateway.store.runs import RunFilter
from gateway.store.store import Store
from gateway.types.causes import Cause
from gateway.types.outcomes import Finished, Status
from gateway.types.runs import BindingKind, Phase, Place, Run
from gateway.types.values import replaced
from tests.helpers.cases import ALLOW_ALL, NOW, a_principal
from tests.helpers.databases import OpenStore, Outage
from tests.helpers.held import House, a_house
from tests.helpers.runs import a_run, begun, in_runs, moved, started, tales, told
from tests.helpers.writes import outcome_of

TALKING = {"vscode.conversationId": "c1"}
REFUND = Template(
    name="refund",
    enter_when={
        Phase.ACTING: (Guard(text="evidence >= 1", holds=lambda run: run.evidence >= 1),),
        Phase.RETRIEVING: (Guard(text="open_ops == 0", holds=lambda run: run.open_ops == 0),),
    },
)


def a_place(store: Store, *templates: Template, **options: Any) -> House:
    return in_runs(a_house(store, policy=ALLOW_ALL), *templates, **options)


async def reads(house: House, **changes: Any) -> Finished:
    return await house.writes.call({"v": 1}, "crm__drop", **changes)


async def now_of(store: Store, run: Run) -> Run:
    found = await store.runs.get(run.run_id)
    assert found is not None
    return found


def run_of(finished: Finished) -> str:
    return str(outcome_of(finished).get("run_id", ""))


def told_of(finished: Finished) -> tuple[Status, str]:
    return finished.status, str(outcome_of(finished).get("code", ""))


async def test_without_runs_nobody_asks_for_any(store: Store) -> None:
    house = in_runs(a_house(store, policy=ALLOW_ALL), is_enabled=None)
    run = await moved(store, await begun(store), Phase.COMPLETED)
    for meta in ({KEY: run.run_id}, {KEY: "no run"}, TALKING):
        done = await house.call(meta=meta)
        assert (done.status, run_of(done)) == (Status.OK, "")


async def test_runs_are_looked_for_as_soon_as_there_are_templates(store: Store) -> None:
    house = in_runs(a_house(store, policy=ALLOW_ALL), REFUND, is_enabled=None)
    run = await begun(store)
    assert run_of(await reads(house, meta={KEY: run.run_id})) == run.run_id


@pytest.mark.parametrize("how", ["meta", "header", "conversation"])
async def test_a_call_is_made_in_the_run_that_it_names(store: Store, how: str) -> None:
    house, run = a_place(store), await begun(store)
    named: dict[str, dict[str, Any]] = {
        "meta": {"meta": {KEY: {"id": run.run_id}}},
        "header": {"run_header": run.run_id},
        "conversation": {"meta": TALKING},
    }
    read = await reads(house, **named[how])
    assert (read.status, run_of(read)) == (Status.OK, run.run_id)
    assert (await now_of(store, run)).phase is Phase.RETRIEVING
    assert await tales(store, run) == [("started", "created"), ("moved", "retrieving")]


async def test_a_call_that_leads_to_no_run_has_none(store: Store) -> None:
    house = a_place(store)
    done = await house.call(meta=TALKING)
    assert (done.status, run_of(done)) == (Status.OK, "")
    assert await store.runs.find(RunFilter()) == []


@pytest.mark.parametrize("other", [{"tenant": "globex"}, {"user": "max"}, {"client": "cli"}])
async def test_somebody_elses_run_and_one_that_is_not_there_look_the_same(
    store: Store, other: dict[str, str]
) -> None:
    """Failure case 22: a foreign run id."""
    house, run = a_place(store), await begun(store)
    stranger = a_principal(**other)
    foreign = await house.call(meta={KEY: run.run_id}, principal=stranger)
    missing_id = run.run_id[:-1] + ("0" if run.run_id[-1] != "0" else "1")
    missing = await house.call(meta={KEY: missing_id}, principal=stranger)
    for each in (foreign, missing):
        assert told_of(each) == (Status.INVALID_ARGUMENTS, "unknown_run")
    reasons = [outcome_of(each)["reason"] for each in (foreign, missing)]
    assert reasons[0].replace(run.run_id, "") == reasons[1].replace(missing_id, "")
    assert house.server.count == 0


async def test_two_sources_that_name_different_runs_are_an_error(store: Store) -> None:
    """Failure case 22: two sources name different runs."""
    house, one, other = a_place(store), await begun(store), await begun(store)
    met = await house.call(meta={KEY: one.run_id}, run_header=other.run_id)
    assert told_of(met) == (Status.RUN_CONFLICT, "run_conflict")
    assert house.server.count == 0
    both = await reads(house, meta={KEY: one.run_id}, run_header=one.run_id)
    assert both.status is Status.OK


async def test_what_is_no_name_of_a_run_is_refused(store: Store) -> None:
    met = await a_place(store).call(meta={KEY: "the refund"})
    assert told_of(met) == (Status.INVALID_ARGUMENTS, "unknown_run")


async def test_a_conversation_goes_on_without_its_run_once_that_is_completed(store: Store) -> None:
    """Failure case 22: a conversation's id is used again after its run has ended."""
    house, run = a_place(store), await begun(store)
    await moved(store, run, Phase.COMPLETED)
    assert run_of(await house.call(meta=TALKING)) == ""
    named = await house.call(meta={KEY: run.run_id})
    assert told_of(named) == (Status.PHASE_BLOCKED, "phase_blocked")


@pytest.mark.parametrize("phase", [Phase.HANDOFF, Phase.FAILED])
async def test_a_run_that_was_given_up_still_holds_its_conversation(
    store: Store, phase: Phase
) -> None:
    house, run = a_place(store), await begun(store)
    await moved(store, run, phase)
    assert told_of(await house.call(meta=TALKING)) == (Status.PHASE_BLOCKED, "phase_blocked")
    assert house.server.count == 0


async def test_a_call_that_can_have_no_run_of_its_own_is_not_made_without_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.runs.MOST_OPEN", 2)
    house = a_place(store, begins=True)
    done = [await reads(house, meta={"threadId": f"t{nr}"}) for nr in range(3)]
    assert [each.status for each in done[:2]] == [Status.OK, Status.OK]
    assert told_of(done[2]) == (Status.LIMIT_EXCEEDED, "run_too_many")
    assert house.server.count == 2
    [_, first] = await store.runs.find(RunFilter())
    await moved(store, first, Phase.COMPLETED, finished_at=1)
    assert (await reads(house, meta={"threadId": "t2"})).status is Status.OK


async def test_where_they_begin_by_themselves_calls_at_once_get_the_same_run(store: Store) -> None:
    house = a_place(store, begins=True, idle_s=60.0)
    done = await asyncio.gather(*(reads(house, meta=TALKING) for _ in range(5)))
    assert len({run_of(each) for each in done}) == 1
    other = await house.call(meta={"threadId": "t"})
    assert (other.status, run_of(other) in {run_of(each) for each in done}) == (Status.OK, False)
    [newest, _] = await store.runs.find(RunFilter())
    assert (newest.run_id, newest.phase, newest.idle_s) == (run_of(other), Phase.ACTING, 60.0)


async def test_a_pause_and_a_phase_of_another_gateway_bind_the_very_next_call(
    open_store: OpenStore,
) -> None:
    """Reads and writes, on two gateways of one store, each turn after calls that went through."""
    mine, other = open_store(), open_store()
    house = a_place(mine, reads_while_paused=False)
    run = await begun(mine)
    here: dict[str, Any] = {"meta": {KEY: run.run_id}}
    for _ in range(3):
        assert (await reads(house, **here)).status is Status.OK
        run = await now_of(other, run)
        paused = await other.runs.change(run, replaced(run, is_paused=True), told)
        assert paused is not None
        assert (await reads(house, **here)).status is Status.PHASE_BLOCKED
        resumed = await other.runs.change(paused, replaced(paused, is_paused=False), told)
        assert resumed is not None
        assert (await reads(house, **here)).status is Status.OK
        assert (await house.call(**here)).status is Status.OK
        ended = await moved(other, await now_of(other, run), Phase.FINALIZING)
        assert (await house.call(**here)).status is Status.PHASE_BLOCKED
        await moved(other, ended, Phase.RETRIEVING)


async def test_a_completed_run_is_followed_by_a_new_one(store: Store) -> None:
    house = a_place(store, begins=True)
    first = run_of(await reads(house, meta=TALKING))
    before = await store.runs.get(first)
    assert before is not None
    await moved(store, before, Phase.COMPLETED)
    assert run_of(await reads(house, meta=TALKING)) not in ("", first)


async def test_a_host_with_the_scope_moves_a_run_with_a_call(store: Store) -> None:
    house, run = a_place(store, REFUND), await begun(store, template="refund")
    meta: Any = {KEY: {"id": run.run_id, "phase": "acting"}}
    met = await house.call(meta=meta)
    assert told_of(met) == (Status.FORBIDDEN, "run_phase")
    assert met.scopes == ("run:phase",)
    host = a_principal(scopes=frozenset({"crm:read", "run:phase"}))
    done = await house.call(meta=meta, principal=host)
    assert (done.status, run_of(done)) == (Status.OK, run.run_id)
    assert await tales(store, run) == [("started", "created"), ("moved", "acting")]
    back: Any = {KEY: {"id": run.run_id, "phase": "completed"}}
    assert (await house.call(meta=back, principal=host)).status is Status.PHASE_BLOCKED
    odd: Any = {KEY: {"id": run.run_id, "phase": "doing"}}
    assert told_of(await house.call(meta=odd, principal=host))[1] == "unknown_run"


async def test_what_is_missing_for_a_phase_is_told(store: Store) -> None:
    house, run = a_place(store, REFUND), await begun(store, template="refund")
    assert (await reads(house, meta={KEY: run.run_id})).status is Status.OK
    met = await house.call(meta={KEY: run.run_id})
    assert told_of(met) == (Status.PHASE_BLOCKED, "phase_blocked")
    assert outcome_of(met)["details"] == [{"missing": "evidence >= 1"}]
    assert house.server.count == 1


async def test_a_sub_agent_may_do_what_its_run_and_its_credential_both_allow(store: Store) -> None:
    house = a_place(store)
    contracts = house.law.revision.contracts
    scoped = replace(contracts["crm.put"], scopes=frozenset({"crm:write"}))
    house.law.revision = replace(house.law.revision, contracts={**contracts, "crm.put": scoped})
    able = a_principal(scopes=frozenset({"crm:read", "crm:write"}))
    owner = store.runs.owner(able)
    parent = await store.runs.start(
        a_run(owner=owner, phase=Phase.ACTING, scopes=frozenset({"crm:read"})), [], started
    )
    child = await store.runs.start(
        replaced(parent, run_id="run_" + "0" * 26, parent=parent.run_id), [], started
    )
    done = await house.call(meta={KEY: parent.run_id}, principal=able)
    assert done.status is Status.OK
    met = await house.call(meta={KEY: child.run_id}, principal=able)
    assert met.status is Status.FORBIDDEN


async def test_calls_of_the_gateways_own_are_made_in_the_run_of_their_operation(
    store: Store,
) -> None:
    house, run = a_place(store), await moved(store, await begun(store), Phase.COMPLETED)
    place = Place(kind=BindingKind.SESSION, value=run.run_id)
    look = await reads(house, run=place, cause=Cause.VERIFICATION.value)
    assert (look.status, run_of(look)) == (Status.OK, run.run_id)
    gone = Place(kind=BindingKind.META, value="run_none")
    assert run_of(await reads(house, run=gone, cause=Cause.LOOKUP.value)) == ""


async def test_calls_are_counted_once_however_they_end(store: Store) -> None:
    house, run = a_place(store), await begun(store)
    for _ in range(2):
        await reads(house, meta={KEY: run.run_id})
    await moved(store, await now_of(store, run), Phase.FAILED)
    await house.call(meta={KEY: run.run_id})
    await store.runs.flush()
    after = await now_of(store, run)
    assert (after.calls, after.active_at >= NOW.timestamp() * 1e6) == (3, True)


async def test_a_call_whose_run_can_not_be_looked_up_is_not_sent(
    store: Store, outage: Outage
) -> None:
    house, run = a_place(store), await begun(store)
    outage.begin()
    try:
        met = await reads(house, meta={KEY: run.run_id})
    finally:
        outage.end()
    assert told_of(met) == (Status.AUDIT_UNAVAILABLE, "run_unavailable")
    assert house.server.count == 0


class _Away:
    """A store that goes away between looking a run up and moving it."""

    def __init__(self, store: Store) -> None:
        self._runs = store.runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    async def move(self, *_: object) -> None:
        raise StoreUnavailable("gone")


async def test_a_read_whose_run_can_not_be_moved_is_not_sent(store: Store) -> None:
    house, run = a_place(store, runs=_Away(store)), await begun(store)
    met = await reads(house, meta={KEY: run.run_id})
    assert told_of(met) == (Status.AUDIT_UNAVAILABLE, "run_unavailable")


class _Busy:
    """A store in which somebody else is always faster."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.runs, name)

    async def move(self, before: Run, *_: object) -> None:
        await self._store.runs.change(before, replaced(before, note=before.note + "x"), told)


async def test_a_call_that_never_meets_its_run_as_it_was_is_given_up(store: Store) -> None:
    house, run = a_place(store, runs=_Busy(store)), await begun(store)
    met = await reads(house, meta={KEY: run.run_id})
    assert told_of(met) == (Status.IN_PROGRESS, "run_changing")
    assert (await now_of(store, run)).version == 8
    assert house.server.count == 0
