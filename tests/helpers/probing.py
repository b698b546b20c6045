"""Sides and targets for tests of what is made up to try rules with."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.policy.axes import Side
from gateway.policy.methods import Target
from gateway.policy.probes import Probe
from gateway.types.calls import AuthMethod, Method
from gateway.types.causes import Cause
from gateway.types.json import Json
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind
from tests.policy.example import CONTRACTS, NOW, POLICY, policy

REFUND = Target(Method.CALL_TOOL, Kind.TOOL, "payments.refund", "payments")
SEARCH = Target(Method.CALL_TOOL, Kind.TOOL, "crm.search_customers", "crm")
_CONTRACTS = {each.tool: each for each in CONTRACTS}


def a_side(
    text: str = POLICY,
    *,
    tool: str = REFUND.key,
    guards: Mapping[str, str] | None = None,
    terms: Mapping[str, str] | None = None,
    contract: Contract | None = None,
    sets: Mapping[str, Sequence[Json]] | None = None,
) -> Side:
    compiled = policy(text)
    return Side(
        rules=compiled.rules,
        sets=compiled.sets if sets is None else sets,
        guards=guards or {},
        terms=terms or guards or {},
        contract=contract or _CONTRACTS.get(tool),
    )


def a_probe(**changes: Any) -> Probe:
    fields: dict[str, Any] = {
        "target": REFUND,
        "arguments": {},
        "roles": (),
        "scopes": (),
        "tenant": "acme",
        "user": "sam",
        "client": "desk",
        "authenticated_by": AuthMethod.JWT,
        "cause": Cause.CALLER,
        "phase": Phase.ACTING,
        "now": NOW,
        "run": None,
    }
    return Probe(**(fields | changes))
