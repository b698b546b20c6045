"""The phases and what they allow, one row of the reference's table after the other."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.runs import machine
from gateway.runs.machine import Go, Need, Terms
from gateway.runs.moves import MOVES, Blocked
from gateway.runs.templates import Guard, Template
from gateway.types.causes import Cause
from gateway.types.runs import BindingKind, Holder, Mode, Mover, Only, Phase, Run
from gateway.types.tools import Effect, Risk
from tests.helpers.runs import START, a_field, a_run

P, E, R = Phase, Effect, Risk
READ: Final = Need(effect=E.READ, risk=R.HIGH, tool="crm.find")
LOW: Final = Need(effect=E.WRITE, risk=R.MEDIUM, tool="desk.note")
HIGH: Final = Need(effect=E.WRITE, risk=R.HIGH, tool="desk.refund")
FINAL: Final = Need(effect=E.DESTRUCTIVE, risk=R.LOW, tool="desk.wipe")
UNDO: Final = Need(effect=E.WRITE, risk=R.HIGH, tool="desk.undo", cause=Cause.COMPENSATION)

# Left out: no room. A phase stands for a move into it.
TABLE: Final[dict[Phase, dict[str, Any]]] = {
    P.CREATED: {"read": P.RETRIEVING},
    P.PLANNING: {"read": P.RETRIEVING},
    P.RETRIEVING: {"read": True, "low": P.ACTING, "high": P.ACTING},
    P.ACTING: {"read": True, "low": True, "high": True, "undo": True},
    P.AWAITING_APPROVAL: {"read": True, "low": Only.APPROVED, "high": Only.APPROVED},
    P.FINALIZING: {"read": True, "undo": True},
    P.COMPLETED: {"undo": True},
    P.HANDOFF: {"undo": True},
    P.FAILED: {"read": True, "low": Only.RETRY, "high": Only.RETRY, "undo": True},
}
NEEDS: Final = {"read": READ, "low": LOW, "high": HIGH, "undo": UNDO}


def weighed(run: Run, need: Need, template: Template | None = None, **terms: Any) -> Go | Blocked:
    return machine.weigh(run, need, Terms(template=template, **terms), now=START)


def expected(phase: Phase, room: Any) -> Go:
    match room:
        case Phase():
            return Go(phase=room, move_to=room)
        case Only():
            return Go(phase=phase, only=room)
        case _:
            return Go(phase=phase)


@pytest.mark.parametrize("column", NEEDS)
@pytest.mark.parametrize("phase", P)
def test_a_phase_has_the_room_of_the_table_and_no_other(phase: Phase, column: str) -> None:
    met = weighed(a_run(phase=phase, resume_phase=P.ACTING), NEEDS[column])
    room = TABLE[phase].get(column)
    assert isinstance(met, Blocked) if room is None else met == expected(phase, room)


def test_a_destructive_call_counts_as_a_high_write_whatever_its_class() -> None:
    assert FINAL.kind is machine.Kind.HIGH_WRITE
    assert (LOW.kind, READ.kind) == (machine.Kind.LOW_WRITE, machine.Kind.READ)


@pytest.mark.parametrize("phase", P)
@pytest.mark.parametrize("need", [READ, LOW, HIGH, FINAL])
def test_a_call_without_a_run_goes_by_the_phase_that_stands_for_one(
    phase: Phase, need: Need
) -> None:
    reads = {P.COMPLETED, P.HANDOFF}.isdisjoint({phase})
    is_read = need is READ
    assert machine.allows(phase, need.effect, need.risk) == (
        reads if is_read else phase is P.ACTING
    )


@pytest.mark.parametrize("cause", [Cause.VERIFICATION, Cause.LOOKUP])
@pytest.mark.parametrize("phase", P)
def test_the_gateways_own_looks_at_what_a_write_did_are_held_up_by_no_phase(
    phase: Phase, cause: Cause
) -> None:
    need = Need(effect=E.READ, risk=R.LOW, tool="crm.find", cause=cause)
    assert weighed(a_run(phase=phase, is_paused=True, mode=Mode.HOST), need) == Go(phase=phase)


@pytest.mark.parametrize("mode", [Mode.HOST, Mode.AGENT])
def test_only_in_mode_auto_do_calls_move_a_run(mode: Mode) -> None:
    for phase, need in ((P.CREATED, READ), (P.RETRIEVING, LOW), (P.RETRIEVING, HIGH)):
        met = weighed(a_run(phase=phase, mode=mode), need)
        assert isinstance(met, Blocked)
        assert f"`{phase}`" in met.reason
        assert "moves it on" in met.reason
    assert weighed(a_run(phase=P.RETRIEVING, mode=mode), READ) == Go(phase=P.RETRIEVING)


def refunds(**changes: Any) -> Template:
    """A template that lets refunds act once there is a customer, and closes with a note."""
    values: dict[str, Any] = {
        "name": "refund",
        "enter_when": {
            P.ACTING: (
                Guard(text="fields.customer_id", holds=lambda r: "customer_id" in r.fields),
            ),
            P.FINALIZING: (Guard(text="open_ops == 0", holds=lambda r: r.open_ops == 0),),
        },
        "tools": {
            P.ACTING: frozenset({"desk.refund", "desk.wipe"}),
            P.FINALIZING: frozenset({"desk.note"}),
        },
        "finalizers": frozenset({"desk.note"}),
    }
    return Template(**(values | changes))


def test_a_write_enters_acting_only_when_its_guards_hold_and_is_told_what_is_missing() -> None:
    run = a_run(phase=P.RETRIEVING)
    met = weighed(run, HIGH, refunds())
    assert isinstance(met, Blocked)
    assert met.missing == ("fields.customer_id",)
    assert "fields.customer_id" in met.reason
    ready = a_run(phase=P.RETRIEVING, fields={"customer_id": a_field()})
    assert weighed(ready, HIGH, refunds()) == Go(phase=P.ACTING, move_to=P.ACTING)


def test_a_write_that_acting_has_no_room_for_moves_nothing() -> None:
    ready = a_run(phase=P.RETRIEVING, fields={"customer_id": a_field()})
    met = weighed(ready, Need(effect=E.WRITE, risk=R.LOW, tool="mail.send"), refunds())
    assert isinstance(met, Blocked)
    assert "`mail.send` is none of its tools" in met.reason


def test_a_finalizer_does_not_take_a_run_past_acting() -> None:
    ready = a_run(phase=P.RETRIEVING, fields={"customer_id": a_field()})
    assert isinstance(weighed(ready, LOW, refunds()), Blocked)


def test_a_finalizer_takes_an_acting_run_to_its_end_once_nothing_is_open() -> None:
    run = a_run(phase=P.ACTING)
    assert weighed(run, LOW, refunds()) == Go(phase=P.FINALIZING, move_to=P.FINALIZING)
    busy = weighed(a_run(phase=P.ACTING, open_ops=1), LOW, refunds())
    assert isinstance(busy, Blocked)
    assert busy.missing == ("open_ops == 0",)
    other = weighed(run, LOW, refunds(tools={P.ACTING: frozenset(), P.FINALIZING: frozenset()}))
    assert isinstance(other, Blocked)
    assert weighed(run, LOW, refunds(tools={})) == Go(phase=P.ACTING)


def test_finalizing_has_room_for_low_finalizers_only() -> None:
    run = a_run(phase=P.FINALIZING)
    assert weighed(run, LOW, refunds()) == Go(phase=P.FINALIZING)
    raised = Need(effect=E.WRITE, risk=R.HIGH, tool="desk.note")
    for need in (raised, HIGH, Need(effect=E.WRITE, risk=R.LOW, tool="mail.send")):
        assert isinstance(weighed(run, need, refunds()), Blocked)
    assert isinstance(weighed(run, LOW, refunds(finalizers=frozenset())), Blocked)


def test_reads_go_by_the_tools_that_a_template_names_before_acting() -> None:
    template = refunds(tools={P.RETRIEVING: frozenset({"crm.find"})})
    assert weighed(a_run(phase=P.RETRIEVING), READ, template) == Go(phase=P.RETRIEVING)
    other = Need(effect=E.READ, risk=R.LOW, tool="web.search")
    assert isinstance(weighed(a_run(phase=P.RETRIEVING), other, template), Blocked)
    assert isinstance(weighed(a_run(phase=P.CREATED), other, template), Blocked)
    assert weighed(a_run(phase=P.ACTING), other, template) == Go(phase=P.ACTING)


def test_while_people_decide_only_named_low_writes_go_on_freely() -> None:
    waits = a_run(phase=P.AWAITING_APPROVAL, resume_phase=P.ACTING)
    template = refunds(tools={}, during_wait=frozenset({"desk.note", "desk.refund"}))
    assert weighed(waits, LOW, template) == Go(phase=P.AWAITING_APPROVAL)
    only = Go(phase=P.AWAITING_APPROVAL, only=Only.APPROVED)
    assert weighed(waits, HIGH, template) == only
    assert weighed(waits, LOW, refunds(tools={})) == only


@pytest.mark.parametrize("back", [P.CREATED, P.PLANNING, P.RETRIEVING])
@pytest.mark.parametrize("need", [LOW, HIGH, FINAL])
def test_waiting_for_people_opens_no_way_around_the_guards_of_acting(
    back: Phase, need: Need
) -> None:
    waits = a_run(phase=P.AWAITING_APPROVAL, resume_phase=back)
    template = refunds(tools={}, during_wait=frozenset({"desk.note"}))
    assert isinstance(weighed(waits, need, template), Blocked)


def test_while_people_decide_about_the_end_only_finalizers_are_asked_about() -> None:
    waits = a_run(phase=P.AWAITING_APPROVAL, resume_phase=P.FINALIZING)
    assert weighed(waits, LOW, refunds()) == Go(phase=P.AWAITING_APPROVAL, only=Only.APPROVED)
    assert isinstance(weighed(waits, HIGH, refunds()), Blocked)
    assert isinstance(weighed(waits, LOW), Blocked)
    assert isinstance(weighed(waits, LOW, refunds(tools={P.FINALIZING: frozenset()})), Blocked)


@pytest.mark.parametrize("need", [LOW, HIGH, FINAL])
@pytest.mark.parametrize("phase", P)
def test_a_paused_run_lets_no_write_through(phase: Phase, need: Need) -> None:
    run = a_run(phase=phase, is_paused=True, note="Ana looks into it")
    met = weighed(run, need)
    assert isinstance(met, Blocked)
    assert met.reason == "the run is paused: Ana looks into it"


@pytest.mark.parametrize("need", [READ, LOW, HIGH])
@pytest.mark.parametrize("is_over", [True, False])
def test_a_run_goes_on_no_further_than_those_around_it(need: Need, is_over: bool) -> None:
    run = a_run(phase=P.ACTING, held_by=Holder(run_id="run_0", is_over=is_over))
    if need is READ and not is_over:
        assert weighed(run, need) == Go(phase=P.ACTING)
    met = weighed(run, need, reads_while_paused=False)
    assert isinstance(met, Blocked)
    assert met.reason == f"the run `run_0` around this one is {'over' if is_over else 'paused'}"


def test_reads_of_a_paused_run_are_let_through_by_option() -> None:
    run = a_run(phase=P.ACTING, is_paused=True)
    assert weighed(run, READ) == Go(phase=P.ACTING)
    assert isinstance(weighed(run, READ, reads_while_paused=False), Blocked)
    assert weighed(run, UNDO) == Go(phase=P.ACTING)


def test_a_run_whose_time_is_over_is_as_good_as_paused() -> None:
    late = a_run(phase=P.ACTING, ends_at=START)
    for need in (LOW, HIGH):
        met = weighed(late, need)
        assert isinstance(met, Blocked)
        assert "time of the run is over" in met.reason
    assert weighed(late, READ) == Go(phase=P.ACTING)
    assert weighed(a_run(phase=P.ACTING, ends_at=START + 1), HIGH) == Go(phase=P.ACTING)


def test_classes_that_need_a_run_by_name_are_not_let_in_by_a_weak_binding() -> None:
    template = refunds(tools={}, explicit_for=frozenset({R.HIGH}))
    run = a_run(phase=P.ACTING)
    for kind in BindingKind:
        met = weighed(run, HIGH, template, kind=kind)
        assert isinstance(met, Blocked) == kind.is_weak
        assert weighed(run, LOW, template, kind=kind) == Go(phase=P.ACTING)


RUNS = st.builds(
    a_run,
    phase=st.sampled_from(P),
    resume_phase=st.none() | st.sampled_from([p for p in P if not p.is_final]),
    mode=st.sampled_from(Mode),
    is_paused=st.booleans(),
    ends_at=st.sampled_from([0, START - 1, START + 1]),
    open_ops=st.integers(0, 2),
)
ALL_NEEDS = st.builds(
    Need,
    effect=st.sampled_from(E),
    risk=st.sampled_from(R),
    tool=st.sampled_from(["crm.find", "desk.note", "desk.refund"]),
    cause=st.sampled_from(Cause),
)
TEMPLATES = st.none() | st.builds(
    refunds,
    tools=st.sampled_from([{}, {P.ACTING: frozenset({"desk.refund"})}]),
    during_wait=st.sampled_from([frozenset[str](), frozenset({"desk.note"})]),
)


@given(run=RUNS, need=ALL_NEEDS, template=TEMPLATES)
def test_no_write_of_a_caller_ever_passes_outside_of_the_phases_for_it(
    run: Run, need: Need, template: Template | None
) -> None:
    met = weighed(run, need, template)
    if not isinstance(met, Go) or need.cause is not Cause.CALLER or need.effect is E.READ:
        return
    assert not run.is_paused
    assert (
        met.only is not None
        or met.phase in (P.ACTING, P.FINALIZING)
        or (met.phase is P.AWAITING_APPROVAL and need.kind is machine.Kind.LOW_WRITE)
    )
    if met.phase is P.FINALIZING:
        assert need.kind is machine.Kind.LOW_WRITE


@given(run=RUNS, need=ALL_NEEDS, template=TEMPLATES)
def test_a_call_moves_its_run_along_the_ways_there_are(
    run: Run, need: Need, template: Template | None
) -> None:
    met = weighed(run, need, template)
    if isinstance(met, Go) and met.move_to is not None:
        assert Mover.CALL in MOVES[run.phase, met.move_to]
        assert run.mode is Mode.AUTO
        assert met.phase is met.move_to
