"""The part of the script about writes."""

import pytest

from gateway.demo.scene import OP, Command, Cue, Step, Surprise
from gateway.demo.writes import WRITES
from gateway.types.json import JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status

_COMMANDS = [line for line in WRITES if isinstance(line, Command)]
_STEPS = [line for line in WRITES if isinstance(line, Step)]
_BOOKED: JsonObject = {"refund_id": 2, "amount": 40.0, "currency": "EUR", "status": "booked"}


def _finders() -> tuple[Step, Step]:
    booked, cancelled = (step for step in _STEPS if step.tool == "desk__find_refunds")
    return booked, cancelled


def test_an_answer_is_lost_a_server_dies_and_a_refund_is_undone() -> None:
    cues = [line.cue for line in WRITES if line.cue is not None]
    assert cues == [Cue.LOSE_THE_TICKETS_ANSWER, Cue.DIE_IN_THE_REFUND, Cue.RESTART_THE_DESK]
    assert [command.status for command in _COMMANDS] == [
        OpState.INDETERMINATE,
        OpState.COMPENSATED,
    ]
    assert OP in _COMMANDS[-1].words


def test_each_write_is_repeated_without_a_change_after_its_answer_was_lost() -> None:
    lost = [step for step in _STEPS if step.status is Status.INDETERMINATE and not step.replayed]
    assert [step.tool for step in lost] == ["desk__open_ticket", "desk__refund"]
    for step in lost:
        later = _STEPS[_STEPS.index(step) + 1 :]
        assert step.arguments in [each.arguments for each in later if each.tool == step.tool]


def test_a_second_refund_or_one_in_another_state_is_a_surprise() -> None:
    booked, cancelled = _finders()
    assert booked.observe({"refunds": [{**_BOOKED}]}) == "refund 2: 40.0 EUR, booked"
    with pytest.raises(Surprise, match="expected one refund that is booked"):
        booked.observe({"refunds": [{**_BOOKED}, {**_BOOKED, "refund_id": 3}]})
    with pytest.raises(Surprise, match="got: none"):
        booked.observe({"refunds": []})
    with pytest.raises(Surprise, match="expected one refund that is cancelled"):
        cancelled.observe({"refunds": [{**_BOOKED}]})


def test_commands_tell_whose_operation_it_was_and_what_undid_it() -> None:
    listed, undone = (
        command.observe(
            {
                "op_id": "op_1",
                "tool": "desk.refund",
                "user": "ana",
                "tenant": "acme",
                "undo": "op_2",
            }
        )
        for command in _COMMANDS
    )
    assert listed == "op_1, desk.refund for ana@acme"
    assert undone == "op_1, undone by op_2"
