"""Step 4: did each argument that must come from somewhere come from there?"""

from collections.abc import Sequence

from gateway.case import Case, Origin
from gateway.crossing import bringing, written
from gateway.runs import forms, origins
from gateway.runs.origins import Asked
from gateway.types.decisions import Constraint
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import (
    OnFail,
    ProvenanceRule,
    Source,
    SourceKind,
    SourceTrust,
    WhenTainted,
)
from gateway.types.values import replaced

_UNNAMED = "look the value up with a tool first, then call again with what that returned"
_COLLECT = (
    "have the run collect it first, by `run_set_field` or the host; then call again with that"
)
_ALLOWED = "call again with a value that is allowed there"
_NEAR = "if you meant `{}`, call again with that; else look the value up with a tool first"


def check(case: Case) -> Case | Refusal:
    """Hold each rule of the contract against what the store has seen for this run or actor."""
    contract = case.contract
    if contract.when_tainted is not None and case.is_tainted:
        judged = _tainted(case, contract.when_tainted)
        if isinstance(judged, Refusal):
            return judged
        case = judged
    if not contract.provenance or case.call.cause:
        return case  # what the gateway itself calls is made of what it has kept
    for rule in contract.provenance:
        for pointer, value in origins.spots(rule, case.arguments or {}):
            if came_from(case, rule, pointer, value):
                continue
            judged = _failed(case, rule, pointer)
            if isinstance(judged, Refusal):
                return judged
            case = judged
    return case


def again(case: Case, before: JsonObject, constraints: Sequence[Constraint]) -> Case | Refusal:
    """Hold the rules against the final arguments, where policy wrote what a model has a say in."""
    new = written.changed(case, before, constraints)
    if not new:
        return case
    judged, now = replaced(case, facts=written.traced(case, new)), case.arguments or {}
    for rule in case.contract.provenance:
        for pointer, value in origins.spots(rule, now):
            places = (pointer, *(place for place, _ in origins.partners(rule, pointer, now)))
            if new.keys().isdisjoint(places) or came_from(judged, rule, pointer, value):
                continue
            said = _failed(judged, rule, pointer)
            if isinstance(said, Refusal):
                return said
            judged = said
    return replaced(judged, facts=case.facts)


def asked(case: Case) -> dict[JsonPointer, Asked]:
    """Return the values whose origin has to be looked up before the case can be judged.

    Those of fields are among them, since a rule may write one into an argument.
    """
    if not case.contract.provenance or case.call.cause:
        return {}
    rules, fields = case.contract.provenance, written.fields_of(case)
    types = frozenset[str]().union(*(origins.accepted_types(rule, fields) for rule in rules))
    of_fields = {
        written.of_field(name): Asked(value=each.value, types=frozenset({each.source}))
        for name, each in fields.items()
        if each.source in types
    }
    return origins.asked(rules, case.call.arguments, fields) | of_fields


def doubtful(case: Case) -> frozenset[JsonPointer]:
    """Return the arguments, as they were sent, that nothing but a result could account for.

    Whether one did is looked up next; other arguments are not asked for that.
    """
    sent: JsonObject = case.call.arguments
    judged = replaced(case, arguments=sent)
    return frozenset(
        pointer
        for rule in case.contract.provenance
        for pointer, value in origins.spots(rule, sent)
        if not came_from(judged, rule, pointer, value)
    )


def came_from(case: Case, rule: ProvenanceRule, pointer: JsonPointer, value: Json) -> bool:
    """Say whether one of a rule's sources accounts for the value at a pointer."""
    return any(_matches(case, rule, source, pointer, value) for source in rule.sources)


def _matches(
    case: Case, rule: ProvenanceRule, source: Source, pointer: JsonPointer, value: Json
) -> bool:
    match source.kind:
        case SourceKind.RESULTS:
            if source.within_run and not case.run_id:
                return False
            found = _seen(case, rule, pointer, frozenset(source.operands))
            return bool(found) and _related(case, rule, pointer, found)
        case SourceKind.COLLECTED:
            return _collected(case, rule, source.operands[0], pointer, value)
        case SourceKind.ACTOR:
            mine = {"user": case.actor.user, "tenant": case.actor.tenant}
            return any(value == mine.get(operand) for operand in source.operands)
        case SourceKind.ALLOWLIST:
            return isinstance(value, str) and value in source.operands
        case SourceKind.CONSTANT:
            return _is_constant(value, source.constant)
        case SourceKind.COMPUTED:
            return origins.lies_within(value, source, case.facts.now.date())


def _seen(
    case: Case, rule: ProvenanceRule, pointer: JsonPointer, types: frozenset[str]
) -> list[Origin]:
    return [
        origin
        for origin in case.facts.origins.get(pointer, ())
        if origin.type in types
        and origin.trust.rank <= rule.trust_min.rank
        and (origin.is_exact or rule.max_of)
    ]


def _related(case: Case, rule: ProvenanceRule, pointer: JsonPointer, found: list[Origin]) -> bool:
    """Say whether the value shares a record with each value that it has to share one with."""
    if not rule.same_record_as:
        return True
    others = origins.partners(rule, pointer, case.arguments or {})
    return bool(others) and all(
        any(
            origins.is_related(origin.record, other.record)
            for origin in found
            for other in case.facts.origins.get(place, ())
            if other.is_exact
        )
        for place, _ in others
    )


def _collected(
    case: Case, rule: ProvenanceRule, name: str, pointer: JsonPointer, value: Json
) -> bool:
    """Say whether a field of the run accounts for a value: never by the word of a model alone."""
    field = written.fields_of(case).get(name)
    if field is None or not field.is_borne_out:
        return False
    if not (
        forms.same(value, field.value) or (rule.max_of and origins.at_most(value, field.value))
    ):
        return False
    if field.is_spoken:
        return True
    # What a model has collected out of a result is only as good as that result.
    found = _seen(case, rule, pointer, frozenset({field.source}))
    return bool(found) and _related(case, rule, pointer, found)


def _is_constant(value: Json, constant: Json) -> bool:
    if isinstance(value, bool | None) or isinstance(constant, bool | None):
        return value is constant
    return forms.same(value, constant)


# --- what follows -------------------------------------------------------------------------------


def _failed(case: Case, rule: ProvenanceRule, pointer: JsonPointer) -> Case | Refusal:
    near = case.facts.near.get(pointer)
    accepted = _accepted(rule)
    reason = f"`{pointer}` must come from {accepted}, and did not"
    if near is not None:  # its value is told to the caller alone, who was given it before
        reason += "; a value that differs from it by one slip was returned"
    match rule.on_fail:
        case OnFail.DENY:
            detail: JsonObject = {"pointer": pointer, "accepted": accepted}
            if near is not None:
                detail["did_you_mean"] = near
            return Refusal(
                status=Status.PROVENANCE_FAILED,
                code="origin_unknown",
                reason=reason,
                next=_then(case, rule) if near is None else _NEAR.format(near),
                details=(detail,),
            )
        case OnFail.APPROVE:
            return _held(case, reason)
        case OnFail.LOG:
            return replaced(case, notes=(*case.notes, reason))


def _then(case: Case, rule: ProvenanceRule) -> str:
    """Say how the caller comes by a value that would do: by tools that he finds in his list."""
    results = [each for each in rule.sources if each.kind is SourceKind.RESULTS]
    types = {operand for each in results for operand in each.operands}
    named = bringing.of_types(case.revision, case.actor, types, now=case.facts.now)
    if not types:
        is_kept = any(each.kind is SourceKind.COLLECTED for each in rule.sources)
        return _COLLECT if is_kept else _ALLOWED
    if not named:
        return _UNNAMED
    ways = " or ".join(f"`{each}`" for each in named)
    is_early = not case.run_id and all(each.within_run for each in results)
    first = "begin a run with `run_start`, " if is_early else ""
    return f"{first}look the value up with {ways}, then call again with what that returned"


def _tainted(case: Case, wanted: WhenTainted) -> Case | Refusal:
    where = "this run" if case.run is not None and case.run.is_tainted else "you"
    reason = f"{where} got results that others can write, and `{case.tool.key}` may be called"
    match wanted:
        case WhenTainted.DENY:
            return Refusal(
                status=Status.PROVENANCE_FAILED,
                code="tainted",
                reason=f"{reason} only before that",
                next="do not repeat this call; tell the user, who can do it without you",
            )
        case WhenTainted.APPROVE:
            return _held(case, f"{reason} then only when a person agrees")


def _held(case: Case, reason: str) -> Case:
    """Leave the call to a person, who is told of every doubt."""
    if case.held:
        return replaced(case, notes=(*case.notes, reason))
    return replaced(case, held=reason)


def _accepted(rule: ProvenanceRule) -> str:
    said = " or ".join(map(_said, rule.sources))
    most = "at most what is said by " if rule.max_of else ""
    related = f" in the same record as `{rule.same_record_as}`" if rule.same_record_as else ""
    trusted = (
        "" if rule.trust_min is SourceTrust.EXTERNAL else f", trusted as {rule.trust_min} or better"
    )
    return most + said + related + trusted


def _said(source: Source) -> str:
    within = ", within: run" if source.within_run else ""
    return f"{source.kind}({', '.join(source.operands)}{within})"
