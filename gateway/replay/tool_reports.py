"""What other definitions of tools do: to arguments and results of the past, to rules, contracts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from gateway.policy.findings import Finding, Level
from gateway.policy.findings import as_json as _findings
from gateway.replay.examples import Example
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.values import value


@value
class Misfit:
    """What a schema says no to, the same in every call."""

    pointer: JsonPointer
    expected: str
    calls: int
    first: Example


@value
class ToolReport:
    """One tool under another definition."""

    tool: str
    fate: str  # same | changed | unusable | gone | new
    place: str = ""  # of its contract
    changes: tuple[tuple[JsonPointer, str], ...] = ()  # (place in the definition, how it differs)
    fault: str = ""  # why it can't be enforced
    calls: int = 0
    blocked: int = 0  # went ahead or to people, and would not until the tool is pinned again
    fits: int = 0  # arguments as before
    fits_now: int = 0  # that did not
    fits_no_more: int = 0
    misfits: int = 0  # neither then, as far as is known, nor now
    unknown: int = 0
    missing: tuple[tuple[str, str], ...] = ()  # (place, why it is gone)
    faults: tuple[Misfit, ...] = ()
    results: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of calls whose results another schema is for: `fits`, `misfits`, and `unknown` ones."""
    wrong_results: tuple[Misfit, ...] = ()
    first: Example | None = None
    breaks: tuple[Finding, ...] = ()  # what the new definition breaks in contracts and rules
    failing: tuple[str, ...] = ()  # policy tests that hold no more

    @property
    def passes(self) -> bool:
        """Whether the policy could go live once the tool is pinned again."""
        is_there = self.fate not in ("unusable", "gone")
        return is_there and not self.failing and not any(map(_is_error, self.breaks))


def _is_error(finding: Finding) -> bool:
    return finding.level is Level.ERROR


def as_json(tool: ToolReport) -> JsonObject:
    """Return one tool for programs."""
    changes: list[Json] = [{"pointer": place, "kind": kind} for place, kind in tool.changes]
    missing: list[Json] = [{"place": place, "why": why} for place, why in tool.missing]
    return {
        "tool": tool.tool,
        "fate": tool.fate,
        "place": tool.place,
        "changes": changes,
        "fault": tool.fault,
        "calls": tool.calls,
        "blocked": tool.blocked,
        "passes_when_pinned": tool.passes,
        "arguments": {
            "fit": tool.fits,
            "fit_now": tool.fits_now,
            "fit_no_more": tool.fits_no_more,
            "misfit": tool.misfits,
            "unknown": tool.unknown,
            "missing": missing,
            "faults": _misfits(tool.faults),
        },
        "results": {**tool.results, "faults": _misfits(tool.wrong_results)},
        "breaks": _findings(tool.breaks),
        "failing_tests": [*tool.failing],
        "first": tool.first.as_json() if tool.first is not None else None,
    }


def _misfits(found: Iterable[Misfit]) -> list[Json]:
    return [
        {
            "pointer": each.pointer,
            "expected": each.expected,
            "calls": each.calls,
            "first": each.first.as_json(),
        }
        for each in found
    ]


def lines(tools: Iterable[ToolReport]) -> Iterator[str]:
    """Yield the lines about tools for people; those that stay as they are in one."""
    shown = [each for each in tools if each.fate != "same"]
    if not shown:
        return
    yield ""
    yield f"TOOL DEFINITIONS that differ: {len(shown):,}"
    for each in shown:
        yield from about(each)


def about(tool: ToolReport) -> Iterator[str]:
    """Yield the lines about one tool."""
    yield f"  {tool.tool}: {_headline(tool)}"
    if tool.changes:
        more = f" and {len(tool.changes) - 6} more" if len(tool.changes) > 6 else ""
        named = ", ".join(f"{place} ({kind})" for place, kind in tool.changes[:6])
        yield f"      {named}{more}"
    if tool.fate == "changed":
        verdict = "the policy passes with it" if tool.passes else "the policy does not pass with it"
        yield f"      blocked until it is pinned again: {counted(tool.blocked)}; then {verdict}"
    yield from _arguments(tool)
    yield from _results(tool)
    for finding in tool.breaks:
        yield f"      {finding.level}: {placed(finding)}: [{finding.check}] {finding.message}"
    for name in tool.failing:
        yield f"      policy test fails: {name}"


def _headline(tool: ToolReport) -> str:
    at = f" ({tool.place})" if tool.place else ""
    match tool.fate:
        case "changed":
            return f"not as its contract{at} has it"
        case "gone":
            return f"not published any more{at}; {counted(tool.calls)}"
        case "unusable":
            return f"can't be enforced: {tool.fault}; {counted(tool.calls)}"
        case _:
            return f"nobody has reviewed it; {counted(tool.calls)}"


def _arguments(tool: ToolReport) -> Iterator[str]:
    if not tool.calls or tool.fate not in ("changed", "new"):
        return
    counts = (
        (tool.fits, "as before"),
        (tool.fits_no_more, "fit no more"),
        (tool.fits_now, "fit now"),
        (tool.misfits, "did not fit and do not"),
        (tool.unknown, "nobody can tell"),
    )
    told = ", ".join(f"{count:,} {words}" for count, words in counts if count)
    yield f"      arguments of {counted(tool.calls)}: {told}"
    for each in tool.faults:
        yield f"        {each.pointer or '/'}: expected {each.expected}: {counted(each.calls)}"
        yield f"          first: {each.first}"
    if tool.unknown:
        yield f"        not in the log: {', '.join(f'{at} ({why})' for at, why in tool.missing)}"


def _results(tool: ToolReport) -> Iterator[str]:
    if not tool.results:
        return
    fit, misfit, gone = (tool.results.get(each, 0) for each in ("fits", "misfits", "unknown"))
    told = f"{fit:,} fit, {misfit:,} do not, {gone:,} not kept, so nobody can tell"
    yield f"      results by the new output schema: {told}"
    for each in tool.wrong_results:
        yield f"        {each.pointer or '/'}: expected {each.expected}: {counted(each.calls)}"


def placed(finding: Finding) -> str:
    """Return where a finding is, as far as it is known."""
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def counted(calls: int) -> str:
    """Return a number of calls in words."""
    return f"{calls:,} call" + ("" if calls == 1 else "s")
