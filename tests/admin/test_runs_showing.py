"""What pages say of a run."""

import pytest

from gateway.admin.runs_showing import card, sheet
from gateway.runs.handover import Package, Reach, Receiver, Remains, package
from gateway.types.runs import Phase, Run, StopReason
from tests.helpers.runs import START, a_field, a_run


def a_package(run: Run) -> Package:
    remains = Remains(run=run, template=None, operations=[], approvals=[], evidence=[])
    return package(remains, Receiver(), Reach(tools={}))


def test_a_run_without_an_objective_is_called_by_what_it_has() -> None:
    run = a_run(task_id="T-1")
    assert card(run, START).title == "T-1"
    assert card(a_run(run_id="run_1"), START).title == "run_1"
    assert card(a_run(objective="x" * 300), START).title == "x" * 240 + "…"


@pytest.mark.parametrize(
    ("changes", "can"),
    [
        ({}, (True, False, True)),
        ({"is_paused": True}, (False, True, True)),
        ({"phase": Phase.COMPLETED}, (False, False, False)),
        ({"phase": Phase.HANDOFF}, (False, True, False)),
        ({"phase": Phase.FAILED}, (False, True, True)),
    ],
)
def test_only_what_can_be_done_is_offered(
    changes: dict[str, object], can: tuple[bool, ...]
) -> None:
    seen = sheet(a_package(a_run(**changes)), {}, [], START)
    assert (seen.can_pause, seen.can_resume, seen.can_hand_over) == can


def test_a_blocked_run_is_told_from_a_paused_one() -> None:
    run = a_run(is_paused=True, stop_reason=StopReason.BLOCKED)
    assert card(run, START).is_blocked
    assert not card(a_run(is_paused=True), START).is_blocked


def test_a_long_value_is_cut_with_its_length() -> None:
    [known] = sheet(a_package(a_run(fields={"f": a_field("y" * 5000)})), {}, [], START).fields
    assert known.value == "y" * 2000 + "… (5000 characters)"
