"""What goes to a server, and what it may come back with."""

import pytest

from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound


@pytest.mark.parametrize(
    ("capabilities", "may_ask"),
    [
        ({}, False),
        ({"extensions": {}}, False),
        ({"elicitation": {}}, True),
        ({"sampling": {}}, True),
        ({"roots": {}, "extensions": {}}, True),
    ],
)
def test_a_server_may_ask_only_with_a_capability_to_answer(
    capabilities: JsonObject, may_ask: bool
) -> None:
    outbound = Outbound(
        method=Method.CALL_TOOL, params={}, deadline_s=1, is_read=True, capabilities=capabilities
    )
    assert outbound.may_ask is may_ask
