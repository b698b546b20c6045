"""Runs as the store keeps them, on both engines."""

import asyncio
import random
from datetime import timedelta

import pytest

from gateway.errors import StoreUnavailable
from gateway.runs import limits
from gateway.runs.templates import RunLimit, Template
from gateway.store.run_rows import MOST_BYTES, row_of
from gateway.store.runs import RunFilter
from gateway.store.store import Store
from gateway.types.decisions import Limit
from gateway.types.operations import OpState, VerificationState
from gateway.types.runs import BindingKind, Evidence, Holder, Phase, Place, Run, StopReason
from gateway.types.values import replaced
from tests.helpers.approvals import asked
from tests.helpers.cases import NOW, a_principal
from tests.helpers.databases import OpenStore, Outage
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import (
    START,
    TALK,
    a_field,
    a_run,
    begun,
    found,
    moved,
    started,
    tales,
    told,
)

SESSION = Place(kind=BindingKind.SESSION, value="s1")
HOUR = 3600 * 1_000_000


def named(run_id: str, kind: BindingKind = BindingKind.META) -> Place:
    return Place(kind=kind, value=run_id)


async def test_a_new_run_is_told_and_found_by_what_leads_to_it(store: Store) -> None:
    run = await begun(store, TALK, SESSION)
    assert await store.runs.get(run.run_id) == run
    assert [(each.run, each.kind) for each in await found(store)] == [(run, TALK.kind)]
    assert [each.run for each in await found(store, SESSION)] == [run]
    assert await found(store, Place(kind=TALK.kind, value="another")) == []
    assert await tales(store, run) == [("started", "created")]


async def test_the_first_place_that_leads_to_a_run_counts(store: Store) -> None:
    by_session = await begun(store, SESSION)
    by_talk = await begun(store, TALK)
    assert [each.run for each in await found(store, TALK, SESSION)] == [by_talk]
    unknown = Place(kind=TALK.kind, value="another")
    assert [each.run for each in await found(store, unknown, SESSION)] == [by_session]


async def test_a_crowd_of_principals_finds_each_its_own(store: Store) -> None:
    run = await begun(store, TALK)
    others: list[dict[str, str]] = [{"user": "max"}, {"tenant": "other"}, {}]
    for _ in range(3):  # the first one is no crowd yet
        asked = [principal for principal in others for _ in range(3)]
        ends = await asyncio.gather(*(found(store, **principal) for principal in asked))
        assert [[each.run for each in end] for end in ends] == [[]] * 6 + [[run]] * 3
        named_ones = await asyncio.gather(
            *(found(store, named(run.run_id), **principal) for principal in asked)
        )
        assert [len(end) for end in named_ones] == [0] * 6 + [1] * 3


@pytest.mark.parametrize(
    "other", [{"tenant": "other"}, {"subject": "max-key"}, {"client": "cli"}, {"user": "max"}]
)
async def test_a_run_of_another_principal_is_not_found(store: Store, other: dict[str, str]) -> None:
    run = await begun(store)
    assert await found(store, **other) == []
    assert await found(store, named(run.run_id), **other) == []
    assert len(await found(store, named(run.run_id))) == 1


async def test_a_run_of_a_user_is_found_by_all_of_his_principals(store: Store) -> None:
    run = a_run(owner=store.runs.owner_of("acme", "sam"), is_of_user=True)
    await store.runs.start(run, [TALK], started)
    for principal in ({}, {"client": "cli", "subject": "other-key"}):
        assert [each.run for each in await found(store, **principal)] == [run]
        assert [each.run for each in await found(store, named(run.run_id), **principal)] == [run]
    assert await found(store, user="max") == []
    assert await found(store, named(run.run_id), user="max") == []


async def test_all_runs_that_are_named_are_found_and_nothing_else_is_looked_for(
    store: Store,
) -> None:
    one, other = await begun(store, SESSION), await begun(store)
    places = (named(one.run_id), named(other.run_id, BindingKind.HEADER), TALK)
    both = await found(store, *places)
    assert [(each.run.run_id, each.kind) for each in both] == [
        (one.run_id, BindingKind.META),
        (other.run_id, BindingKind.HEADER),
    ]
    assert await found(store, named("run_none"), TALK) == []


async def test_the_newest_run_of_a_value_is_the_one_that_it_leads_to(store: Store) -> None:
    first, second = await begun(store), await begun(store)
    assert [each.run for each in await found(store)] == [second]
    await store.runs.bind(first, TALK)
    assert [each.run for each in await found(store)] == [first]


async def test_calls_that_begin_a_run_at_once_all_get_the_same(open_store: OpenStore) -> None:
    stores = [open_store(), open_store()]
    runs = [a_run(owner=stores[0].runs.owner(a_principal())) for _ in range(8)]
    got = await asyncio.gather(
        *(
            stores[nr % 2].runs.start(run, [TALK], started, joins=True)
            for nr, run in enumerate(runs)
        )
    )
    assert len({run.run_id for run in got}) == 1
    assert [each.run for each in await found(stores[1])] == [got[0]]
    assert len(await stores[0].runs.find(RunFilter())) == 1


async def test_a_value_of_a_run_that_is_completed_begins_another(store: Store) -> None:
    """Failure case 22: a conversation goes on after its run has ended."""
    first = await begun(store)
    again = a_run(owner=first.owner)
    assert (await store.runs.start(again, [TALK], started, joins=True)).run_id == first.run_id
    await moved(store, first, Phase.COMPLETED, finished_at=5)
    assert await store.runs.start(again, [TALK], started, joins=True) == again
    assert [each.run for each in await found(store)] == [again]


async def test_a_change_counts_once_for_each_version(store: Store) -> None:
    run = await begun(store)
    after = replaced(
        run,
        phase=Phase.PLANNING,
        note="go",
        fields={"customer_id": a_field()},
        stop_reason=StopReason.BLOCKED,
        is_paused=True,
    )
    changed = await store.runs.change(run, after, told)
    assert changed == replaced(after, version=1)
    assert await store.runs.get(run.run_id) == changed
    assert await store.runs.change(run, replaced(run, phase=Phase.ACTING), told) is None
    assert await store.runs.get(run.run_id) == changed
    assert await tales(store, run) == [("started", "created"), ("stopped", "planning")]


async def test_of_changes_at_the_same_time_one_is_made(open_store: OpenStore) -> None:
    stores = [open_store(), open_store()]
    run = await begun(stores[0])
    made = await asyncio.gather(
        *(stores[nr % 2].runs.change(run, replaced(run, note=str(nr)), told) for nr in range(10))
    )
    assert len([each for each in made if each is not None]) == 1
    assert len(await tales(stores[0], run)) == 2


async def test_what_another_gateway_changes_is_there_at_the_next_look(
    open_store: OpenStore,
) -> None:
    """However often the same run was looked up before, and by whatever leads to it."""
    mine, other = open_store(), open_store()
    run = await begun(mine, TALK, SESSION)
    ways = (TALK, SESSION, named(run.run_id))
    for turn in range(8):
        run = await moved(other, run, (Phase.RETRIEVING, Phase.ACTING)[turn % 2])
        for way in ways:
            assert [each.run for each in await found(mine, way)] == [run]
        paused = await other.runs.change(run, replaced(run, is_paused=turn % 3 == 0), told)
        assert paused is not None
        for way in ways:
            assert [each.run for each in await found(mine, way)] == [paused]
        run = paused
    parent = await begun(other, Place(kind=TALK.kind, value="parent"))
    inside = await begun(mine, Place(kind=TALK.kind, value="inside"), parent=parent.run_id)
    assert [each.run.held_by for each in await found(mine, named(inside.run_id))] == [None]
    await moved(other, parent, Phase.COMPLETED)
    assert [each.run.held_by for each in await found(mine, named(inside.run_id))] == [
        Holder(run_id=parent.run_id, is_over=True)
    ]


async def test_what_guards_count_is_there_when_it_is_asked_for(store: Store) -> None:
    run = await moved(store, await begun(store), Phase.ACTING)
    for key, tool in (("a", "desk.refund"), ("b", "desk.mail"), ("c", "desk.refund")):
        taken = await claim(store, wanted(key=key, tool=tool, run_id=run.run_id))
        if key != "c":
            await settle(store, taken.operation, OpState.SUCCEEDED)
        if key == "b":
            done = await store.operations.get(taken.operation.op_id)
            assert done is not None
            await store.operations.verified(done, VerificationState.VERIFIED, [])
    await asked(store, run_id=run.run_id)
    counted = await store.runs.get(run.run_id)
    assert counted is not None
    assert (counted.open_ops, counted.pending_approvals) == (1, 1)
    assert counted.succeeded == ("desk.mail", "desk.refund")
    assert counted.verified == ("desk.mail",)
    assert [each.run.open_ops for each in await found(store)] == [0]
    [bound] = await store.runs.bound(a_principal(), [TALK], with_counts=True)
    assert bound.run == counted


async def test_a_run_that_has_yet_to_begin_is_found_with_its_counts(store: Store) -> None:
    run = await begun(store)
    await claim(store, wanted(run_id=run.run_id))
    assert [each.run.open_ops for each in await found(store)] == [1]


async def test_a_move_by_other_counts_than_there_are_is_none(store: Store) -> None:
    run = await begun(store)
    to = replaced(run, phase=Phase.RETRIEVING)
    await claim(store, wanted(run_id=run.run_id))
    assert await store.runs.move(run, to, told) is None
    [bound] = await found(store)
    after = await store.runs.move(bound.run, replaced(bound.run, phase=Phase.RETRIEVING), told)
    assert after is not None
    assert after.phase is Phase.RETRIEVING


async def test_what_one_run_has_read_taints_those_around_it_and_inside_of_it(store: Store) -> None:
    outer = await begun(store)
    inner = await store.runs.start(a_run(parent=outer.run_id), [], started)
    beside = await store.runs.start(a_run(parent=outer.run_id), [], started)
    deep = await store.runs.start(a_run(parent=inner.run_id), [], started)
    assert await store.runs.taint(inner, told) is True
    runs = [await store.runs.get(each.run_id) for each in (outer, inner, beside, deep)]
    assert [each is not None and each.is_tainted for each in runs] == [True] * 4
    assert [each is not None and each.version for each in runs] == [1, 1, 0, 0]
    assert await tales(store, outer) == [("started", "created"), ("changed", "created")]


async def test_a_result_of_others_taints_a_run_once_and_makes_another_version(
    store: Store,
) -> None:
    run = await begun(store)
    assert await store.runs.taint(run, told) is True
    assert await store.runs.taint(run, told) is False
    after = await store.runs.get(run.run_id)
    assert after is not None
    assert (after.is_tainted, after.version) == (True, 1)
    assert await tales(store, run) == [("started", "created"), ("changed", "created")]


async def test_references_are_collected_each_once_and_counted(store: Store) -> None:
    run = await begun(store)
    items = [Evidence(source="kb/returns", version="7", chunk=str(nr), at=nr) for nr in range(3)]
    await store.runs.add_evidence(run.run_id, items)
    await store.runs.add_evidence(run.run_id, items[1:])
    await store.runs.add_evidence(run.run_id, [])
    after = await store.runs.get(run.run_id)
    assert after is not None
    assert (after.evidence, after.version) == (3, 0)
    assert await store.runs.evidence(run.run_id) == items


async def test_references_may_be_long_and_differ_in_their_last_letter(store: Store) -> None:
    """No index of a database takes such texts, and packing them makes random ones no shorter."""
    run, many = await begun(store), random.Random(7)
    source, version = (
        "".join(chr(many.randrange(0x20000, 0x2A000)) for _ in range(2_000)) for _ in "ab"
    )
    items = [
        Evidence(source="kb/returns", at=1),
        Evidence(source=source, version=version, chunk="1", at=2),
        Evidence(source=source, version=f"{version}x", chunk="1", at=3),
    ]
    for _ in range(2):
        await store.runs.add_evidence(run.run_id, items)
    after = await store.runs.get(run.run_id)
    assert after is not None
    assert after.evidence == 3
    kept = await store.runs.evidence(run.run_id)
    assert kept[0] == items[0]
    assert [len(each.source.encode()) for each in kept[1:]] == [MOST_BYTES, MOST_BYTES]
    assert source.startswith(kept[1].source)


async def test_calls_are_counted_and_make_no_version(store: Store) -> None:
    run = await begun(store)
    for seconds in (5, 3):
        store.runs.touched(run.run_id, NOW + timedelta(seconds=seconds), tokens=7)
    await store.runs.flush()
    await store.runs.flush()
    after = await store.runs.get(run.run_id)
    assert after is not None
    assert (after.calls, after.tokens, after.version) == (2, 14, 0)
    assert after.active_at == START + 5_000_000


async def test_what_could_not_be_counted_is_counted_later(store: Store, outage: Outage) -> None:
    run = await begun(store)
    store.runs.touched(run.run_id, NOW)
    outage.begin()
    with pytest.raises(StoreUnavailable):
        await store.runs.flush()
    store.runs.touched(run.run_id, NOW)
    outage.end()
    await store.runs.flush()
    after = await store.runs.get(run.run_id)
    assert after is not None
    assert after.calls == 2


async def test_runs_without_calls_and_runs_whose_time_is_over_are_found(store: Store) -> None:
    idle = await begun(store, idle_s=1800.0)
    over = await begun(store, ends_at=START + HOUR)
    await begun(store, idle_s=7200.0, ends_at=START + 3 * HOUR)
    await begun(store)
    paused = await begun(store, idle_s=1.0)
    assert await store.runs.change(paused, replaced(paused, is_paused=True), told)
    waiting = await begun(store, idle_s=1.0)
    await moved(store, waiting, Phase.AWAITING_APPROVAL)
    done = await begun(store, idle_s=1.0, ends_at=START + 1)
    await moved(store, done, Phase.COMPLETED, finished_at=START)
    assert await store.runs.idle(START) == []
    due = await store.runs.idle(START + HOUR + 1)
    assert {each.run_id for each in due} == {idle.run_id, over.run_id}


async def test_requests_of_a_run_that_was_stopped_are_to_be_cancelled(store: Store) -> None:
    run = await begun(store)
    approval = await asked(store, run_id=run.run_id)
    await asked(store)
    assert await store.runs.to_cancel() == []
    await moved(store, run, Phase.HANDOFF, stop_reason=StopReason.HANDOFF)
    assert [each.approval_id for each in await store.runs.to_cancel()] == [approval.approval_id]


async def test_runs_are_found_by_what_they_are(store: Store) -> None:
    one = await begun(store, template="refund", created_at=START + 1)
    two = await begun(store, user="max", parent=one.run_id, created_at=START + 2)
    await moved(store, two, Phase.FAILED, stop_reason=StopReason.FAILED, finished_at=START + 3)

    async def ids_of(**wanted: object) -> list[str]:
        return [run.run_id for run in await store.runs.find(RunFilter(**wanted))]  # pyright: ignore[reportArgumentType] - names of the filter

    assert await ids_of() == [two.run_id, one.run_id]
    assert await ids_of(limit=1) == [two.run_id]
    assert await ids_of(user="max") == [two.run_id]
    assert await ids_of(owner=one.owner) == [two.run_id, one.run_id]
    assert await ids_of(tenant="other") == []
    assert await ids_of(phase="failed") == await ids_of(stop="failed") == [two.run_id]
    assert await ids_of(template="refund") == await ids_of(is_open=True) == [one.run_id]
    assert await ids_of(parent=one.run_id) == [two.run_id]
    assert await ids_of(since=NOW + timedelta(seconds=1)) == []
    assert await store.runs.counts("acme") == {Phase.CREATED: 1, Phase.FAILED: 1}


async def test_a_run_goes_with_all_that_belongs_to_it_and_nothing_else(store: Store) -> None:
    run, other = await begun(store), await begun(store, SESSION)
    for each in (run, other):
        await store.runs.add_evidence(each.run_id, [Evidence(source="kb")])
    ended = await moved(store, run, Phase.COMPLETED, finished_at=START)
    assert await store.runs.ended(START) == []
    assert [each.run_id for each in await store.runs.ended(START + 1)] == [run.run_id]
    await store.runs.forget(ended)
    assert await store.runs.get(run.run_id) is None
    assert await found(store) == await store.runs.evidence(run.run_id) == []
    assert [each.run.run_id for each in await found(store, SESSION)] == [other.run_id]
    assert len(await store.runs.evidence(other.run_id)) == 1


async def test_a_run_that_somebody_goes_on_with_is_not_forgotten(store: Store) -> None:
    run = await begun(store)
    ended = await store.runs.change(run, replaced(run, finished_at=START), told)
    assert ended is not None
    resumed = await store.runs.change(ended, replaced(ended, finished_at=0), told)
    await store.runs.forget(ended)
    assert resumed is not None
    assert await store.runs.get(run.run_id) == resumed


async def test_what_a_run_took_of_its_limits_goes_with_it(store: Store) -> None:
    run, other = await begun(store), await begun(store, SESSION)

    def writes(run: Run) -> list[Limit]:
        template = Template(name="refund", limits=(RunLimit(kind="writes", maximum=1),))
        use = limits.Use(tool="desk.refund", is_write=True, arguments={})
        return [*limits.of_call(template, run, use)]

    for each in (run, other):
        assert await store.limits.reserve(each.run_id, writes(each)) is None
        await store.limits.settle(each.run_id)
        assert await store.limits.reserve("again", writes(each)) is not None
    await store.runs.forget(run)
    assert await store.limits.reserve("again", writes(run)) is None
    assert await store.limits.reserve("once more", writes(other)) is not None


def test_a_digest_tells_nothing_of_its_value(store: Store) -> None:
    owner = store.runs.owner(a_principal())
    assert len(owner) == 32
    assert owner != store.runs.owner(a_principal(tenant="other"))
    assert "sam" not in owner
    assert row_of(a_run(owner=owner))["owner"] == owner
