"""Where an argument may come from, as people write it: `results(crm.id)`, `computed(0..100)`."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.types.json import Json
from gateway.types.tools import Day, Source, SourceKind

_SOURCE: Final = re.compile(r"([a-z]+)\(([^()]+)\)")
_WITHIN: Final = re.compile(r"within: ?run")
_TODAY: Final = re.compile(r"today(?:([+-])([0-9]{1,4})d)?")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")
_OF_ACTOR: Final = frozenset({"user", "tenant"})
FORMS: Final = (
    "`results(type)`, `results(type, within: run)`, `collected(field)`, `actor(tenant)`, "
    "`allowlist(a, b)`, `constant(EUR)` or `computed(today..today+30d)`"
)


class BadSource(ValueError):
    """A text that names no source; its message says what one looks like."""


def parse(text: str) -> Source:
    """Return the source that a text names; raises `BadSource`."""
    found = _SOURCE.fullmatch(text)
    if found is None or found[1] not in {*SourceKind}:
        raise BadSource(f"should be {FORMS}")
    kind, said = SourceKind(found[1]), found[2].strip()
    parts = tuple(part.strip() for part in said.split(","))
    if not all(parts):
        raise BadSource("has an empty part between its brackets; fill it, or remove a comma")
    match kind:
        case SourceKind.RESULTS:
            return _results(parts)
        case SourceKind.ACTOR if not set(parts) <= _OF_ACTOR:
            raise BadSource("should name `user` or `tenant` of the actor")
        case SourceKind.COLLECTED if len(parts) > 1:
            raise BadSource("should name one field of the run")
        case SourceKind.CONSTANT:
            return Source(kind=kind, operands=(said,), constant=_constant(said))
        case SourceKind.COMPUTED:
            return Source(kind=kind, operands=(said,), bounds=_bounds(said))
        case _:
            return Source(kind=kind, operands=parts)


def written(source: Source) -> str:
    """Return the text that `parse` reads as the same source."""
    within = ", within: run" if source.within_run else ""
    return f"{source.kind.value}({', '.join(source.operands)}{within})"


def _results(parts: tuple[str, ...]) -> Source:
    within = bool(_WITHIN.fullmatch(parts[-1]))
    types = parts[:-1] if within else parts
    if not types:
        raise BadSource("should name the type before `within: run`")
    strange = next((each for each in types if ":" in each), None)
    if strange is not None:
        raise BadSource(f"has `{strange}`; only `within: run` may follow the types")
    return Source(kind=SourceKind.RESULTS, operands=types, within_run=within)


def _constant(said: str) -> Json:
    """Return what JSON says the text is, or else the text itself."""
    try:
        value = jsontext.parse(said)
    except JsonError:
        return said
    if isinstance(value, dict | list):
        raise BadSource("should be one text, number, flag or null")
    return value


def _bounds(said: str) -> tuple[Decimal, Decimal] | tuple[Day, Day]:
    first, dots, last = said.partition("..")
    if not dots:
        raise BadSource("should be two bounds, such as `0..100` or `today..today+30d`")
    low, high = _bound(first.strip()), _bound(last.strip())
    if isinstance(low, Decimal) and isinstance(high, Decimal):
        if low > high:
            raise BadSource(
                f"has no room between `{first.strip()}` and `{last.strip()}`; swap them"
            )
        return low, high
    if isinstance(low, Day) and isinstance(high, Day):
        _in_order(low, high)
        return low, high
    raise BadSource("should have two numbers or two days as its bounds")


def _in_order(low: Day, high: Day) -> None:
    """Refuse days that are never in this order; a date and today may be, on some day."""
    if (low.on is None) == (high.on is None) and low.of(_SOME_DAY) > high.of(_SOME_DAY):
        raise BadSource("has its last day before its first; swap them")


_SOME_DAY: Final = date(2000, 1, 1)


def _bound(said: str) -> Decimal | Day:
    today = _TODAY.fullmatch(said)
    if today is not None:
        days = int(today[2] or 0)
        return Day(days=-days if today[1] == "-" else days)
    try:
        if _NUMBER.fullmatch(said):
            return Decimal(said)
        return Day(on=date.fromisoformat(said))
    except (ValueError, InvalidOperation):
        raise BadSource(
            f"has the bound `{said}`, which is no number, date or `today+30d`; write one"
        ) from None
