"""What approvers are shown of a judged case."""

from typing import Any

from gateway import jsontext
from gateway.case import Case
from gateway.crossing.asking_people import NOTE, presented
from gateway.events.redact import Redactor
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk, Sensitivity
from tests.helpers.cases import a_call, a_case, a_contract
from tests.helpers.operations import wanted

REDACTOR = Redactor(lambda tenant: tenant.encode())
ARGUMENTS: JsonObject = {
    "to": "ana@acme.example",
    "pin": "4711",
    "auth": "Bearer abcdefghijklmnopqrstuvwxyz012345",
    "key": "made by a model",
}


def held(**changes: Any) -> Case:
    contract = a_contract(
        effect=Effect.WRITE,
        sensitive={"/pin": Sensitivity.SECRET, "/to": Sensitivity.PERSONAL},
        idempotency=Idempotency(inject=Injection(place=InjectPlace.ARGUMENT, name="/key")),
    )
    decision = Decision(
        effect=DecisionEffect.REQUIRE_APPROVAL, rule="crm.large", reason="large", risk=Risk.HIGH
    )
    fields: dict[str, Any] = {
        "contract": contract,
        "arguments": ARGUMENTS,
        "effect": Effect.WRITE,
        "risk": Risk.CRITICAL,
        "risk_reason": "cannot be undone",
        "decision": decision,
    }
    return a_case(**(fields | changes))


def shown(case: Case, before: JsonObject | None = None) -> JsonObject:
    return presented(case, wanted(tenant="acme"), before, REDACTOR)


def test_approvers_see_whom_it_is_done_to_and_no_secret() -> None:
    document = shown(held())
    written = jsontext.dump(document)
    assert b"ana@acme.example" in written
    assert b"4711" not in written
    assert b"abcdefghijklmnop" not in written
    assert document["masked"] == ["/pin", "/auth"]


def test_what_the_gateway_overwrites_is_not_shown_as_if_it_were_sent() -> None:
    document = shown(held())
    assert b"made by a model" not in jsontext.dump(document)
    assert document["injected"] == {"where": "arg", "name": "/key"}


def test_the_words_about_a_call_are_those_of_its_verdict() -> None:
    document = shown(held(held="`/to` is doubtful", notes=("`/x` as well", "`/to` is doubtful")))
    assert document["rule"] == "crm.large"
    assert document["reason"] == "large"
    assert document["risk"] == "critical"
    assert document["risk_reason"] == "cannot be undone"
    assert document["provenance"] == ["`/to` is doubtful", "`/x` as well"]


def test_a_class_that_a_rule_raised_is_told_as_the_policy_s() -> None:
    assert shown(held(risk=Risk.HIGH))["risk_reason"] == "by the policy"


def test_what_changed_is_told_against_the_request_before() -> None:
    document = shown(held(), {**ARGUMENTS, "to": "bob@acme.example", "pin": "0815", "key": "x"})
    changes = document["changes"]
    assert isinstance(changes, list)
    assert [each["pointer"] for each in changes if isinstance(each, dict)] == ["/to", "/pin"]
    assert b"0815" not in jsontext.dump(document)


def test_words_of_the_agent_are_cut_and_hide_no_secret() -> None:
    token = "Bearer abcdefghijklmnopqrstuvwxyz012345"
    long = shown(held(call=a_call(meta={NOTE: "x" * 1990 + " " + token + "y" * 3000})))["note"]
    assert isinstance(long, str)
    assert len(long) == 2001
    assert long.endswith("…")
    assert "abcdefg" not in long
    assert shown(held(call=a_call(meta={NOTE: "as asked"})))["note"] == "as asked"
    assert shown(held(call=a_call(meta={NOTE: 1})))["note"] == ""
