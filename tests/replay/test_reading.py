from datetime import timedelta
from typing import Any

from gateway.events import approvals
from gateway.events.approvals import Word
from gateway.events.envelope import to_bytes
from gateway.replay import reading
from gateway.replay.types import Gone
from gateway.store.events import StoredEvent
from gateway.types.approvals import ApprovalState, Cast, Choice, Ruling
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.events import Stage
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import replaced
from tests.helpers.approvals import an_approval, an_approver
from tests.helpers.cases import NOW, a_call, a_case, a_prompt, a_resource, an_actor
from tests.helpers.events import an_event
from tests.helpers.replays import (
    REDACTOR,
    TOOL,
    WRITER,
    a_known_case,
    a_law,
    a_secret_note,
    event_of,
    policy,
    recorded,
    rule,
)

LAW = a_law(
    policy(
        rule(
            "main",
            when="args.amount > 1.0",
            constrain={"max": {"amount": 50}},
            limits=[{"id": "l", "per": ["user"], "max": 9, "window": "1h", "sum": "args.amount"}],
            output={"keep": ["/id"]},
        ),
        rule("soon", "deny", mode="shadow"),
    ),
    a_secret_note(),
)
SENT = {"amount": 3.5, "note": "hush", "id": "i-1"}


def test_a_call_is_read_as_it_was_judged() -> None:
    call = recorded(a_known_case(LAW, dict(SENT)))
    assert (call.call, call.tool, call.server, call.name) == (
        "call_1",
        "crm.find",
        "crm",
        "crm__find",
    )
    assert (call.method, call.kind, call.tenant) == (Method.CALL_TOOL, Kind.TOOL, "acme")
    assert call.actor == an_actor()
    assert call.arguments == {**SENT, "note": {"$redacted": "secret"}}
    assert call.unknown == {"/note": Gone.REDACTED}
    assert (call.revision, call.contract) == ("sha256:then", TOOL.pin)
    assert call.inputs == {"effect": "read", "risk": "low", "phase": "acting"}


def test_its_judgement_has_all_that_the_event_tells() -> None:
    judged = recorded(a_known_case(LAW, dict(SENT))).judged
    assert (judged.effect, judged.status, judged.rule) == (DecisionEffect.ALLOW, Status.OK, "main")
    assert (judged.does, judged.risk, judged.phase) == (Effect.READ, Risk.LOW, "acting")
    assert judged.matched == ("main",)
    assert [(each.pointer, each.kind, each.is_known) for each in judged.constraints] == [
        ("/amount", "max", False)
    ]
    assert [(each.id, each.amount, each.maximum) for each in judged.limits] == [("l", 3.5, None)]
    assert judged.keep == ("/id",)
    assert judged.shadow == (("soon", "deny"),)


def test_when_it_came_in_is_known_to_the_microsecond_where_that_counts() -> None:
    assert recorded(a_known_case(LAW, dict(SENT))).at == NOW


def test_elsewhere_the_time_of_the_event_is_near_enough() -> None:
    assert recorded(a_case()).at == NOW + timedelta(milliseconds=5)


def test_what_a_call_is_about_is_told_by_its_method_or_by_itself() -> None:
    resource = a_case(tool=a_resource(), call=a_call(method=Method.READ_RESOURCE))
    assert recorded(resource).kind is Kind.RESOURCE
    prompt = a_case(tool=a_prompt(), call=a_call(method=Method.COMPLETE))
    assert recorded(prompt).kind is Kind.PROMPT


def test_places_that_the_event_names_are_unknown_too() -> None:
    event = event_of(a_known_case(LAW, dict(SENT)), masked=("/arguments/id", "/other"))
    call = reading.recorded(reading.told(event))
    assert call.unknown == {"/note": Gone.REDACTED, "/id": Gone.REDACTED}


def told(**changes: Any) -> reading.Told:
    body = to_bytes(an_event(**changes), WRITER)
    return reading.told(StoredEvent(seq=9, body=body).json())


def test_an_intent_that_was_kept_says_that_the_call_was_sent_and_with_what() -> None:
    call = recorded(a_known_case(LAW, dict(SENT)))
    sent = reading.with_event(call, told(stage=Stage.STARTED, body={"arguments": {"amount": 1}}))
    assert (sent.is_sent, sent.final) == (True, {"amount": 1})
    plain = reading.with_event(call, told(stage=Stage.STARTED, body={}))
    assert (plain.is_sent, plain.final) == (True, None)


def test_the_final_event_says_how_it_ended() -> None:
    body = {"status": "timeout", "code": "c", "executed": "unknown", "rule": "main"}
    event = told(stage=Stage.FAILED, body=body)
    ended = reading.with_event(recorded(a_case()), event).ended
    assert event.is_end
    assert ended is not None
    assert (ended.status, ended.code, ended.executed, ended.rule, ended.seq) == (
        Status.TIMEOUT,
        "c",
        Execution.UNKNOWN,
        "main",
        9,
    )


def test_side_effects_are_gathered() -> None:
    body = {
        "op": "op_1",
        "outcome": "known",
        "executed": "yes",
        "object": {"type": "crm.note", "id": "n-1"},
        "compensates": "op_0",
    }
    event = told(kind="side_effect", stage=Stage.RECORDED, body=body)
    (effect,) = reading.with_event(recorded(a_case()), event).effects
    assert (effect.op, effect.object_type, effect.object_id, effect.compensates) == (
        "op_1",
        "crm.note",
        "n-1",
        "op_0",
    )


def approved(state: ApprovalState, choice: Choice | None) -> reading.Told:
    approval = replaced(an_approval(), state=state)
    word = None
    if choice is not None:
        ruling = Ruling(cast=Cast.DENIED, approval=approval)
        word = Word(approver=an_approver(), ruling=ruling, choice=choice, reason="too much")
    stage = Stage.REQUESTED if word is None else Stage.DECIDED
    event = approvals.event(approval, stage, REDACTOR, id="e", at=NOW, word=word)
    return reading.told(StoredEvent(seq=4, body=to_bytes(event, WRITER)).json())


def test_what_people_said_is_kept_with_the_call_that_asked() -> None:
    asked = approved(ApprovalState.PENDING, None)
    call = reading.with_event(recorded(a_case()), asked)
    assert call.asked is not None
    assert (call.asked.state, call.asked.words) == ("pending", ())
    body = approved(ApprovalState.DENIED, Choice.DENY)
    call = reading.with_event(
        call, replaced(body, body={**body.body, "approval": call.asked.approval})
    )
    assert call.asked is not None
    assert call.asked.is_denied
    assert [(each.by, each.choice, each.reason) for each in call.asked.words] == [
        ("lea", "deny", "too much")
    ]


def test_other_events_change_nothing() -> None:
    call = recorded(a_case())
    assert reading.with_event(call, told(kind="retrieval", stage=Stage.RECORDED)) == call


def test_a_question_of_a_server_is_no_decision_about_the_call() -> None:
    assert not told(kind="authorization", stage=Stage.STARTED, body={"arguments": {}}).is_decision
    assert reading.told(event_of(a_case())).is_decision
