"""What an `authorization` says of the decision about its call."""

from gateway.events import decisions
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.remembered import by_identity


@by_identity(1024)
def plain(decision: Decision) -> tuple[JsonObject, JsonObject]:
    """Return the parts of an event that a decision alone makes up; policy makes few of these."""
    return verdict(decision, None, "", decision.revision), grounds(decision)


def verdict(decision: Decision, refusal: Refusal | None, reason: str, revision: str) -> JsonObject:
    """Return what was decided, in the words of the refusal if there is one."""
    denied = refusal is not None or decision.effect is DecisionEffect.DENY
    return {
        "decision": str(DecisionEffect.DENY) if denied else str(decision.effect),
        "status": str(Status.OK) if refusal is None else str(refusal.status),
        "code": (refusal.code if refusal is not None else "") or decision.code,
        "reason": reason,
        "rule": (refusal.rule if refusal is not None else "") or decision.rule,
        "revision": decision.revision or revision,
    }


def grounds(decision: Decision) -> JsonObject:
    """Return what a decision was made from, and what it demands."""
    told: JsonObject = {}
    if decision.place:
        told["place"] = decision.place
    if decision.matched:
        told["matched"] = list(decision.matched)
    if decision.inputs is not None:
        told["inputs"] = decisions.inputs(decision.inputs)
    return told | decisions.obligations(decision)
