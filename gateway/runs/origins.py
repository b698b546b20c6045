"""Which arguments have to come from somewhere, and what has to be known of each to judge that."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Final

from gateway import jsontext
from gateway.runs import forms
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import SPEAKERS, Collected
from gateway.types.tools import Day, ProvenanceRule, Source, SourceKind
from gateway.types.values import value

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
MODEL = "model"  # a source that proves nothing
_MOST: Final = 500  # values of one call; those after them have no origin


@value
class Asked:
    """A value whose origin is asked for."""

    value: Json
    types: frozenset[str] = frozenset()  # of results that would do; empty: any, for its record
    at_least: bool = False  # a larger number that was returned counts as well


def asked(
    rules: Iterable[ProvenanceRule], arguments: JsonObject, fields: Mapping[str, Collected]
) -> dict[JsonPointer, Asked]:
    """Return the argument values whose origin has to be looked up before a call is judged."""
    found: dict[JsonPointer, Asked] = {}
    for rule in rules:
        places = [*islice(spots(rule, arguments), _MOST)]
        types = accepted_types(rule, fields) if places else None
        if not types:
            continue
        for pointer, each in places:
            _add(found, pointer, Asked(value=each, types=types, at_least=rule.max_of))
            for other, partner in partners(rule, pointer, arguments):
                _add(found, other, Asked(value=partner))
    return found


def _add(found: dict[JsonPointer, Asked], pointer: JsonPointer, new: Asked) -> None:
    before = found.get(pointer)
    if before is not None:
        is_any = not before.types or not new.types
        new = Asked(
            value=new.value,
            types=frozenset() if is_any else before.types | new.types,
            at_least=before.at_least or new.at_least,
        )
    found[pointer] = new


def accepted_types(rule: ProvenanceRule, fields: Mapping[str, Collected]) -> frozenset[str]:
    """Return the types of results by which a value may be shown to come from where it must."""
    types: set[str] = set()
    for source in rule.sources:
        if source.kind is SourceKind.RESULTS:
            types.update(source.operands)
        elif source.kind is SourceKind.COLLECTED:
            collected = fields.get(source.operands[0])
            if collected is not None and collected.source not in SPEAKERS:
                types.add(collected.source)
    return frozenset(types)


def spots(rule: ProvenanceRule, arguments: JsonObject) -> Iterable[tuple[JsonPointer, Json]]:
    """Return what a rule is about: nothing where the argument is absent."""
    steps = _steps(rule.pointer)
    if len(steps) == 1 and steps[0] != "*":  # as most are, of which most are absent
        name = steps[0]
        return ((rule.pointer, arguments[name]),) if name in arguments else ()
    return reached(rule.pointer, arguments)


def reached(pattern: JsonPointer, arguments: JsonObject) -> Iterator[tuple[JsonPointer, Json]]:
    """Yield what stands where a pattern leads, or in the way of it.

    A schema may allow a value in another shape, such as one id where there could be a list: then
    it stands for what is inside of it elsewhere, and so needs an origin itself.
    """
    yield from _reached(arguments, _steps(pattern), "")


def _reached(
    value: Json, steps: tuple[str, ...], pointer: JsonPointer
) -> Iterator[tuple[JsonPointer, Json]]:
    if not steps:
        yield pointer, value
        return
    step, deeper = steps[0], steps[1:]
    match value:
        case dict():
            for key in value if step == "*" else (step,):
                if key in value:
                    yield from _reached(value[key], deeper, f"{pointer}/{jsontext.escape(key)}")
        case list() if step == "*" or _INDEX.fullmatch(step):
            for index in range(len(value)) if step == "*" else (int(step),):
                if index < len(value):
                    yield from _reached(value[index], deeper, f"{pointer}/{index}")
        case None | []:  # nothing is in there
            return
        case _:
            yield pointer, value


@lru_cache(maxsize=4096)  # contracts name them, and callers don't
def _steps(pointer: JsonPointer) -> tuple[str, ...]:
    return jsontext.tokens(pointer)


def partners(
    rule: ProvenanceRule, pointer: JsonPointer, arguments: JsonObject
) -> tuple[tuple[JsonPointer, Json], ...]:
    """Return what the argument at a pointer has to share a record with.

    As far as both patterns go the same way, `*` stands for the same key or index in both.
    """
    if not rule.same_record_as:
        return ()
    pattern, here = _steps(rule.pointer), jsontext.tokens(pointer)
    other = list(_steps(rule.same_record_as))
    for place, token in enumerate(other):
        if place >= min(len(pattern), len(here)) or pattern[place] != token:
            break
        other[place] = here[place]
    wanted = "".join(f"/{jsontext.escape(token)}" for token in other)
    return tuple(jsontext.walk(arguments, wanted))


def is_related(record: str, other: str) -> bool:
    """Say whether two records are one, or one of them is a part of the other."""
    return record == other or record.startswith(f"{other}/") or other.startswith(f"{record}/")


def lies_within(value: Json, source: Source, today: date) -> bool:
    """Say whether a number or a day lies between the bounds of a source, both included."""
    match source.bounds:
        case (Decimal() as low, Decimal() as high):
            number = None if isinstance(value, str) else forms.number(value)
            return number is not None and low <= number <= high
        case (Day() as first, Day() as last):
            day = forms.day_of(value)
            return day is not None and first.of(today) <= day <= last.of(today)
        case _:
            return False


def at_most(value: Json, other: Json) -> bool:
    """Say whether a number is no larger than another."""
    number, most = forms.number(value), forms.number(other)
    return number is not None and most is not None and 0 <= number <= most
