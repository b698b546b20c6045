from typing import Any

import pytest

from gateway.events import runs
from gateway.events.redact import Redactor
from gateway.types.events import Event, Stage
from gateway.types.runs import Mover, Phase, Run, StopReason, Trust
from gateway.types.values import replaced
from tests.helpers.cases import NOW
from tests.helpers.runs import a_field, a_run

REDACTOR = Redactor(lambda tenant: tenant.encode().ljust(32, b"0"), ["s3cret-value"])
RUN = a_run(phase=Phase.ACTING)


def told(before: Run | None, after: Run, **more: Any) -> Event:
    values: dict[str, Any] = {"by": Mover.HOST, "id": "e1", "at": NOW}
    return runs.event(before, after, **(values | more))


def every_event() -> list[Event]:
    return [
        told(None, replaced(RUN, objective="give it back", parent="run_0"), redactor=REDACTOR),
        told(RUN, replaced(RUN, phase=Phase.AWAITING_APPROVAL, resume_phase=Phase.ACTING)),
        told(RUN, replaced(RUN, fields={"customer_id": a_field()})),
        told(RUN, replaced(RUN, is_paused=True, note="lunch"), redactor=REDACTOR),
        told(replaced(RUN, is_paused=True), RUN),
        told(RUN, replaced(RUN, phase=Phase.COMPLETED, stop_reason=StopReason.COMPLETED)),
        told(RUN, replaced(RUN, phase=Phase.HANDOFF, stop_reason=StopReason.HANDOFF)),
    ]


@pytest.mark.parametrize(
    ("before", "after", "stage"),
    [
        (None, RUN, Stage.STARTED),
        (RUN, replaced(RUN, phase=Phase.FINALIZING), Stage.MOVED),
        (RUN, replaced(RUN, is_tainted=True), Stage.CHANGED),
        (RUN, replaced(RUN, is_paused=True), Stage.PAUSED),
        (replaced(RUN, phase=Phase.FAILED, stop_reason=StopReason.FAILED), RUN, Stage.RESUMED),
        (replaced(RUN, is_paused=True), RUN, Stage.RESUMED),
        (
            replaced(RUN, is_paused=True, stop_reason=StopReason.BLOCKED),
            replaced(RUN, phase=Phase.RETRIEVING),
            Stage.RESUMED,
        ),
        (RUN, replaced(RUN, is_paused=True, stop_reason=StopReason.BLOCKED), Stage.STOPPED),
        (RUN, replaced(RUN, phase=Phase.FAILED, stop_reason=StopReason.FAILED), Stage.STOPPED),
        (
            replaced(RUN, phase=Phase.FAILED, stop_reason=StopReason.FAILED),
            replaced(RUN, phase=Phase.HANDOFF, stop_reason=StopReason.HANDOFF),
            Stage.HANDED_OVER,
        ),
    ],
)
def test_the_stage_says_what_the_change_means_most(
    before: Run | None, after: Run, stage: Stage
) -> None:
    assert told(before, after).stage is stage


def test_a_move_is_told_with_both_phases_and_who_moved() -> None:
    after = replaced(RUN, phase=Phase.FINALIZING, version=3)
    event = told(RUN, after, by=Mover.CALL, call="call_1")
    assert (event.run, event.phase, event.call, event.tenant) == (
        RUN.run_id,
        "finalizing",
        "call_1",
        "acme",
    )
    assert event.body == {
        "by": "call",
        "version": 3,
        "mode": "auto",
        "template": "",
        "paused": False,
        "tainted": False,
        "from": "acting",
    }


def test_of_fields_only_the_new_ones_are_told_and_no_value_is() -> None:
    before = replaced(RUN, fields={"customer_id": a_field("c-77"), "amount": a_field(4)})
    after = replaced(
        before,
        fields={**before.fields, "amount": a_field(4711, trust=Trust.MODEL, source="model")},
    )
    event = told(before, after)
    assert event.body["fields"] == [{"name": "amount", "source": "model", "trust": "model"}]
    assert "4711" not in str(event.body)


def test_what_people_wrote_is_redacted_and_told_once() -> None:
    first = replaced(RUN, objective="use s3cret-value", task_id="T-1", note="n" * 2_000)
    body = told(None, first, redactor=REDACTOR).body
    assert "s3cret-value" not in str(body)
    assert (body["task"], len(str(body["note"]))) == ("T-1", 1_000)
    again = told(first, replaced(first, is_paused=True), redactor=REDACTOR).body
    assert not again.keys() & {"objective", "task", "note"}


def test_without_a_redactor_nothing_that_people_wrote_is_told() -> None:
    assert "objective" not in told(None, replaced(RUN, objective="anything")).body
