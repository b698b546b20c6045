"""Checks of guards of runs: words and tools that are never so, and guards that nothing meets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.policy.files import Path
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_templates import finding, unknown_tool, writes
from gateway.policy.lint_words import slips
from gateway.policy.run_files import WrittenTemplate, where
from gateway.policy.run_guards import Named, RunGuard
from gateway.policy.run_samples import Setting, is_met
from gateway.policy.survey import Survey
from gateway.types.runs import Mode, Phase
from gateway.types.tools import Contract

_WORDS = {"phase": tuple(Phase)}
_COUNTED = ("calls", "writes", "tokens", "money")
_AFTER_WRITES = frozenset({Phase.FINALIZING, Phase.COMPLETED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A guard, and where it stands."""

    template: WrittenTemplate
    guard: RunGuard
    path: Path

    def error(self, offset: int, name: str, message: str) -> Finding:
        """Make a finding that points into the guard's text."""
        before = self.guard.text[:offset].split("\n")
        file, path = self.template.file, self.template.path(*self.path)
        line, column = file.inside(path, len(before), len(before[-1]) + 1)
        return Finding(
            level=Level.ERROR,
            check=name,
            message=message,
            file=file.name,
            line=line,
            column=column,
        )


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = {contract.tool: contract for contract in survey.contracts}
    for template in survey.templates:
        for phase, guards in template.guards.items():
            for index, guard in enumerate(guards):
                placed = _Placed(template=template, guard=guard, path=(*where(phase), index))
                yield from _words(placed)
                for named in guard.tools:
                    yield from _tool(placed, named, known)
            yield from _never(template, phase, guards)
        yield from _unbinding(template)
        yield from _renewed(template)


def _renewed(template: WrittenTemplate) -> Iterator[Finding]:
    """Find limits that a model gets anew by saying that its work is done."""
    section = template.section
    counted = [name for name in _COUNTED if getattr(section.limits, name)]
    if counted and section.mode is not Mode.HOST and not section.completed_when:
        message = (
            f"its model may say at any time that the work is done, and begin another run with all "
            f"of `{counted[0]}`: name in `completed_when` what has to be done, or use `mode: host`"
        )
        yield finding(template, Level.WARNING, "renewed", message, "limits", counted[0])


def _words(placed: _Placed) -> Iterator[Finding]:
    for slip in slips(placed.guard.text, _WORDS):
        yield placed.error(slip.offset, "unknown-word", slip.message)


def _tool(placed: _Placed, named: Named, known: Mapping[str, Contract]) -> Iterator[Finding]:
    contract = known.get(named.tool)
    if contract is None:
        yield unknown_tool(placed.template, named.tool, known, *placed.path)
        return
    said = ""
    if not writes(contract):
        said = f"`{named.tool}` is a read, and only writes are counted as {named.of}"
    elif not _may_be_sent(placed.template, named.tool):
        said = f"`{named.tool}` is in no phase of this template, so it is never {named.of}"
    elif named.of == "verified" and not _is_checked(contract):
        said = (
            f"the contract of `{named.tool}` says nothing of its outcome, so it is never verified; "
            "write `outcome`, or ask for `succeeded`"
        )
    if said:
        yield placed.error(named.offset, "never-met", said)


def _may_be_sent(template: WrittenTemplate, tool: str) -> bool:
    named = [template.tools(phase) for phase in (Phase.ACTING, Phase.FINALIZING)]
    return named[0] is None or any(tool in each for each in named if each is not None)


def _is_checked(contract: Contract) -> bool:
    return bool(contract.ensure or contract.readback or contract.checksum)


def _never(
    template: WrittenTemplate, phase: Phase, guards: tuple[RunGuard, ...]
) -> Iterator[Finding]:
    limits = template.section.limits
    setting = Setting(
        most_calls=limits.calls,
        most_tokens=limits.tokens,
        may_have_written=phase in _AFTER_WRITES and limits.writes != 0,
    )
    alone = [index for index, guard in enumerate(guards) if not is_met([guard], setting)]
    is_first = phase not in _AFTER_WRITES
    first = " the first time, before anything was written" if is_first else ""
    for index in alone:
        message = f"no run seems to meet `{guards[index].text}`{first}"
        path = (*where(phase), index)
        yield finding(template, Level.WARNING, "never-met", message, *path)
    if not alone and not is_met(guards, setting):
        message = f"no run seems to meet all these guards of `{phase}` together{first}"
        yield finding(template, Level.WARNING, "never-met", message, *where(phase))


def _unbinding(template: WrittenTemplate) -> Iterator[Finding]:
    """Find guards of phases that only hosts and people lead to, whom no guard holds back."""
    if template.section.mode is not Mode.HOST:
        return
    for phase, guards in template.guards.items():
        if guards and phase is not Phase.COMPLETED:
            message = f"in mode `host` guards of `{phase}` are told, and hold nobody back"
            yield finding(template, Level.INFO, "no-effect", message, *where(phase))
