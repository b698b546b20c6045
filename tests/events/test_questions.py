"""What is kept of questions of servers."""

import pytest

from gateway.events import questions
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.events import Stage
from gateway.types.json import Json, JsonObject
from gateway.types.relay import AskOutcome, Inquiry

ALLOWED = Decision(
    effect=DecisionEffect.ALLOW, rule="ask", code="c", reason="r", place="p.yaml:3", revision="v"
)
FORM: JsonObject = {
    "message": "Which account?",
    "requestedSchema": {"type": "object", "properties": {"iban": {}, "name": {}}},
    "_meta": {"weighbridge/server": "crm"},
}


def described(inquiry: Inquiry) -> JsonObject:
    return questions.described(inquiry, digest=digest, text=lambda text: f"~{text}")


def digest(value: Json) -> str:
    return f"<{len(str(value))}>"


def test_a_form_is_described_by_mode_fields_digest_and_the_rule_that_let_it_through() -> None:
    asked = Inquiry(
        outcome=AskOutcome.ASKED, method=Method.ELICIT, params=FORM, decision=ALLOWED, key="one"
    )
    bare = {key: member for key, member in FORM.items() if key != "_meta"}
    assert described(asked) == {
        "outcome": "asked",
        "question": "elicitation/create",
        "key": "~one",
        "mode": "form",
        "question_digest": digest(bare),
        "fields": ["~iban", "~name"],
        "decision": "allow",
        "code": "c",
        "reason": "~r",
        "rule": "ask",
        "revision": "v",
        "place": "p.yaml:3",
    }


def test_of_an_answer_only_names_of_fields_and_digests_are_left() -> None:
    answer: JsonObject = {"action": "accept", "content": {"iban": "MARK1"}, "_meta": {"a": "MARK2"}}
    said = described(Inquiry(outcome=AskOutcome.ACCEPT, method=Method.ELICIT, result=answer))
    assert said["answer"] == [{"name": "~iban", "digest": digest("MARK1")}]
    assert said["answer_digest"] == digest({"action": "accept", "content": {"iban": "MARK1"}})
    assert "MARK" not in str(said)


def test_what_a_model_or_a_list_of_roots_says_is_one_digest() -> None:
    answer: JsonObject = {"role": "assistant", "model": "m", "content": {"text": "MARK"}}
    said = described(Inquiry(outcome=AskOutcome.ANSWERED, method=Method.SAMPLE, result=answer))
    assert said.keys() == {"outcome", "question", "answer_digest"}


def test_an_answer_whose_form_tells_nothing_has_no_question() -> None:
    assert described(Inquiry(outcome=AskOutcome.ANSWERED, result={})).keys() == {
        "outcome",
        "answer_digest",
    }


def test_names_from_outside_are_few_and_short() -> None:
    many: JsonObject = {"properties": {f"{n}" * 200: {} for n in range(500)}}
    asked = Inquiry(
        outcome=AskOutcome.ASKED,
        method=Method.ELICIT,
        params={"mode": "fax", "requestedSchema": many},
        key="k" * 500,
    )
    said = described(asked)
    fields = said["fields"]
    assert isinstance(fields, list)
    assert len(fields) == 100
    assert max(len(str(name)) for name in [*fields, said["key"]]) <= 129
    assert said["mode"] == ""


@pytest.mark.parametrize("outcome", AskOutcome)
def test_each_outcome_has_its_stage(outcome: AskOutcome) -> None:
    failed = {"error", "timeout", "forbidden", "withdrawn", "unsent"}
    wanted = Stage.FAILED if outcome in failed else Stage.FINISHED
    assert questions.stage_of(outcome) is (Stage.STARTED if outcome is AskOutcome.ASKED else wanted)
