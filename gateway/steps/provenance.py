"""Step 4: did each argument that must come from somewhere come from there?"""

from dataclasses import replace

from gateway import jsontext
from gateway.case import Case, Origin
from gateway.types.json import Json, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import OnFail, ProvenanceRule, Source, SourceKind

_ABSENT = object()


def check(case: Case) -> Case | Refusal:
    """Hold each rule of the contract against what the store has seen for this actor."""
    for rule in case.contract.provenance:
        value = _at(case.arguments, rule.pointer)
        if value is _ABSENT or _came_from(case, rule, value):
            continue
        reason = f"`{rule.pointer}` must come from {_accepted(rule)}, and did not"
        match rule.on_fail:
            case OnFail.DENY:
                return Refusal(
                    status=Status.PROVENANCE_FAILED,
                    code="origin_unknown",
                    reason=reason,
                    details=({"pointer": rule.pointer, "accepted": _accepted(rule)},),
                )
            case OnFail.APPROVE:
                case = replace(case, held=case.held or reason)
            case OnFail.LOG:
                case = replace(case, notes=(*case.notes, reason))
    return case


def _at(arguments: Json, pointer: JsonPointer) -> object:
    try:
        return jsontext.get(arguments, pointer)
    except KeyError:
        return _ABSENT


def _came_from(case: Case, rule: ProvenanceRule, value: object) -> bool:
    return any(_matches(case, rule, source, value) for source in rule.sources)


def _matches(case: Case, rule: ProvenanceRule, source: Source, value: object) -> bool:
    match source.kind:
        case SourceKind.RESULTS:
            origins = case.facts.origins.get(rule.pointer, ())
            typed = [origin for origin in origins if origin.type in source.operands]
            return bool(typed) and _related(case, rule, typed)
        case SourceKind.ACTOR:
            mine = {"user": case.actor.user, "tenant": case.actor.tenant}
            return any(value == mine.get(operand, _ABSENT) for operand in source.operands)
        case SourceKind.ALLOWLIST:
            return isinstance(value, str) and value in source.operands


def _related(case: Case, rule: ProvenanceRule, origins: list[Origin]) -> bool:
    if not rule.same_record_as:
        return True
    others = {origin.record for origin in case.facts.origins.get(rule.same_record_as, ())}
    return any(origin.record in others for origin in origins)


def _accepted(rule: ProvenanceRule) -> str:
    said = " or ".join(f"{source.kind}({', '.join(source.operands)})" for source in rule.sources)
    related = f" in the same record as `{rule.same_record_as}`" if rule.same_record_as else ""
    return said + related
