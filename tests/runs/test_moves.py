from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.runs import moves
from gateway.runs.moves import MOVES, Blocked
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.types.runs import Holder, Mode, Mover, Phase, Run, StopReason, Trust
from gateway.types.values import replaced
from tests.helpers.runs import START, a_field, a_run

P = Phase
HELD = Template(
    name="refund",
    enter_when={P.ACTING: (Guard(text="evidence >= 1", holds=lambda run: run.evidence >= 1),)},
    completed_when=(Guard(text="verified", holds=lambda run: "desk.refund" in run.verified),),
    fields={"customer_id": FieldRule(sources=("host", "crm.id")), "why": FieldRule()},
    wall_s=60.0,
)
LIVE = [phase for phase in P if not phase.is_final]
OVER = [phase for phase in P if phase.is_final]


def said(met: Run | Blocked | None) -> str:
    assert isinstance(met, Blocked)
    return met.reason


def test_nobody_moves_a_run_into_waiting_or_into_its_end() -> None:
    ends = {to for _, to in MOVES}
    assert ends.isdisjoint({P.AWAITING_APPROVAL, *OVER, P.CREATED})
    assert {start for start, _ in MOVES}.isdisjoint({P.AWAITING_APPROVAL, *OVER})


@pytest.mark.parametrize(("start", "to"), MOVES)
def test_a_run_goes_the_ways_there_are(start: Phase, to: Phase) -> None:
    run = a_run(phase=start)
    for by in Mover:
        met = moves.moved(run, to, by, None, now=START + 5)
        if by in MOVES[start, to]:
            assert met == replaced(run, phase=to, active_at=START + 5)
        else:
            assert "does not lead on" in said(met)


def test_where_a_run_can_go_instead_is_said() -> None:
    def then(phase: Phase, by: Mover = Mover.AGENT) -> str:
        met = moves.moved(a_run(phase=phase), P.CREATED, by, None, now=START)
        assert isinstance(met, Blocked)
        return met.next

    assert then(P.FINALIZING) == "from there it goes to `retrieving` or `acting`"
    assert then(P.AWAITING_APPROVAL).startswith("wait until people have decided")
    assert then(P.COMPLETED) == "begin another one for new work"
    assert "a person or the host can resume it" in then(P.HANDOFF)
    assert "resumed by a person or the host" in then(P.FAILED)


@given(start=st.sampled_from(P), to=st.sampled_from(P), by=st.sampled_from(Mover))
def test_a_run_goes_no_other_way(start: Phase, to: Phase, by: Mover) -> None:
    met = moves.moved(a_run(phase=start), to, by, None, now=START)
    assert isinstance(met, Run) == (by in MOVES.get((start, to), ()))


def test_who_moves_depends_on_the_mode() -> None:
    for mode, movers in {
        Mode.HOST: {Mover.HOST, Mover.PERSON},
        Mode.AGENT: {Mover.HOST, Mover.PERSON, Mover.AGENT},
        Mode.AUTO: {Mover.HOST, Mover.PERSON, Mover.AGENT, Mover.CALL},
    }.items():
        run = a_run(phase=P.RETRIEVING, mode=mode)
        for by in Mover:
            met = moves.may_move(run, P.ACTING, by, None)
            assert (met is None) == (by in movers)


def test_guards_hold_models_and_calls_and_nobody_else() -> None:
    run = a_run(phase=P.RETRIEVING)
    for by in (Mover.AGENT, Mover.CALL):
        met = moves.may_move(run, P.ACTING, by, HELD)
        assert isinstance(met, Blocked)
        assert met.missing == ("evidence >= 1",)
        assert moves.may_move(replaced(run, evidence=1), P.ACTING, by, HELD) is None
    assert moves.may_move(run, P.ACTING, Mover.HOST, HELD) is None


def test_a_paused_run_goes_nowhere() -> None:
    run = a_run(phase=P.RETRIEVING, is_paused=True)
    for by in Mover:
        assert said(moves.moved(run, P.ACTING, by, None, now=START)) == "the run is paused"


@pytest.mark.parametrize("phase", LIVE)
@pytest.mark.parametrize("to", OVER)
def test_every_run_that_goes_on_can_be_ended(phase: Phase, to: Phase) -> None:
    run = a_run(phase=phase, resume_phase=P.ACTING)
    after = moves.ended(run, to, Mover.AGENT, None, now=START + 5, note="done")
    assert isinstance(after, Run)
    assert (after.phase, after.resume_phase, after.note) == (to, None, "done")
    assert after.stop_reason is not None
    assert str(after.stop_reason) == str(to)
    assert after.finished_at == START + 5


@pytest.mark.parametrize("phase", OVER)
@pytest.mark.parametrize("to", OVER)
def test_of_an_ended_run_only_a_failed_one_is_handed_over(phase: Phase, to: Phase) -> None:
    met = moves.ended(a_run(phase=phase), to, Mover.HOST, None, now=START)
    assert isinstance(met, Run) == ((phase, to) == (P.FAILED, P.HANDOFF))


def test_other_phases_are_no_ends() -> None:
    assert "not the end" in said(moves.ended(a_run(), P.ACTING, Mover.HOST, None, now=START))


@pytest.mark.parametrize("by", [Mover.HOST, Mover.AGENT, Mover.PERSON])
def test_a_run_with_something_open_is_not_completed_whoever_says_so(by: Mover) -> None:
    """Failure case 21: completion with an operation of which nobody knows is refused."""
    run = a_run(phase=P.FINALIZING, open_ops=2, pending_approvals=1)
    met = moves.ended(run, P.COMPLETED, by, HELD, now=START)
    assert isinstance(met, Blocked)
    assert met.missing == (
        "2 operations are under way, or nobody knows how they ended",
        "1 request has to be decided",
        "verified",
    )
    assert isinstance(moves.ended(run, P.FAILED, by, HELD, now=START), Run)
    done = a_run(phase=P.FINALIZING, verified=("desk.refund",))
    assert isinstance(moves.ended(done, P.COMPLETED, by, HELD, now=START), Run)


def test_the_model_does_not_complete_a_run_that_its_host_moves() -> None:
    run = a_run(phase=P.FINALIZING, mode=Mode.HOST)
    assert "the host says" in said(moves.ended(run, P.COMPLETED, Mover.AGENT, None, now=START))
    assert isinstance(moves.ended(run, P.HANDOFF, Mover.AGENT, None, now=START), Run)
    assert isinstance(moves.ended(run, P.COMPLETED, Mover.HOST, None, now=START), Run)


def test_a_paused_run_can_be_given_up_and_is_not_completed() -> None:
    run = a_run(phase=P.ACTING, is_paused=True, stop_reason=StopReason.BLOCKED)
    for by in (Mover.HOST, Mover.AGENT):
        assert said(moves.ended(run, P.COMPLETED, by, None, now=START)) == "the run is paused"
    after = moves.ended(run, P.HANDOFF, Mover.PERSON, None, now=START)
    assert isinstance(after, Run)
    assert (after.is_paused, after.stop_reason) == (False, StopReason.HANDOFF)


def test_its_model_gets_a_run_out_of_a_pause_by_no_end() -> None:
    run = a_run(phase=P.ACTING, is_paused=True)
    assert said(moves.ended(run, P.FAILED, Mover.AGENT, None, now=START)) == "the run is paused"
    after = moves.ended(run, P.HANDOFF, Mover.AGENT, None, now=START)
    assert isinstance(after, Run)
    assert (after.phase, after.is_paused) == (P.HANDOFF, True)


@pytest.mark.parametrize(
    ("stopped", "why"),
    [
        ({"held_by": Holder(run_id="run_1", is_over=False)}, "around this one is paused"),
        ({"held_by": Holder(run_id="run_1", is_over=True)}, "around this one is over"),
        ({"ends_at": START}, "the time of the run is over"),
    ],
)
def test_its_model_leaves_a_run_that_may_not_go_on_as_it_is(
    stopped: dict[str, Any], why: str
) -> None:
    run = a_run(phase=P.RETRIEVING, **stopped)
    for by in (Mover.AGENT, Mover.CALL):
        assert why in said(moves.moved(run, P.ACTING, by, None, now=START))
    for to in (P.COMPLETED, P.FAILED):
        assert why in said(moves.ended(run, to, Mover.AGENT, None, now=START))
        assert isinstance(moves.ended(run, to, Mover.HOST, None, now=START), Run)
    assert isinstance(moves.ended(run, P.HANDOFF, Mover.AGENT, None, now=START), Run)
    assert isinstance(moves.moved(run, P.ACTING, Mover.PERSON, None, now=START), Run)


@pytest.mark.parametrize("phase", [P.FAILED, P.HANDOFF])
def test_what_was_given_up_goes_on_and_meets_its_guards_anew(phase: Phase) -> None:
    over = a_run(phase=phase, stop_reason=StopReason.FAILED, finished_at=START, ends_at=START)
    after = moves.resumed(over, HELD, now=START + 1)
    assert isinstance(after, Run)
    assert (after.phase, after.stop_reason, after.finished_at) == (P.RETRIEVING, None, 0)
    assert after.ends_at == START + 1 + 60_000_000


@pytest.mark.parametrize("phase", LIVE)
def test_pausing_keeps_the_phase_and_resuming_goes_on_in_it(phase: Phase) -> None:
    run = a_run(phase=phase, resume_phase=P.ACTING)
    stopped = moves.paused(run, note="lunch")
    assert stopped == replaced(run, is_paused=True, note="lunch")
    assert isinstance(stopped, Run)
    assert said(moves.paused(stopped)) == "the run is paused already"
    assert moves.resumed(stopped, None, now=START + 1) == replaced(run, active_at=START + 1)
    assert said(moves.resumed(run, None, now=START)) == "the run is not paused"


@pytest.mark.parametrize("phase", LIVE)
def test_a_blocked_run_keeps_its_phase_too(phase: Phase) -> None:
    run = a_run(phase=phase)
    after = moves.blocked(run, note="a field is missing")
    assert after == replaced(
        run, is_paused=True, stop_reason=StopReason.BLOCKED, note="a field is missing"
    )
    assert isinstance(after, Run)
    assert said(moves.blocked(after, note="again")) == "the run is blocked already"
    assert moves.resumed(after, None, now=START) == run


@pytest.mark.parametrize("phase", OVER)
def test_a_run_that_is_over_is_neither_paused_nor_blocked(phase: Phase) -> None:
    run = a_run(phase=phase)
    field = moves.collected(run, "why", a_field(), None)
    lapsed = moves.lapsed(run, note="", now=START)
    for met in (moves.paused(run), moves.blocked(run, note=""), lapsed, field):
        assert "the run is over" in said(met)
    if phase is P.COMPLETED:
        assert "the run is over" in said(moves.resumed(run, None, now=START))


def test_only_what_is_held_up_can_lapse() -> None:
    run = a_run(phase=P.AWAITING_APPROVAL, is_paused=True, resume_phase=P.ACTING)
    after = moves.lapsed(run, note="nobody came", now=START + 1)
    assert isinstance(after, Run)
    assert (after.phase, after.stop_reason, after.is_paused) == (P.FAILED, StopReason.FAILED, False)
    assert (after.note, after.finished_at, after.resume_phase) == ("nobody came", START + 1, None)
    assert said(moves.lapsed(a_run(), note="", now=START)) == "the run is not paused"


def test_a_run_whose_time_was_over_has_all_of_it_again_when_it_is_resumed() -> None:
    late = a_run(phase=P.ACTING, is_paused=True, ends_at=START)
    after = moves.resumed(late, HELD, now=START + 1)
    assert isinstance(after, Run)
    assert after.ends_at == START + 1 + 60_000_000
    early = moves.resumed(replaced(late, ends_at=START + 5), HELD, now=START + 1)
    assert isinstance(early, Run)
    assert early.ends_at == START + 5
    free = moves.resumed(late, None, now=START + 1)
    assert isinstance(free, Run)
    assert free.ends_at == 0


def test_only_fields_of_the_template_are_collected_and_only_from_their_sources() -> None:
    run = a_run()
    after = moves.collected(run, "customer_id", a_field("c-1"), HELD)
    assert isinstance(after, Run)
    assert after.fields == {"customer_id": a_field("c-1")}
    model = a_field("c-1", source="model", trust=Trust.MODEL)
    assert "has to come from `host` or `crm.id`, not from `model`" in said(
        moves.collected(run, "customer_id", model, HELD)
    )
    assert isinstance(moves.collected(run, "why", model, HELD), Run)
    unknown = moves.collected(run, "colour", model, HELD)
    assert isinstance(unknown, Blocked)
    assert unknown.next == "its fields: `customer_id`, `why`"
    assert isinstance(moves.collected(run, "colour", model, None), Run)


@pytest.mark.parametrize(
    ("changes", "idle"),
    [
        ({"idle_s": 60.0}, True),
        ({"idle_s": 0.0}, False),
        ({"idle_s": 60.0, "active_at": START + 40_000_000}, False),
        ({"idle_s": 60.0, "phase": P.AWAITING_APPROVAL}, False),
        ({"idle_s": 60.0, "phase": P.COMPLETED}, False),
    ],
)
def test_a_run_is_idle_when_nobody_called_and_nobody_has_to_decide(
    changes: dict[str, Any], idle: bool
) -> None:
    assert moves.is_idle(a_run(**changes), START + 61_000_000) is idle
