from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest

from gateway.events import build, sealing
from gateway.events.redact import Redactor
from gateway.events.retrievals import Document
from gateway.types import repeats
from gateway.types.audit import Level, SealedCopy
from gateway.types.calls import Method
from gateway.types.causes import OWN
from gateway.types.decisions import (
    Constraint,
    Decision,
    DecisionEffect,
    Inputs,
    Limit,
    OutputPolicy,
    RowCount,
    RowFilter,
    ShadowDecision,
)
from gateway.types.events import Event, EventKind, Stage
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    WrittenObject,
)
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution, OpState
from gateway.types.outcomes import Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.relay import AskOutcome, Inquiry
from gateway.types.runs import Phase
from gateway.types.tools import DocumentPaths, Effect, Retrieval, Risk, Sensitivity
from tests.events.test_effects import an_effect, an_operation
from tests.helpers.cases import NOW, a_call, a_contract, a_prompt, a_resource, a_tool, an_actor

REDACTOR = Redactor(lambda tenant: tenant.encode())
ALLOWED = Decision(
    effect=DecisionEffect.ALLOW,
    code="allowed",
    reason="reads are fine",
    rule="reads",
    place="policies/a.yaml:3",
    matched=("reads", "limits"),
    constraints=(Constraint(pointer="/limit", kind="max", value=10, rule="limits"),),
    limits=(Limit(id="rate", key="sam", maximum=5, window_s=60, amount=1, rule="limits"),),
    output=OutputPolicy(keep=("/id",)),
    shadow=(ShadowDecision(effect=DecisionEffect.DENY, rule="soon", code="s"),),
    revision="sha256:r",
    inputs=Inputs(effect=Effect.READ, risk=Risk.LOW, phase=Phase.ACTING),
)


ASKED: JsonObject = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "MARK4"}}, "odd"],
    "systemPrompt": "MARK4",
    "maxTokens": 100,
}
SAID: JsonObject = {
    "role": "assistant",
    "model": "m-1",
    "stopReason": "endTurn",
    "content": {"type": "text", "text": "MARK4"},
    "_meta": {"usage": {"inputTokens": 12, "outputTokens": 3}},
}

FORM: JsonObject = {
    "message": "MARK4",
    "requestedSchema": {"type": "object", "properties": {"iban": {}, "token=MARK5": {}}},
}
FILLED: JsonObject = {"action": "accept", "content": {"iban": "MARK4", "token=MARK5": 1}}
INQUIRIES = (
    Inquiry(outcome=AskOutcome.ASKED, method=Method.ELICIT, params=FORM, decision=ALLOWED),
    Inquiry(outcome=AskOutcome.ACCEPT, method=Method.ELICIT, result=FILLED, key="token=MARK5"),
    Inquiry(outcome=AskOutcome.ERROR, method=Method.SAMPLE, params=ASKED, error_code=-1),
    Inquiry(outcome=AskOutcome.FORBIDDEN, method=Method.LIST_ROOTS, params={}, decision=Decision()),
    Inquiry(outcome=AskOutcome.ANSWERED, result={"roots": "MARK4"}),
)


EFFECTS = (
    an_effect(),
    an_effect(
        {"id": "c1", "note": "MARK8", "status": "closed"},
        a_contract(
            object=WrittenObject(type="crm.ticket", id="$result.id"),
            sensitive={"/note": Sensitivity.SECRET},
            compensation=Compensation(
                kind=CompensationClass.COMPENSATABLE, call=CallTemplate(tool="crm.reopen")
            ),
        ),
        arguments={"note": "MARK8"},
        old={"id": "c1", "note": "MARK8 too", "status": "open"},
        operation=an_operation(downstream_key="MARK8", compensates="op_0"),
        evidence="token=MARK8",
        late=True,
    ),
    an_effect({f"f{n}": 1 for n in range(80)}, old={f"f{n}": 0 for n in range(80)}),
    an_effect(
        result=None,
        executed=Execution.UNKNOWN,
        state=OpState.INDETERMINATE,
        status=Status.INDETERMINATE,
    ),
)


def a_read(**changes: Any) -> CallRecord:
    tool = a_tool()
    paths = DocumentPaths(path="/hits/*")
    contract = a_contract(
        tool,
        retrieval=Retrieval(query="/q", documents=paths),
        sensitive={"/id": Sensitivity.PERSONAL},
    )
    rows = RowFilter(path="/hits", where="row.ok", rule="mine", holds=lambda _: True)
    decision = replace(ALLOWED, output=OutputPolicy(rows=(rows,)))
    call = a_call(arguments={"q": "refund token=MARK3", "id": "c1"})
    return a_record(**({"call": call, "contract": contract, "decision": decision} | changes))


def a_record(**changes: Any) -> CallRecord:
    tool = a_tool()
    fields: dict[str, Any] = {
        "call": a_call(arguments={"id": "c1", "note": "to a@x.org", "password": "MARK3"}),
        "parent": None,
        "trace_id": "a" * 32,
        "server_span": "1" * 16,
        "authorize_span": "2" * 16,
        "client_span": "3" * 16,
        "received_ns": 1_000_000,
        "judged_ns": 1_250_000,
        "closed_ns": 4_000_000,
        "tool": tool,
        "contract": a_contract(tool, sensitive={"/id": Sensitivity.PERSONAL}),
        "actor": an_actor(),
        "phase": Phase.ACTING.value,
        "effect": Effect.READ,
        "risk": Risk.LOW,
        "decision": ALLOWED,
        "status": Status.OK,
        "executed": Execution.YES,
        "arguments_digest": "hmac:1",
    }
    return CallRecord(**(fields | changes))


def a_repetition(said: Json = None, effect: Effect = Effect.WRITE) -> CallRecord:
    usual: Json = {"op_id": "op_01KB2Y7Q1C5D6E7F8G9H0J1K2M", "reason": "two, password=MARK8xyz"}
    return a_record(effect=effect, call=a_call(meta={repeats.KEY: said or usual}))


def a_check(cause: str) -> CallRecord:
    return a_record(call=a_call(cause=cause, parent="call_0"))


def an_end(status: Status, **changes: Any) -> Event:
    return build.ended(a_record(status=status, **changes), REDACTOR, id="e", at=NOW)


def every_event() -> Sequence[Event]:
    record = a_record()
    stranger = a_record(tool=None, contract=None, actor=None, decision=None, effect=None, risk=None)
    sent = a_record(sent_ns=2_000_000, answered_ns=3_000_000, error_code=-32000)
    refusal = Refusal(status=Status.DENIED, reason="no", code="c", rule="r")
    original: dict[str, Json] = {"content": [{"type": "text", "text": "token=MARK9"}]}
    when: dict[str, Any] = {"id": "e", "at": NOW}
    return (
        build.authorization(record, REDACTOR, refusal=None, **when),
        build.authorization(record, REDACTOR, refusal=refusal, **when),
        build.authorization(a_repetition(), REDACTOR, refusal=None, **when),
        build.authorization(stranger, REDACTOR, refusal=refusal, **when),
        build.started(record, REDACTOR, **when),
        *(build.started(a_check(cause), REDACTOR, **when) for cause in OWN),
        build.started(
            a_record(downstream_transport="http"), REDACTOR, arguments={"limit": 10}, **when
        ),
        *(build.ended(a_record(status=status), REDACTOR, **when) for status in Status),
        build.ended(sent, REDACTOR, reason="bad token MARK7", original=original, **when),
        build.ended(stranger, REDACTOR, **when),
        build.retrieval(record, REDACTOR, documents=[Document(id="d")], **when),
        build.retrieval(
            a_read(),
            REDACTOR,
            documents=[Document(id="d", version="2", chunk="c")],
            sources=["d", "d"],
            rows=RowCount(kept=1, removed=2, failed=1),
            **when,
        ),
        build.retrieval(record, REDACTOR, documents=[Document(id="d" * 90)] * 500, **when),
        *(build.side_effect(record, REDACTOR, effect=each, **when) for each in EFFECTS),
        build.model_turn(record, REDACTOR, request=ASKED, result=SAID, **when),
        build.model_turn(record, REDACTOR, request={}, result=None, error="token=MARK6", **when),
        *(build.question(record, REDACTOR, inquiry=each, **when) for each in INQUIRIES),
        *at_other_levels(),
    )


def at_other_levels() -> Sequence[Event]:
    """Return events of calls of which less is kept, or more."""
    when: dict[str, Any] = {"id": "e", "at": NOW}
    bare, full = a_record(level=Level.METADATA), a_record(level=Level.FULL)
    original: dict[str, Json] = {"content": [{"type": "text", "text": "token=MARK9"}]}
    many: JsonObject = {"lines": [f"MARK line {number}" for number in range(300)]}
    crowded = a_record(level=Level.METADATA, call=a_call(arguments=many))
    decided = build.authorization(bare, REDACTOR, refusal=None, **when)
    copy = SealedCopy(key="k", wrapped="w", content="c")
    return (
        decided,
        sealing.with_copy(decided, copy, 3),
        sealing.without_copy(decided, "there is no key"),
        build.authorization(crowded, REDACTOR, refusal=None, **when),
        build.ended(crowded, REDACTOR, reason="no MARK line 7", **when),
        build.started(bare, REDACTOR, arguments={"limit": 10}, **when),
        build.ended(bare, REDACTOR, reason="no c1 here", original=original, **when),
        build.ended(full, REDACTOR, result=original, **when),
        build.retrieval(
            a_read(level=Level.METADATA), REDACTOR, documents=[Document(id="d")], **when
        ),
        *(build.side_effect(bare, REDACTOR, effect=each, **when) for each in EFFECTS),
    )


def test_a_call_of_the_gateways_own_names_its_cause_and_the_call_it_is_about() -> None:
    own = build.started(a_check("verification"), REDACTOR, id="e", at=NOW)
    assert (own.call, own.parent, own.body["cause"]) == ("call_1", "call_0", "verification")
    callers = build.started(a_record(), REDACTOR, id="e", at=NOW)
    assert callers.parent == ""
    assert "cause" not in callers.body


def test_a_write_that_was_repeated_on_purpose_says_so_and_why() -> None:
    event = build.authorization(a_repetition(), REDACTOR, refusal=None, id="e", at=NOW)
    said = event.body["repeats"]
    assert isinstance(said, dict)
    assert said["op"] == "op_01KB2Y7Q1C5D6E7F8G9H0J1K2M"
    assert "MARK8" not in str(said)
    for record in (a_record(), a_repetition(effect=Effect.READ), a_repetition("unreadable")):
        event = build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW)
        assert "repeats" not in event.body


def test_an_authorization_says_who_decided_what_by_which_rule() -> None:
    event = build.authorization(a_record(), REDACTOR, refusal=None, id="e", at=NOW)
    assert event.stage is Stage.DECIDED
    assert (event.tenant, event.call, event.span_id) == ("acme", "call_1", "2" * 16)
    body = event.body
    assert (body["decision"], body["status"], body["rule"]) == ("allow", "ok", "reads")
    assert body["place"] == "policies/a.yaml:3"
    assert body["duration_us"] == 250
    assert body["limits"] == [{"id": "rate", "amount": 1, "rule": "limits"}]
    assert body["shadow"] == [{"effect": "deny", "rule": "soon", "code": "s"}]


def test_arguments_are_redacted_by_contract_key_and_form_and_the_places_are_listed() -> None:
    event = build.authorization(a_record(), REDACTOR, refusal=None, id="e", at=NOW)
    assert set(event.masked) == {"/arguments/id", "/arguments/note"}
    assert event.erased == ("/arguments/password",)
    assert "a@x.org" not in str(event.body)


def test_no_secret_comes_through_any_event() -> None:
    """case: OBS-01"""
    assert "MARK" not in str([event.body for event in every_event()])


def test_at_metadata_no_value_is_kept_and_at_full_the_answer_is() -> None:
    events = [event.body for event in at_other_levels()]
    decided, ended, full = events[0], events[6], events[7]
    assert decided["level"] == "metadata"
    assert decided["arguments"] == {
        "id": {"$redacted": "personal", "hmac": ANY, "len": 2},
        "note": {"$redacted": "level", "type": "string", "len": ANY},
        "password": {"$redacted": "secret"},
    }
    assert "original" not in ended
    assert ended["reason"] == "no c1 here"  # too short to be looked for
    assert "[redacted:size]" in str(events[4]["reason"])
    assert full["result"] == {"content": [{"type": "text", "text": ANY}]}
    assert all("query" not in each and not each.get("changes") for each in events)
    named = [each["object"] for each in events if "object" in each]
    assert named
    assert all(isinstance(each, dict) and each["id"] == "" for each in named)


@pytest.mark.parametrize(
    "sent", [{"sent_ns": 2_000_000}, {"op_id": "op_1"}, {"error_code": -32000}]
)
def test_at_metadata_no_word_of_a_server_is_kept(sent: dict[str, Any]) -> None:
    said = 'it answered with an error and says: "Max owes 991234"'
    when: dict[str, Any] = {"id": "e", "at": NOW}
    for level, is_kept in ((Level.METADATA, False), (Level.REQUEST, True)):
        record = a_record(level=level, status=Status.TOOL_FAILED, code="-32000", **sent)
        ended = build.ended(record, REDACTOR, reason=said, **when)
        assert ("991234" in str(ended.body), "reason" in ended.body) == (is_kept, is_kept)
        assert (ended.body["code"], ended.body["error_class"]) == ("-32000", ANY)
        turn = build.model_turn(record, REDACTOR, request={}, result=None, error=said, **when)
        assert ("error" in turn.body) == is_kept


def test_a_refusal_makes_the_authorization_a_denial_whatever_the_policy_said() -> None:
    """case: OBS-05"""
    refusal = Refusal(status=Status.INVALID_ARGUMENTS, reason="`/id` is missing", code="schema")
    event = build.authorization(a_record(decision=None), REDACTOR, refusal=refusal, id="e", at=NOW)
    assert event.body["decision"] == "deny"
    assert event.body["status"] == "invalid_arguments"
    assert event.body["reason"] == "`/id` is missing"


@pytest.mark.parametrize("status", Status)
def test_only_a_call_that_was_carried_out_ends_as_finished(status: Status) -> None:
    """case: OBS-05"""
    event = an_end(status)
    unharmed = status in {Status.OK, Status.INPUT_REQUIRED}
    assert (event.stage is Stage.FINISHED) == unharmed
    assert event.body["status"] == status.value
    assert event.body["duration_us"] == 3_000
    assert event.body["arguments_digest"] == "hmac:1"
    assert ("error_class" in event.body) == (not unharmed)


def test_a_name_that_no_server_has_is_kept_short_and_redacted() -> None:
    stranger = a_record(tool=None, call=a_call("ghp_" + "a1" * 20 + "x" * 500))
    name = build.ended(stranger, REDACTOR, id="e", at=NOW).body["name"]
    assert isinstance(name, str)
    assert "a1a1" not in name
    assert len(name) <= 128


def test_large_arguments_are_kept_as_digest_and_head() -> None:
    rows: list[Json] = [{"n": number, "text": "word " * 20} for number in range(500)]
    record = a_record(call=a_call(arguments={"rows": rows}))
    event = build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW)
    arguments = event.body["arguments"]
    assert isinstance(arguments, dict)
    assert set(arguments) == {"$cut"}


def test_what_a_call_was_about_is_named_with_its_method() -> None:
    prompt = a_prompt()
    record = a_record(tool=prompt, call=a_call("crm__greet", method=Method.GET_PROMPT))
    body = build.ended(record, REDACTOR, id="e", at=NOW).body
    assert (body["method"], body["tool"], body["name"]) == (
        "prompts/get",
        "crm.greet",
        "crm__greet",
    )


def test_of_a_resource_only_its_redacted_uri_is_kept() -> None:
    """case: OBS-01"""
    record = a_record(
        tool=a_resource("crm://n?token=MARK5", exposed_name="weighbridge://crm/crm%3A%2F%2FMARK5"),
        resource="crm://n?token=[redacted]",
        call=a_call("weighbridge://crm/crm%3A%2F%2FMARK5", method=Method.READ_RESOURCE),
    )
    body = build.ended(record, REDACTOR, id="e", at=NOW).body
    assert body["tool"] == body["name"] == "crm://n?token=[redacted]"
    assert "MARK5" not in str(body)


def test_a_model_turn_is_kept_without_a_word_of_it() -> None:
    """case: OBS-01"""
    event = build.model_turn(a_record(), REDACTOR, id="e", at=NOW, request=ASKED, result=SAID)
    assert event.stage is Stage.FINISHED
    assert event.body["model"] == "m-1"
    assert "MARK" not in str(event.body)


def test_a_model_turn_without_an_answer_says_why() -> None:
    event = build.model_turn(
        a_record(), REDACTOR, id="e", at=NOW, request=ASKED, result=None, error="declined"
    )
    assert event.stage is Stage.FAILED
    assert event.body["error"] == "declined"


def test_a_question_says_who_asked_what_by_which_rule_and_how_it_ended() -> None:
    asked, accepted, error, forbidden, _ = (
        build.question(a_record(), REDACTOR, inquiry=each, id="e", at=NOW) for each in INQUIRIES
    )
    stages = [event.stage for event in (asked, accepted, error, forbidden)]
    assert stages == [Stage.STARTED, Stage.FINISHED, Stage.FAILED, Stage.FAILED]
    assert {event.kind for event in (asked, forbidden)} == {EventKind.AUTHORIZATION}
    body = asked.body
    assert (asked.call, body["server"], body["method"]) == ("call_1", "crm", "tools/call")
    assert (body["question"], body["rule"]) == ("elicitation/create", "reads")
    assert str(body["question_digest"]).startswith("hmac-sha256:")
    assert (forbidden.body["decision"], forbidden.body["outcome"]) == ("deny", "forbidden")


def test_a_side_effect_says_what_was_changed_and_hides_what_is_tagged() -> None:
    """case: OBS-01"""
    event = build.side_effect(a_record(), REDACTOR, id="e", at=NOW, effect=EFFECTS[1])
    body = event.body
    assert (body["tool"], body["op"], body["compensates"]) == ("crm.find", "op_1", "op_0")
    assert body["object"] == {"type": "crm.ticket", "id": "c1"}
    assert body["compensation"] == {"class": "compensatable", "tool": "crm.reopen"}
    assert body["changes"] == [
        {"pointer": "/note", "before": {"$redacted": "secret"}, "after": {"$redacted": "secret"}},
        {"pointer": "/status", "before": "open", "after": "closed"},
    ]
    assert event.erased == ("/changes/0/before", "/changes/0/after")
    assert event.masked == ()


def test_the_digests_of_a_side_effect_are_those_of_its_tenant() -> None:
    ours, theirs = (
        build.side_effect(
            a_record(actor=an_actor(tenant=tenant)), REDACTOR, id="e", at=NOW, effect=EFFECTS[1]
        ).body
        for tenant in ("acme", "other")
    )
    assert ours["key"] != theirs["key"]
    assert ours["downstream_key"] != theirs["downstream_key"]


def test_a_reason_that_repeats_a_tagged_argument_is_kept_without_it() -> None:
    call = a_call(arguments={"token": "hyacinth-99", "note": "for hyacinth-99"})
    record = a_record(call=call, contract=a_contract(sensitive={"/token": Sensitivity.SECRET}))
    reason = '`crm` answered with an error and says: "no such person hyacinth-99"'
    ended = build.ended(record, REDACTOR, id="e", at=NOW, reason=reason)
    assert str(ended.body["reason"]).endswith('says: "no such person [redacted:secret]"')
    judged = build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW)
    secret: JsonObject = {"$redacted": "secret"}
    assert judged.body["arguments"] == {"token": secret, "note": secret}
    assert judged.erased == ("/arguments/token", "/arguments/note")


def test_what_a_key_calls_secret_is_kept_in_nothing_that_a_server_repeats() -> None:
    call = a_call(arguments={"login": {"password": "hyacinth-ninety"}, "otp": "123"})
    record = a_record(call=call, level=Level.FULL)
    said: JsonObject = {"content": [{"type": "text", "text": "welcome, hyacinth-ninety (123)"}]}
    ended = build.ended(
        record, REDACTOR, id="e", at=NOW, reason="no login for hyacinth-ninety", result=said
    )
    assert ended.body["reason"] == "no login for [redacted:secret]"
    assert "hyacinth" not in str(ended.body)
    failed = build.ended(record, REDACTOR, id="e", at=NOW, reason="no", original=said)
    assert "hyacinth" not in str(failed.body)


def test_a_call_of_the_gateway_hides_what_another_one_was_given_in_confidence() -> None:
    hidden = {"hyacinth-99": Sensitivity.SECRET, "4711": Sensitivity.SECRET}
    call = replace(a_call(arguments={"t": "hyacinth-99", "p": 4711}), concealed=hidden)
    record, effect = a_record(call=call), an_effect(arguments=call.arguments)
    events = [
        build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW),
        build.started(record, REDACTOR, id="e", at=NOW, arguments=call.arguments),
        build.ended(record, REDACTOR, id="e", at=NOW, reason="no row 4711 of hyacinth-99"),
        build.side_effect(record, REDACTOR, id="e", at=NOW, effect=effect),
    ]
    bodies = [str(event.body) for event in events]
    assert not [body for body in bodies if "hyacinth" in body or "4711" in body]
