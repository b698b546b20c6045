"""`weighbridge policy diff --since`: what a change does to calls of the past, in one report."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.cli import judging, opening, output
from gateway.cli.moments import earlier
from gateway.cli.progress import Bar
from gateway.replay import text
from gateway.replay.history import Span
from gateway.replay.report import Report
from gateway.replay.types import Counters
from gateway.revision import Revision
from gateway.types.leans import Lean

TITLE: Final = "CALLS OF THE PAST, by what was in force then and by NEW"

FAILS: Final[dict[str, Callable[[Report], bool]]] = {
    "wider": lambda report: bool(report.of(Lean.WIDER)),
    "narrower": lambda report: bool(report.of(Lean.NARROWER)),
    "any": lambda report: report.changed > 0,
}


def past(
    path: Path, after: Revision, since: str, tenant: str, counters: str, *, is_quiet: bool
) -> Report:
    """Judge the calls of a period by a revision, as `weighbridge replay` does."""
    span, bar = Span(since=earlier(since), tenant=tenant), Bar(is_quiet=is_quiet)
    return opening.run(
        lambda: judging.judged(
            path, span, after, how="policy diff", counters=Counters(counters), bar=bar
        )
    )


def as_text(report: Report) -> str:
    """Render below what was made up, for a terminal."""
    return "\n".join(["", TITLE, *map(output.on_one_line, text.lines(report))])


def as_markdown(report: Report) -> str:
    """Render for a comment: the lines as they are in a terminal, since names are from outside."""
    lines = [*map(output.on_one_line, text.lines(report))]
    longest = max((len(each) for line in lines for each in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(["", f"**{TITLE.capitalize()}**", "", fence, *lines, fence])
