"""The report as JUnit XML, which CI systems read: one case a group, and the self-check."""

import re
from collections.abc import Collection, Iterator
from typing import Final
from xml.etree import ElementTree as Xml

from gateway.replay import text, tool_reports
from gateway.replay.report import Report, Wanted, said
from gateway.replay.tool_reports import ToolReport
from gateway.types.leans import Lean

_FAILS: Final = {
    Lean.WIDER: (Wanted.GRANTS_MORE, Wanted.CHANGED),
    Lean.NARROWER: (Wanted.GRANTS_LESS, Wanted.CHANGED),
    Lean.OTHER: (Wanted.CHANGED,),
}
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report, *, fail_on: Collection[Wanted]) -> str:
    """Render the report; what `fail_on` names is a failure, everything else passes."""
    cases = [*_cases(report, fail_on)]
    failures = sum(bool(problem) for _, _, problem in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    root = Xml.Element("testsuite", {"name": "replay", **counts})
    for kind, name, problem in cases:
        case = Xml.SubElement(root, "testcase", {"classname": f"replay.{kind}", "name": xml(name)})
        if problem:
            first = problem.partition("\n")[0]
            Xml.SubElement(case, "failure", {"message": xml(first)}).text = xml(problem)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def _cases(report: Report, fail_on: Collection[Wanted]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and problem of each case; no problem is an empty text."""
    for group in report.groups:
        name = (
            f"{group.tool}: {said(group.before)} → {said(group.after)} ({group.was} → {group.now})"
        )
        told = f"{text.counted(group.calls, 'call')}\nfirst: {text.where(group.first)}"
        if moves := text.moves(report, group):
            told += f"\nmoves {moves}"
        fails = any(each in fail_on for each in _FAILS[group.lean])
        yield str(group.lean), name, told if fails else ""
    for unknown in report.unknown:
        needs = ", ".join(place for place, _ in unknown.missing)
        told = f"{text.counted(unknown.calls, 'call')}\nfirst: {text.where(unknown.first)}"
        fails = Wanted.UNDECIDABLE in fail_on
        yield "undecidable", f"{unknown.tool} needs {needs}", told if fails else ""
    for tool in report.tools:
        yield from _tool(tool, fail_on)
    broken = [text.where(each) for each in report.unfaithful]
    problem = "\n".join(["judged otherwise by their own revision", *broken]) if broken else ""
    yield "self_check", "calls under their own revision", problem


def _tool(tool: ToolReport, fail_on: Collection[Wanted]) -> Iterator[tuple[str, str, str]]:
    told = "\n".join(line.strip() for line in tool_reports.about(tool))
    fails = Wanted.SCHEMA_BREAKS in fail_on and not tool.passes
    yield "tool", f"{tool.tool} is {tool.fate}", told if fails else ""
    if tool.fits_no_more:
        name = f"{tool.tool}: arguments that fit no more"
        yield "arguments", name, told if Wanted.INVALID_ARGUMENTS in fail_on else ""


def xml(said: str) -> str:
    """Return a text that XML 1.0 can hold."""
    return _NO_XML.sub("\ufffd", said)
