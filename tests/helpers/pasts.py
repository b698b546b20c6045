"""Calls of the past, every field of which can be set."""

from typing import Any

from gateway.policy.past import Past
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Kind
from tests.policy.example import NOW, SAM

ARGUMENTS = {"request_id": "r", "order_id": "o", "amount": 50.0, "currency": "EUR"}


def a_past(**changes: Any) -> Past:
    fields: dict[str, Any] = {
        "call": "call_1",
        "at": NOW,
        "actor": SAM,
        "kind": Kind.TOOL,
        "method": Method.CALL_TOOL,
        "key": "payments.refund",
        "server": "payments",
        "arguments": ARGUMENTS,
        "decided": DecisionEffect.ALLOW,
        "rule": "payments.refund.small",
    }
    return Past(**(fields | changes))
