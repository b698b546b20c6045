from collections.abc import Sequence

from gateway.events import admin
from gateway.types.events import Event, EventKind
from gateway.types.operations import OpState
from tests.helpers.cases import NOW
from tests.helpers.operations import wanted

BY = {"by": "ann", "account": "ops"}


def every_event() -> Sequence[Event]:
    return (
        admin.policy_activated(id="1", at=NOW, revision="sha256:a", by="reload"),
        admin.policy_activated(
            id="1b",
            at=NOW,
            revision="sha256:a",
            by="reload",
            previous="sha256:b",
            warnings=1,
            tests=12,
            change={"requests": 500, "wider": 1, "narrower": 0, "other": 2},
        ),
        admin.policy_refused(id="2", at=NOW, by="reload", errors=["p.yaml:1:1: no"]),
        admin.tool_quarantined(id="3", at=NOW, tool="crm.find", reason="bad schema"),
        admin.tool_changed(id="4", at=NOW, tool="crm.find", pinned="a", found="b"),
        admin.name_collision(id="5", at=NOW, name="find", tools=["a.find", "b.find"]),
        admin.auth_rejected(id="6", at=NOW, reason="expired", count=3, since=NOW, peers=["::1"]),
        admin.request_refused(id="7", at=NOW, reason="not JSON", count=1, since=NOW),
        admin.events_refused(id="8", at=NOW, count=7, since=NOW, reason="disk full"),
        admin.gateway_started(id="9", at=NOW, revision="sha256:a", servers=["crm"]),
        admin.gateway_stopped(id="10", at=NOW, reason="signal"),
        admin.operation_resolved(
            id="11", at=NOW, operation=wanted(), to=OpState.SUCCEEDED, evidence="seen", **BY
        ),
        admin.compensation_requested(
            id="12", at=NOW, operation=wanted(), undo=wanted(), reason="wrong customer", **BY
        ),
        admin.compensation_ended(
            id="13", at=NOW, operation=wanted(), undo="op_2", to=OpState.COMPENSATED, evidence=""
        ),
    )


def test_every_event_about_the_gateway_names_its_action() -> None:
    events = every_event()
    assert {event.kind for event in events} == {EventKind.ADMIN}
    assert len({str(event.body["action"]) for event in events}) == len(events) - 1


def test_lists_and_texts_from_outside_are_bounded() -> None:
    event = admin.policy_refused(id="1", at=NOW, by="x", errors=["e" * 5_000] * 500)
    errors = event.body["errors"]
    assert isinstance(errors, list)
    assert len(errors) == 50
    assert {len(str(error)) for error in errors} == {1_000}


def test_what_is_said_of_an_operation_is_found_with_its_call() -> None:
    operation = wanted(call_id="call_9", run_id="run_2")
    event = admin.compensation_ended(
        id="1", at=NOW, operation=operation, undo="op_2", to=OpState.COMPENSATED, evidence="x"
    )
    assert (event.tenant, event.call, event.run) == ("acme", "call_9", "run_2")
