"""What happens to runs in the transactions of claims and decisions, on both engines."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from gateway.runs import moves
from gateway.store import passing
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction
from gateway.store.run_rows import MOST_AROUND
from gateway.store.store import Store
from gateway.types.approvals import Choice
from gateway.types.events import Event
from gateway.types.operations import Met, OpState
from gateway.types.runs import Holder, Only, Passage, Phase, Run, StopReason
from gateway.types.values import replaced
from tests.helpers.approvals import asked, vote
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import START, begun, moved, tales, told

_T = TypeVar("_T")


async def within(store: Store, work: Callable[[Transaction, list[Event]], _T]) -> _T:
    """Do work in a transaction of the writer, and keep the events that it tells."""

    def change(transaction: Transaction) -> Made[_T]:
        tale: list[Event] = []
        return Made(work(transaction, tale), told=tale)

    return await store.events.carry(Change(change))


async def attended(store: Store, run: Run, now: int = START) -> Run:
    await within(store, lambda t, tale: passing.attend(t, run.run_id, now=now, told=tale))
    return await current(store, run)


async def current(store: Store, run: Run) -> Run:
    found = await store.runs.get(run.run_id)
    assert found is not None
    return found


async def may_pass(store: Store, passage: Passage) -> bool:
    return await within(store, lambda transaction, _: passing.may_pass(transaction, passage))


async def test_a_run_is_passed_in_the_version_it_was_judged_by_only(store: Store) -> None:
    run = await begun(store)
    assert await may_pass(store, Passage(run=run))
    after = await moved(store, run, Phase.ACTING)
    assert not await may_pass(store, Passage(run=run))
    assert await may_pass(store, Passage(run=after))
    assert not await may_pass(store, Passage(run=replaced(run, run_id="run_none")))


async def test_a_run_is_passed_only_if_those_around_it_are_as_they_were(store: Store) -> None:
    outer = await begun(store)
    middle = await begun(store, parent=outer.run_id)
    inner = await begun(store, parent=middle.run_id)
    free = Passage(run=await current(store, inner))
    assert (free.run.held_by, await may_pass(store, free)) == (None, True)
    paused = await store.runs.change(outer, replaced(outer, is_paused=True), told)
    assert paused is not None
    assert not await may_pass(store, free)
    held = Passage(run=await current(store, inner))
    assert held.run.held_by == Holder(run_id=outer.run_id, is_over=False)
    assert await may_pass(store, held)  # what a pause lets through, as it was judged
    await moved(store, middle, Phase.FAILED)
    assert not await may_pass(store, held)
    over = (await current(store, inner)).held_by
    assert over == Holder(run_id=middle.run_id, is_over=True)


async def test_a_run_inside_of_one_that_is_gone_or_too_deep_is_held(store: Store) -> None:
    orphan = await current(store, await begun(store, parent="run_gone"))
    assert orphan.held_by == Holder(run_id="run_gone", is_over=True)
    run = await begun(store)
    runs = [run]
    for _ in range(MOST_AROUND + 1):
        run = await begun(store, parent=run.run_id)
        runs.append(run)
    assert (await current(store, runs[MOST_AROUND])).held_by is None
    deepest = (await current(store, runs[-1])).held_by
    assert deepest is not None
    assert deepest.is_over


async def test_a_call_that_moves_its_run_passes_by_the_counts_of_now_only(store: Store) -> None:
    run = await moved(store, await begun(store), Phase.RETRIEVING)
    mover = Passage(run=await current(store, run), move_to=Phase.ACTING)
    assert await may_pass(store, mover)
    await claim(store, wanted(run_id=run.run_id))
    assert not await may_pass(store, mover)
    assert await may_pass(store, replaced(mover, move_to=None))
    assert await may_pass(store, replaced(mover, run=await current(store, run)))


async def test_a_call_that_passes_moves_its_run_with_an_event(store: Store) -> None:
    run = await moved(store, await begun(store), Phase.RETRIEVING)
    for passage in (Passage(run=run), Passage(run=run, move_to=Phase.ACTING)):
        await within(
            store,
            lambda t, tale, passage=passage: passing.pass_through(
                t, passage, now=START + 5, told=tale, call="call_1"
            ),
        )
    after = await current(store, run)
    assert (after.phase, after.version, after.active_at) == (Phase.ACTING, 2, START + 5)
    assert (await tales(store, run))[-1] == ("moved", "acting")


async def test_a_run_waits_as_long_as_one_of_its_requests_is_undecided(store: Store) -> None:
    """Failure case 21: a counter with three requests."""
    run = await moved(store, await begun(store), Phase.FINALIZING)
    requests = [await asked(store, run_id=run.run_id) for _ in range(3)]
    waits = await attended(store, run)
    assert (waits.phase, waits.resume_phase) == (Phase.AWAITING_APPROVAL, Phase.FINALIZING)
    for request, choice in zip(
        requests, (Choice.APPROVE, Choice.DENY, Choice.APPROVE), strict=True
    ):
        assert (await current(store, run)).phase is Phase.AWAITING_APPROVAL
        await vote(store, request, choice=choice)
    goes_on = await current(store, run)
    assert (goes_on.phase, goes_on.resume_phase) == (Phase.FINALIZING, None)
    assert goes_on.active_at != waits.active_at  # what people took is nobody's idleness
    assert (await tales(store, run))[-2:] == [
        ("moved", "awaiting_approval"),
        ("moved", "finalizing"),
    ]


async def test_a_run_that_goes_on_after_its_end_waits_for_people_who_still_have_to_decide(
    store: Store,
) -> None:
    run = await moved(store, await begun(store), Phase.ACTING)
    request = await asked(store, run_id=run.run_id)
    over = await moved(store, await attended(store, run), Phase.FAILED, resume_phase=None)
    back = moves.resumed(over, None, now=START)
    assert isinstance(back, Run)
    waits = await store.runs.change(over, back, told)
    assert waits is not None
    assert replaced(waits, pending_approvals=1) == await current(store, run)
    assert (waits.phase, waits.resume_phase) == (Phase.AWAITING_APPROVAL, Phase.RETRIEVING)
    await vote(store, request, choice=Choice.DENY)
    assert (await current(store, run)).phase is Phase.RETRIEVING


async def test_a_failed_run_does_not_send_once_more_what_another_one_had_begun(
    store: Store,
) -> None:
    runs = [await moved(store, await begun(store), Phase.ACTING) for _ in range(2)]
    calls = [wanted(run_id=each.run_id) for each in runs]
    first = await claim(store, calls[0])
    assert await settle(store, first.operation, OpState.FAILED_RETRYABLE)
    for run, call, met in zip(
        reversed(runs), reversed(calls), (Met.PHASE_BLOCKED, Met.TAKEN), strict=True
    ):
        failed = await moved(store, run, Phase.FAILED)
        passage = Passage(run=failed, only=Only.RETRY)
        assert (await claim(store, call, passage=passage)).met is met


async def test_attending_twice_changes_nothing_more(store: Store) -> None:
    run = await moved(store, await begun(store), Phase.ACTING)
    assert await attended(store, run) == await current(store, run)
    await asked(store, run_id=run.run_id)
    assert (await attended(store, run)).version == (await attended(store, run)).version == 2


@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.FAILED, Phase.HANDOFF])
async def test_a_run_that_is_over_waits_for_nobody(store: Store, phase: Phase) -> None:
    run = await moved(store, await begun(store), phase)
    await asked(store, run_id=run.run_id)
    assert (await attended(store, run)).phase is phase


async def test_a_paused_run_goes_back_to_its_phase_and_stays_paused(store: Store) -> None:
    run = await moved(store, await begun(store), Phase.ACTING)
    request = await asked(store, run_id=run.run_id)
    waits = await attended(store, run)
    paused = replaced(waits, is_paused=True, stop_reason=StopReason.BLOCKED)
    assert await store.runs.change(waits, paused, told)
    await vote(store, request)
    after = await current(store, run)
    assert (after.phase, after.is_paused, after.stop_reason) == (
        Phase.ACTING,
        True,
        StopReason.BLOCKED,
    )


async def test_calls_without_a_run_concern_none(store: Store) -> None:
    before = await store.events.last_seq()
    await within(store, lambda t, tale: passing.attend_all(t, ["", ""], now=0, told=tale))
    await within(store, lambda t, tale: passing.attend(t, "run_none", now=0, told=tale))
    assert await store.events.last_seq() == before
