"""What may be asked of a client."""

import pytest

from gateway.listen.asking import can_answer
from gateway.types.json import JsonObject

URL: JsonObject = {"mode": "url", "url": "https://x"}


@pytest.mark.parametrize(
    ("capabilities", "method", "params", "may"),
    [
        ({}, "elicitation/create", {}, False),
        ({"elicitation": {}}, "elicitation/create", {}, True),
        ({"elicitation": {}}, "elicitation/create", URL, False),
        ({"elicitation": {"url": {}}}, "elicitation/create", URL, True),
        ({"elicitation": {"url": {}}}, "elicitation/create", {"mode": "form"}, False),
        ({"elicitation": {"form": {}, "url": {}}}, "elicitation/create", {}, True),
        ({"elicitation": {}}, "elicitation/create", {"mode": ["url"]}, False),
        ({"elicitation": True}, "elicitation/create", {}, False),
        ({"sampling": {}}, "sampling/createMessage", {}, True),
        ({"sampling": {}}, "sampling/createMessage", {"tools": []}, False),
        ({"sampling": {"tools": {}}}, "sampling/createMessage", {"tools": []}, True),
        ({"roots": {}}, "roots/list", {}, True),
        ({"roots": {}}, "notifications/message", {}, False),
        ({"own": {}}, "own/ask", {}, False),
    ],
)
def test_only_what_a_client_declared_may_be_asked(
    capabilities: JsonObject, method: str, params: JsonObject, may: bool
) -> None:
    assert can_answer(capabilities, method, params) is may
