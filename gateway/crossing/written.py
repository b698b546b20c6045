"""What policy wrote into arguments that must come from somewhere: did a model have a say in it?

A constraint is computed after provenance was judged, and may read what a model sent or said.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gateway import jsontext
from gateway.case import Case, Facts
from gateway.runs import forms, origins
from gateway.types.decisions import Constraint
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import Collected
from gateway.types.tools import ProvenanceRule
from gateway.types.values import replaced

_NO_FIELDS: Final[Mapping[str, Collected]] = {}
_OF_MODELS: Final = re.compile(r"\b(args|said|objective)\b")
_FIELDS: Final = re.compile(r"\bfields\b")
_FIELD: Final = re.compile(r"\bfields\s*\.\s*([A-Za-z_]\w*)")


def changed(
    case: Case, before: JsonObject, constraints: Sequence[Constraint]
) -> dict[JsonPointer, Json]:
    """Return what provenance rules look at, and constraints that prove nothing have changed.

    What stands in the policy, or is computed from the actor and the word of hosts, needs no origin.
    """
    rules = () if case.call.cause else case.contract.provenance
    doubtful = [each for each in constraints if not _is_proven(case, each)] if rules else ()
    return dict(_written(rules, before, case.arguments or {}, doubtful)) if doubtful else {}


def of_field(name: str) -> str:
    """Return what stands for a field among pointers, which begin with a slash."""
    return f"run.fields.{name}"


def fields_of(case: Case) -> Mapping[str, Collected]:
    """Return what the run of a call has collected."""
    return case.run.fields if case.run is not None else _NO_FIELDS


def _is_proven(case: Case, constraint: Constraint) -> bool:
    """Say whether no word of a model is in a value; a text that may have one counts as one."""
    text = constraint.expression
    if _OF_MODELS.search(text):
        return False
    named, known = _FIELD.findall(text), fields_of(case)
    if len(named) != len(_FIELDS.findall(text)):
        return False
    return all(name in known and known[name].is_spoken for name in named)


def _written(
    rules: Iterable[ProvenanceRule],
    before: JsonObject,
    now: JsonObject,
    constraints: Iterable[Constraint],
) -> Iterator[tuple[JsonPointer, Json]]:
    """Yield what rules look at, and constraints that prove nothing have changed."""
    tops = {jsontext.tokens(each.pointer)[0] for each in constraints}
    for rule in rules:
        for pattern in filter(None, (rule.pointer, rule.same_record_as)):
            old = dict(origins.reached(pattern, before))
            for pointer, value in origins.reached(pattern, now):
                is_old = pointer in old and jsontext.dump(old[pointer]) == jsontext.dump(value)
                if not is_old and not tops.isdisjoint(("*", jsontext.tokens(pointer)[0])):
                    yield pointer, value


def traced(case: Case, written: Mapping[JsonPointer, Json]) -> Facts:
    """Return what is known of the new values: the origins of the fields that they are from."""
    facts, fields = case.facts, fields_of(case)
    new = {
        pointer: tuple(
            origin
            for name, field in fields.items()
            if field.is_borne_out and forms.same(value, field.value)
            for origin in facts.origins.get(of_field(name), ())
        )
        for pointer, value in written.items()
    }
    return replaced(facts, origins={**facts.origins, **new}, near={})
