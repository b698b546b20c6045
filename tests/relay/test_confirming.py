"""The question to the caller's own client, and its answer."""

import pytest

from gateway.relay import confirming
from gateway.types.approvals import Choice
from gateway.types.json import JsonObject
from tests.helpers.approvals import an_approval
from tests.helpers.presenting import a_document


@pytest.mark.parametrize(
    ("capabilities", "shows_forms"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": True}, False),
        ({}, False),
    ],
)
def test_a_client_declares_that_it_shows_forms(capabilities: JsonObject, shows_forms: bool) -> None:
    assert confirming.can_ask(capabilities) is shows_forms


def test_the_form_shows_the_call_and_has_no_default() -> None:
    form = confirming.form(a_document(), an_approval())
    message, schema = form["message"], form["requestedSchema"]
    assert isinstance(message, str)
    assert an_approval().binding[7:15] in message
    assert isinstance(schema, dict)
    assert schema["properties"] == {
        "decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]}
    }


def test_a_value_may_have_to_be_typed() -> None:
    document: JsonObject = {**a_document(), "confirm": "/amount", "arguments": {"amount": 12}}
    form = confirming.form(document, an_approval())
    schema = form["requestedSchema"]
    assert isinstance(schema, dict)
    assert schema["required"] == ["decision", "typed"]
    assert confirming.expected(document) == "12"


@pytest.mark.parametrize(
    ("content", "choice"),
    [
        ({"decision": "approve", "typed": "12"}, Choice.APPROVE),
        ({"decision": "approve", "typed": " 12 "}, Choice.APPROVE),
        ({"decision": "approve", "typed": "13"}, None),
        ({"decision": "approve", "typed": 12}, None),
        ({"decision": "approve"}, None),
        ({"decision": "deny"}, Choice.DENY),
    ],
)
def test_a_yes_without_what_had_to_be_typed_is_none(
    content: JsonObject, choice: Choice | None
) -> None:
    said: JsonObject = {"action": "accept", "content": content}
    assert confirming.choice(said, typed="12") is choice
