from dataclasses import replace
from typing import Any

import pytest

from gateway.replay.oracle import Answer
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Status
from gateway.types.tools import Contract, Risk, RiskRaise, WhenTainted
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case, a_contract, a_prompt
from tests.helpers.replays import (
    TOOL,
    a_known_case,
    a_law,
    a_secret_note,
    again,
    decided,
    places,
    policy,
    recorded,
    rule,
)

URGENT = RiskRaise(when="args.note == 'urgent'", reason="in a hurry", risk=Risk.HIGH)
LARGE = RiskRaise(when="args.amount > 5.0", reason="much", risk=Risk.HIGH)


def under(then: Contract, now: Contract, text: str = policy(rule()), **sent: Any) -> Answer:
    law, other = a_law(text, then), a_law(text, now, id="sha256:now")
    call = recorded(a_known_case(law, {"note": "urgent", **sent}))
    return again(call, law, other)


def with_property(name: str, schema: dict[str, Any]) -> Contract:
    inputs: Any = TOOL.definition["inputSchema"]
    changed = {**inputs, "properties": {**inputs["properties"], name: schema}}
    definition = {**TOOL.definition, "inputSchema": changed}
    return replace(a_secret_note(), definition=definition, pin="sha256:new")


def test_a_schema_is_judged_by_what_is_known() -> None:
    other = with_property("amount", {"type": "number", "maximum": 5})
    assert decided(under(a_secret_note(), other, amount=3)).effect is DecisionEffect.ALLOW
    refused = decided(under(a_secret_note(), other, amount=9))
    assert (refused.status, refused.code) == (Status.INVALID_ARGUMENTS, "schema")


def test_another_schema_of_an_unknown_argument_leaves_it_open() -> None:
    other = with_property("note", {"type": "string", "maxLength": 3})
    assert places(under(a_secret_note(), other)) == ["/arguments/note"]


def test_arguments_that_did_not_match_still_do_not() -> None:
    refused = decided(under(a_secret_note(), a_secret_note(), note="n" * 30))
    assert refused.status is Status.INVALID_ARGUMENTS


def test_the_same_conditions_raise_the_class_as_they_did() -> None:
    contract = a_secret_note(raises=(URGENT,))
    scoped = replace(contract, timeout_s=3.0)
    assert decided(under(contract, scoped)).risk is Risk.HIGH
    assert decided(under(contract, scoped, note="calm")).risk is Risk.LOW


def test_a_new_condition_on_an_unknown_argument_leaves_the_class_open() -> None:
    found = under(a_secret_note(), a_secret_note(raises=(URGENT,)))
    assert places(found) == ["/arguments/note"]


def test_a_condition_on_what_is_known_raises_it() -> None:
    then, now = a_secret_note(raises=(URGENT,)), a_secret_note(raises=(LARGE,))
    assert decided(under(then, now, amount=9)).risk is Risk.HIGH
    assert decided(under(then, now, amount=3)).risk is Risk.LOW


def test_taint_that_nobody_looked_up_leaves_open_who_minds_it() -> None:
    minding = a_secret_note(when_tainted=WhenTainted.DENY)
    assert places(under(a_secret_note(), minding)) == ["run.tainted"]
    other = replace(minding, timeout_s=3.0)
    assert decided(under(minding, other)).effect is DecisionEffect.ALLOW


@pytest.mark.parametrize("tone", ["jane@example.org", 7])
def test_a_prompt_is_admitted_as_it_was(tone: Any) -> None:
    text = policy({"id": "p", "decision": "allow", "match": {"prompts": ["*"]}})
    law, prompt = a_law(text), a_prompt()
    call = a_call(arguments={"who": tone, "mail": "x@example.org"}, method=Method.GET_PROMPT)
    case = replaced(a_case(tool=prompt, contract=a_contract(prompt)), call=call, revision=law)
    found = decided(again(recorded(case), law, law))
    assert (found.status is Status.INVALID_ARGUMENTS) is (tone == 7)


def test_a_definition_that_was_not_the_reviewed_one_is_refused_first() -> None:
    law = a_law(policy(rule()), a_secret_note())
    case = a_known_case(law, {"note": "x"}, tool=replace(TOOL, pin="sha256:other"))
    assert decided(again(recorded(case), law, law)).status is Status.TOOL_CHANGED
