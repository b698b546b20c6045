"""`weighbridge policy diff --since`: what a change does to calls of the past, in one report."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.cli import disclosing, opening, output, pastime, sealed
from gateway.cli.moments import earlier
from gateway.cli.progress import Bar
from gateway.replay import text
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.report import Report
from gateway.replay.reporting import reported
from gateway.replay.types import Counters
from gateway.replay.watching import Watched
from gateway.revision import Revision
from gateway.types.json import JsonObject
from gateway.types.leans import Lean

TITLE: Final = "CALLS OF THE PAST, by what was in force then and by NEW"
_EVERY: Final = 250  # calls, after which it is said how far it is

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
    return opening.run(lambda: _replayed(path, after, span, Counters(counters), bar))


async def _replayed(
    path: Path, after: Revision, span: Span, counters: Counters, bar: Bar
) -> Report:
    async with opening.opened(path) as store:
        replay = Replay(
            candidate=after,
            past=pastime.past(store, path),
            definitions=await store.definitions.all(),
            counters=counters,
        )
        unsealing = sealed.opener(store, path)
        asked: JsonObject = {"tenant": span.tenant, "since": str(span.since)}
        await disclosing.told(store, "policy diff", asked, tenant=span.tenant)
        watched = await Watched.of(store.events, span)

        def told(calls: int) -> None:
            if calls % _EVERY == 0:
                bar.show(watched.share, f"{calls:,} calls")

        report = await reported(
            watched, span, replay, counters=counters, told=told, unsealing=unsealing
        )
        bar.end()
        await sealed.noted(store, unsealing, "policy diff", asked, tenant=span.tenant)
    return report


def as_text(report: Report) -> str:
    """Render below what was made up, for a terminal."""
    return "\n".join(["", TITLE, *map(output.on_one_line, text.lines(report))])


def as_markdown(report: Report) -> str:
    """Render for a comment: the lines as they are in a terminal, since names are from outside."""
    lines = [*map(output.on_one_line, text.lines(report))]
    longest = max((len(each) for line in lines for each in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(["", f"**{TITLE.capitalize()}**", "", fence, *lines, fence])
