"""What an event tells of a policy's word beside its effect: names and amounts, never a value."""

from gateway.types.decisions import Constraint, Decision, Inputs, Limit, ShadowDecision
from gateway.types.json import Json, JsonObject


def obligations(decision: Decision) -> JsonObject:
    """Return what is demanded of a call, and what rules in shadow mode would have decided."""
    output = decision.output
    if not (decision.constraints or decision.limits or output.keep or decision.shadow):
        return {}  # of most reads
    parts: JsonObject = {
        "constraints": [constraint(each) for each in decision.constraints],
        "limits": [_limit(limit) for limit in decision.limits],
        "kept": list(output.keep),
        "shadow": [_shadow(shadow) for shadow in decision.shadow],
    }
    return {name: part for name, part in parts.items() if part}


def inputs(inputs: Inputs) -> JsonObject:
    """Return what was decided by; the class before rules raised it where they did."""
    told: JsonObject = {
        "effect": str(inputs.effect),
        "risk": str(inputs.risk),
        "phase": str(inputs.phase),
    }
    if inputs.given is not None and inputs.given is not inputs.risk:
        told["given"] = str(inputs.given)
    return told


def constraint(constraint: Constraint) -> Json:
    """Return where a constraint writes, and whose it is."""
    # Without the value: it may be personal, and the final arguments are kept where they differ.
    return {"pointer": constraint.pointer, "kind": constraint.kind, "rule": constraint.rule}


def _limit(limit: Limit) -> Json:
    return {"id": limit.id, "amount": limit.amount, "rule": limit.rule}


def _shadow(shadow: ShadowDecision) -> Json:
    return {"effect": str(shadow.effect), "rule": shadow.rule, "code": shadow.code}
