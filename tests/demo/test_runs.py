"""The part of the script about runs."""

import pytest

from gateway.client import Package, RunState
from gateway.client.wire import PackageEvidence, PackageOperation
from gateway.demo.runs import RUNS
from gateway.demo.scene import RUN, Command, Cue, Request, Step, Surprise
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status

_STEPS = [line for line in RUNS if isinstance(line, Step)]
_COMMANDS = [line for line in RUNS if isinstance(line, Command)]
_BEGUN, _PACKAGE = (line for line in RUNS if isinstance(line, Request))


def _step(tool: str, status: Status = Status.OK) -> Step:
    return next(step for step in _STEPS if (step.tool, step.status) == (tool, status))


@pytest.mark.parametrize("tool", ["desk__refund", "desk__open_ticket"])
def test_what_a_phase_or_pause_refuses_is_asked_for_again_in_the_same_words(tool: str) -> None:
    blocked, passed = _step(tool, Status.PHASE_BLOCKED), _step(tool)
    assert blocked.arguments == passed.arguments
    assert RUNS.index(blocked) < RUNS.index(passed)
    assert blocked.in_run
    assert passed.in_run


def test_only_another_value_makes_the_difference_between_an_invented_id_and_the_right_one() -> None:
    invented = _step("run_set_field", Status.PROVENANCE_FAILED).arguments
    right = _step("run_set_field").arguments
    assert {name for name in right if right[name] != invented[name]} == {"value"}
    assert right["value"] == _step("desk__refund").arguments["customer_id"]


def test_the_gateway_is_restarted_while_a_run_is_paused_and_before_it_is_resumed() -> None:
    pause, resume, _ = _COMMANDS
    (restart,) = (step for step in _STEPS if step.cue is Cue.RESTART_THE_GATEWAY)
    assert RUNS.index(pause) < RUNS.index(restart) < RUNS.index(resume)
    assert RUN in pause.words
    assert RUN in resume.words


def test_a_run_that_could_act_at_once_is_a_surprise() -> None:
    run = RunState.model_construct(run_id="run_1", missing={"acting": ["evidence >= 1"]})
    assert _BEGUN.observe(run) == "run_1; acting needs evidence >= 1"
    with pytest.raises(Surprise, match="nothing is missing"):
        _BEGUN.observe(RunState.model_construct(run_id="run_1", missing={}))


def test_a_run_that_still_lacks_something_after_the_right_id_is_a_surprise() -> None:
    kept: JsonObject = {"fields": {"customer_id": "c-1002"}, "evidence": 1, "missing": {}}
    observe = _step("run_set_field").observe
    assert observe(kept) == "customer_id=c-1002, with 1 reference; acting lacks nothing now"
    with pytest.raises(Surprise, match="acting still needs evidence >= 1"):
        observe({**kept, "missing": {"acting": ["evidence >= 1"]}})


@pytest.mark.parametrize("found", [0, 2])
def test_more_than_the_one_customer_or_none_is_a_surprise(found: int) -> None:
    customer: JsonObject = {"id": "c-1002", "name": "Tomas Marek"}
    observe = _step("crm__search_customers").observe
    assert observe({"customers": [{**customer}]}) == "Tomas Marek, c-1002"
    with pytest.raises(Surprise, match=f"got {found}"):
        observe({"customers": [{**customer} for _ in range(found)]})


def _package(*, withheld: int = 1, arguments: JsonObject | None = None) -> Package:
    unknown = PackageOperation.model_construct(
        op_id="op_1", tool="desk.open_ticket", arguments=arguments
    )
    return Package.model_construct(
        reason="for tier 2: open or not?",
        unknown=[unknown],
        evidence=[PackageEvidence(source="c-1004", version="", chunk="")],
        withheld=withheld,
        next=["find out"],
    )


def test_whoever_takes_over_is_told_first_what_nobody_knows_and_nothing_beyond_his_scopes() -> None:
    assert _PACKAGE.observe(_package()) == (
        "for tier 2: open or not?; unknown 1 (desk.open_ticket), references 1, withheld 1; "
        "next: find out"
    )
    with pytest.raises(Surprise, match="no scope"):
        _PACKAGE.observe(_package(withheld=0))
    with pytest.raises(Surprise, match="no scope"):
        _PACKAGE.observe(_package(arguments={"customer_id": "c-1004"}))
    with pytest.raises(Surprise, match="nobody knows"):
        _PACKAGE.observe(Package.model_construct(unknown=[], next=[]))


def test_commands_tell_where_a_run_stands_and_why_and_what_settled_an_operation() -> None:
    pause, _, resolve = _COMMANDS
    assert pause.observe({"phase": "acting", "note": "in stock?"}) == "in acting; in stock?"
    assert resolve.observe({"op_id": "op_1", "evidence": "it is there"}) == "op_1: it is there"


def test_what_was_done_is_told_in_words() -> None:
    refunded = _step("desk__refund").observe({"refund_id": 4, "amount": 20.0, "currency": "EUR"})
    assert refunded == "refund 4: 20.0 EUR"
    opened = _step("desk__open_ticket").observe({"id": "t-5", "customer_id": "c-1002"})
    assert opened == "ticket t-5 for c-1002"
    over = _step("run_finish").observe({"run_id": "run_1", "phase": "completed"})
    assert over == "run_1 is completed"
