"""Builders of what approvers are shown."""

import hashlib
from typing import Any

from gateway import jsontext
from gateway.approvals.masking import Sight
from gateway.approvals.presenting import Asked, present
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_contract, an_actor


def a_digest(value: Json) -> str:
    """Stand for the keyed digest of a value."""
    return f"hmac-sha256:{hashlib.sha256(jsontext.canonical(value)).hexdigest()[:32]}"


def a_sight(arguments: JsonObject, **safe: Json) -> Sight:
    """Return arguments of which `safe` stands where the redactor has hidden something."""
    return Sight(whole=arguments, safe={**arguments, **safe})


def asked(arguments: JsonObject | Sight | None = None, /, **changes: Any) -> Asked:
    """Return a call that people are asked about."""
    fields: dict[str, Any] = {
        "contract": a_contract(effect=Effect.WRITE),
        "server": "crm",
        "arguments": arguments if isinstance(arguments, Sight) else a_sight(arguments or {}),
        "effect": Effect.WRITE,
        "risk": Risk.HIGH,
        "risk_reason": "contract",
        "actor": an_actor(),
        "run_id": "run_1",
        "phase": "acting",
        "rule": "crm.large",
        "reason": "large ones need a person",
    }
    return Asked(**(fields | changes))


def a_document(arguments: JsonObject | Sight | None = None, /, **changes: Any) -> JsonObject:
    """Return the document about such a call."""
    return present(asked(arguments, **changes), a_digest)
