"""Do the arguments of the past fit the schemas of other definitions, and do results, once known?

Judged is by the schemas alone, whatever rules said of a call: so an argument that fits no more is
found where its call was refused anyway, too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.contracts.schemas import Schema
from gateway.jsontext import get
from gateway.operations import keys
from gateway.replay import unknown, validity
from gateway.replay.examples import Example
from gateway.replay.redefined import Redefinition
from gateway.replay.then import Then
from gateway.replay.tool_reports import Misfit, ToolReport
from gateway.replay.types import Compared, Gone, Recorded
from gateway.steps.contract import injected
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer

_MOST_MISFITS: Final = 20  # of one tool
_DATA: Final = "structuredContent"


@dataclass(slots=True)
class _Misfits:
    """What is wrong with values, by place: how many there are, and the first."""

    found: dict[tuple[JsonPointer, str], tuple[int, Example]] = field(
        default_factory=dict[tuple[JsonPointer, str], "tuple[int, Example]"]
    )

    def add(self, place: JsonPointer, expected: str, at: Example) -> None:
        if (place, expected) not in self.found and len(self.found) >= _MOST_MISFITS:
            return
        calls, first = self.found.get((place, expected), (0, at))
        self.found[place, expected] = (calls + 1, first)

    def told(self) -> tuple[Misfit, ...]:
        some = (
            Misfit(pointer=place, expected=expected, calls=calls, first=first)
            for (place, expected), (calls, first) in self.found.items()
        )
        return tuple(sorted(some, key=lambda each: (-each.calls, each.pointer)))


@dataclass(slots=True)
class _Counted:
    """What is counted of one tool."""

    calls: int = 0
    blocked: int = 0
    fitted: Counter[str] = field(default_factory=Counter[str])
    missing: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    misfits: _Misfits = field(default_factory=_Misfits)
    results: Counter[str] = field(default_factory=Counter[str])
    wrong_results: _Misfits = field(default_factory=_Misfits)
    first: Example | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Takes calls one by one, of the tools that have other definitions."""

    tools: Mapping[str, Redefinition]
    _counted: dict[str, _Counted] = field(default_factory=dict[str, _Counted])

    def __call__(self, compared: Compared, then: Then | None) -> None:
        """Hold one call against the new schemas."""
        call = compared.recorded
        tool = self.tools.get(call.tool)
        if tool is None or call.method is not Method.CALL_TOOL:
            return
        counted = self._counted.setdefault(call.tool, _Counted())
        at = Example.of(call)
        counted.calls += 1
        counted.first = counted.first or at
        if tool.is_blocked and compared.before.effect is not DecisionEffect.DENY:
            counted.blocked += 1
        if tool.changes:
            self._arguments(call, then, tool, counted)
            self._result(call, tool, counted, at)

    def report(self) -> tuple[ToolReport, ...]:
        """Return what was found, a tool each: also of those that no call was about."""
        return tuple(_told(each, self._counted.get(name)) for name, each in self.tools.items())

    def _arguments(
        self, call: Recorded, then: Then | None, tool: Redefinition, counted: _Counted
    ) -> None:
        if tool.schemas is None:
            return
        new, arguments = tool.schemas.input, _as_judged(call, tool)
        was = then.was_valid if then is not None else None
        old = then.schema if then is not None else None
        now = validity.valid(arguments, call.unknown, new, old, was=was)
        if now is None:
            counted.fitted["unknown"] += 1
            places = ((f"/arguments{place}", str(why)) for place, why in call.unknown.items())
            counted.missing |= dict.fromkeys(places)
        elif now:
            counted.fitted["fits_now" if was is False else "fits"] += 1
        else:
            counted.fitted["fits_no_more" if was else "misfits"] += 1
            for place, expected in _faults(arguments, call.unknown, new):
                counted.misfits.add(place, expected, Example.of(call))

    def _result(self, call: Recorded, tool: Redefinition, counted: _Counted, at: Example) -> None:
        new = tool.schemas.output if tool.schemas is not None else None
        old = tool.contract.output_schema if tool.contract is not None else None
        if new is None or not call.is_executed or new.source == old:
            return
        kept = call.ended.result if call.ended is not None else None
        data = kept.get(_DATA) if kept is not None else None
        if not isinstance(data, dict):
            counted.results["unknown"] += 1
            return
        gone = unknown.places(data)
        fits = validity.valid(data, gone, new, None, was=None)
        counted.results["unknown" if fits is None else "fits" if fits else "misfits"] += 1
        for place, expected in _faults(data, gone, new) if fits is False else ():
            counted.wrong_results.add(place, expected, at)


def _as_judged(call: Recorded, tool: Redefinition) -> JsonObject:
    """Return arguments as a schema sees them: with the key that the gateway adds."""
    injection = injected(tool.contract) if tool.contract is not None else None
    try:
        return keys.filled(keys.own(call.arguments, injection), injection)
    except keys.KeyRefused:
        return call.arguments


def _faults(
    value: JsonObject, gone: Mapping[JsonPointer, Gone], schema: Schema
) -> Iterable[tuple[JsonPointer, str]]:
    """Name what is wrong, once for each place in a list whichever item it is."""
    loose = validity.without(schema, gone)
    found = loose.violations(value) if loose is not None else ()
    return dict.fromkeys((_place(each.pointer, value), each.expected) for each in found)


def _place(pointer: JsonPointer, value: Json) -> JsonPointer:
    """Return a place with `*` for the number of an item."""
    steps: list[str] = []
    inside = ""
    for step in pointer.split("/")[1:]:
        around = _at_place(value, inside)
        steps.append("*" if isinstance(around, list) else step)
        inside = f"{inside}/{step}"
    return "".join(f"/{step}" for step in steps)


def _at_place(value: Json, pointer: JsonPointer) -> Json:
    try:
        return get(value, pointer)
    except KeyError:  # what is missing is named as well
        return None


def _told(tool: Redefinition, counted: _Counted | None) -> ToolReport:
    found = counted or _Counted()
    contract, quarantine = tool.contract, tool.quarantine
    return ToolReport(
        tool=tool.tool,
        fate=str(tool.fate),
        place=contract.place if contract is not None else "",
        changes=tuple((each.pointer, str(each.kind)) for each in tool.changes),
        fault=f"{quarantine.reason}{_at(quarantine.pointer)}" if quarantine is not None else "",
        calls=found.calls,
        blocked=found.blocked,
        fits=found.fitted["fits"],
        fits_now=found.fitted["fits_now"],
        fits_no_more=found.fitted["fits_no_more"],
        misfits=found.fitted["misfits"],
        unknown=found.fitted["unknown"],
        missing=tuple(found.missing),
        faults=found.misfits.told(),
        results=dict(found.results),
        wrong_results=found.wrong_results.told(),
        first=found.first,
    )


def _at(pointer: JsonPointer) -> str:
    return f" at `{pointer}`" if pointer else ""
