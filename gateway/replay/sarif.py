"""The report as SARIF 2.1.0 (OASIS): code hosts show it beside the lines of the policy files."""

from collections.abc import Iterator
from typing import Final

from gateway.policy.findings import Level
from gateway.replay import text
from gateway.replay.report import Group, Report, Unknown, said
from gateway.replay.tool_reports import ToolReport, placed
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Final[dict[Lean, tuple[str, str, str]]] = {
    Lean.WIDER: ("grants-more", "error", "Calls of the past would be let through"),
    Lean.NARROWER: ("grants-less", "warning", "Calls of the past would be held back"),
    Lean.OTHER: ("different", "note", "Calls of the past would be decided otherwise"),
}
_UNDECIDABLE: Final = ("undecidable", "note", "The log does not hold what a rule asks for")
_BREAKS: Final = ("schema-breaks", "error", "A tool's other definition breaks what was reviewed")
_INVALID: Final = ("invalid-arguments", "warning", "Arguments of the past would fit no more")
_LEVELS: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


def sarif(report: Report, *, version: str) -> JsonObject:
    """Return one run of the tool with a result for each group; places are as the files name them.

    `version` is the gateway's.
    """
    kinds = (*_RULES.values(), _UNDECIDABLE, *((_BREAKS, _INVALID) if report.tools else ()))
    rules: list[Json] = [{"id": id, "shortDescription": {"text": what}} for id, _, what in kinds]
    results: list[Json] = [
        *(_group(report, each) for each in report.groups),
        *(_unknown(each) for each in report.unknown),
        *(found for each in report.tools for found in _tool(each)),
    ]
    driver: JsonObject = {"name": "weighbridge replay", "version": version, "rules": rules}
    run: JsonObject = {"tool": {"driver": driver}, "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _group(report: Report, group: Group) -> JsonObject:
    id, level, _ = _RULES[group.lean]
    way = f"{said(group.before)} → {said(group.after)}"
    what = f"{text.counted(group.calls, 'call')} of {group.tool}: {way}"
    people = f"; people had said no to {group.denied_by_people}" if group.denied_by_people else ""
    why = f" ({group.was or 'no rule'} → {group.now or 'no rule'}){people}"
    sums = f"; moves {moves}" if (moves := text.moves(report, group)) else ""
    found = _result(id, level, f"{what}{why}; first: {text.where(group.first)}{sums}")
    place = group.now_at or group.was_at
    return {**found, "locations": [_location(place)]} if place else found


def _unknown(unknown: Unknown) -> JsonObject:
    id, level, _ = _UNDECIDABLE
    needs = ", ".join(f"{place} ({why})" for place, why in unknown.missing)
    what = f"{text.counted(unknown.calls, 'call')} of {unknown.tool} need {needs}"
    return _result(id, level, f"{what}; first: {text.where(unknown.first)}")


def _tool(tool: ToolReport) -> Iterator[JsonObject]:
    """Yield what a tool's other definition breaks, each at its own place."""
    at: JsonObject = {"locations": [_location(tool.place)]} if tool.place else {}
    id, level, _ = _BREAKS
    if tool.fate in ("unusable", "gone"):
        why = f": {tool.fault}" if tool.fault else ""
        yield {**_result(id, level, f"{tool.tool} is {tool.fate}{why}"), **at}
    for each in tool.breaks:
        found = _result(id, _LEVELS[each.level], f"[{each.check}] {each.message}")
        yield {**found, "locations": [_location(placed(each))]}
    for name in tool.failing:
        yield {**_result(id, level, f"a policy test fails: {name}"), **at}
    id, level, _ = _INVALID
    for fault in tool.faults:
        what = f"{text.counted(fault.calls, 'call')} of {tool.tool}: `{fault.pointer or '/'}`"
        message = f"{what} would have to be {fault.expected}; first: {fault.first}"
        yield {**_result(id, level, message), **at}


def _result(id: str, level: str, message: str) -> JsonObject:
    return {"ruleId": id, "level": level, "message": {"text": message}}


def _location(place: str) -> JsonObject:
    file, _, line = place.rpartition(":")
    known = file if line.isdecimal() else place
    physical: JsonObject = {"artifactLocation": {"uri": known}}
    if line.isdecimal():
        physical["region"] = {"startLine": max(1, int(line))}
    return {"physicalLocation": physical}
