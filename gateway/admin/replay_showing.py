"""What the page of a replay says beside the report itself."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from gateway.replay import text
from gateway.replay.report import Example, Group, Report, Work
from gateway.types.leans import Lean


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How often the same people are asked."""

    people: str
    before: int
    after: int
    weekly: str  # how often a week, where that can be told


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """Values for the template of a report."""

    title: str
    before: str
    after: str
    period: str
    wider: Sequence[Group]
    narrower: Sequence[Group]
    other: Sequence[Group]
    workload: Sequence[Asked]
    idle: Sequence[tuple[str, str]]  # rules that held for no call, with their places
    elsewhere: str  # of how many others no server was called
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Where a page leads to from calls and runs; a file of its own leads nowhere."""

    revision: str  # that calls are shown under
    own: str  # tenant of who looks; others' runs have no page for him

    def call(self, example: Example) -> str:
        """Return the page of a call under both revisions."""
        revision = self.revision.removeprefix("sha256:")
        return f"/replay/calls/{quote(example.call, safe='')}?revision={revision}"

    def run(self, example: Example) -> str:
        """Return the page of the run of a call; empty where there is none."""
        has_page = example.run and example.tenant == self.own
        return f"/runs/{quote(example.run, safe='')}" if has_page else ""


def showing(report: Report) -> Showing:
    """Return what a page says of a report."""
    report, subject = text.alike(report), report.subject
    begin, end = subject.since or report.first, subject.until or report.last
    return Showing(
        title=_title(report),
        before=", ".join(text.short(each) for each in subject.before) or "nothing",
        after=text.short(subject.revision),
        period=f"{begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC" if begin and end else "",
        wider=report.of(Lean.WIDER),
        narrower=report.of(Lean.NARROWER),
        other=report.of(Lean.OTHER),
        workload=[_asked(each, report.weeks) for each in report.workload],
        idle=report.idle_here,
        elsewhere=text.elsewhere(report) if report.elsewhere else "",
        command=command(report),
    )


def command(report: Report) -> str:
    """Return the command that makes the same report again."""
    subject = report.subject
    parts = ["weighbridge", "replay", "--revision", subject.revision]
    if subject.since is not None:
        parts += ["--since", f"{subject.since:%Y-%m-%dT%H:%M:%S}"]
    if subject.until is not None:
        parts += ["--until", f"{subject.until:%Y-%m-%dT%H:%M:%S}"]
    if subject.tenant:
        parts += ["--tenant", subject.tenant]
    if subject.run:
        parts += ["--run", subject.run]
    parts += ["--counters", str(subject.counters)]
    if subject.definitions:
        parts += ["--schemas", "FILE"]
    return shlex.join(parts)


def _title(report: Report) -> str:
    wider = sum(each.calls for each in report.of(Lean.WIDER))
    if wider:
        return f"{text.counted(wider, 'call')} would be granted more"
    if report.changed:
        return f"Nothing more is granted; {text.counted(report.changed, 'call')} would change"
    if report.undecidable:
        return f"Nothing changes, as far as is known of {text.counted(report.calls, 'call')}"
    return f"Nothing changes for {text.counted(report.calls, 'call')}"


def _asked(work: Work, weeks: float) -> Asked:
    return Asked(
        people=work.people or "anybody",
        before=work.before,
        after=work.after,
        weekly=f"{work.after / weeks:.1f}" if weeks >= 1 else "",
    )
