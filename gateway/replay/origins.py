"""Did each argument come from where it must, as far as that was looked up and is known?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gateway.case import Case
from gateway.replay.oracle import Oracle
from gateway.replay.then import Then
from gateway.replay.types import Gone, Missing, Recorded
from gateway.replay.unknown import touches
from gateway.runs import origins
from gateway.runs.origins import Asked
from gateway.steps import provenance
from gateway.types.json import JsonPointer
from gateway.types.outcomes import Refusal
from gateway.types.tools import ProvenanceRule, Source, SourceKind
from gateway.types.values import replaced, value

_EITHER: Final = (True, False)


def check(
    case: Case,
    call: Recorded,
    then: Then | None,
    fields: Mapping[str, tuple[JsonPointer, ...]],
    oracle: Oracle,
) -> Case | Refusal:
    """Hold each rule against the origins that were found then; `fields` are unknown ones."""
    contract = case.contract
    if not contract.provenance or case.call.cause:
        return provenance.check(case)
    looking = _Looking(case=case, call=call, looked_up=_looked_up(call, then), fields=fields)
    failing: list[ProvenanceRule] = []
    for rule in contract.provenance:
        for pointer in _above(call, rule):
            missing = _missing(f"/arguments{pointer}", call.unknown[pointer])
            if not oracle.ask(("origin", rule.pointer), _EITHER, [missing]):
                failing.append(replace(rule, pointer=pointer, sources=()))
        for pointer, found in origins.spots(rule, case.arguments or {}):
            unsure = tuple(
                source for source in rule.sources if not looking.knows(rule, source, pointer)
            )
            sure = replace(rule, sources=tuple(each for each in rule.sources if each not in unsure))
            if provenance.came_from(case, sure, pointer, found):
                continue
            missing = _missing(f"origin of {pointer}", Gone.NOT_ASKED)
            if unsure and oracle.ask(("origin", rule.pointer, pointer), _EITHER, [missing]):
                continue
            failing.append(replace(rule, pointer=pointer, sources=()))
    judged = provenance.check(replaced(case, contract=replace(contract, provenance=tuple(failing))))
    return replaced(judged, contract=contract) if isinstance(judged, Case) else judged


def looks_alike(case: Case, then: Then) -> bool:
    """Whether all that the contract looks up was looked up then."""
    one, other = case.contract, then.case.contract
    is_whole = one.provenance == other.provenance and then.call.borrowed is None
    return not one.provenance or is_whole


def _looked_up(call: Recorded, then: Then | None) -> Mapping[JsonPointer, Asked]:
    kept = call.snapshot.get("origins")
    is_cut = isinstance(kept, dict) and "$cut" in kept
    if then is None or is_cut:
        return {}
    asked, borrowed = provenance.asked(then.case), call.borrowed
    if borrowed is None:
        return asked
    return {place: each for place, each in asked.items() if place in borrowed.traced}


def _above(call: Recorded, rule: ProvenanceRule) -> tuple[JsonPointer, ...]:
    """Return the unknown values inside of which a rule looks for its argument."""
    wanted = rule.pointer.split("/")
    return tuple(
        each
        for each in call.unknown
        if len(steps := each.split("/")) < len(wanted)
        and all(one in (step, "*") for one, step in zip(wanted, steps, strict=False))
    )


@value
class _Looking:
    """What can be told of one call's arguments."""

    case: Case
    call: Recorded
    looked_up: Mapping[JsonPointer, Asked]
    fields: Mapping[str, tuple[JsonPointer, ...]]

    def knows(self, rule: ProvenanceRule, source: Source, pointer: JsonPointer) -> bool:
        """Whether it can be told if a source accounts for the value at a pointer."""
        if source.kind is SourceKind.RESULTS:
            return self._was_asked(rule, frozenset(source.operands), pointer)
        if touches(self.call.unknown, pointer):
            return False
        if source.kind is not SourceKind.COLLECTED:
            return True
        name, run = source.operands[0], self.case.run
        field = run.fields.get(name) if run is not None else None
        if field is None or not field.is_known:
            return True
        if name in self.fields:
            return False
        types = frozenset({field.source})
        return field.is_spoken or self._was_asked(rule, types, pointer)

    def _was_asked(self, rule: ProvenanceRule, types: frozenset[str], pointer: JsonPointer) -> bool:
        asked = self.looked_up.get(pointer)
        if asked is None or (asked.types and not types <= asked.types):
            return False
        if rule.max_of and not asked.at_least:
            return False
        partners = origins.partners(rule, pointer, self.case.arguments or {})
        return all(place in self.looked_up for place, _ in partners)


def _missing(place: str, why: Gone) -> Missing:
    return Missing(place=place, why=why, readers=("provenance",))
