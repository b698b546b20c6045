"""How commands judge the calls of a time once more, and say in the log that they read them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.cli import disclosing, giving, opening, pastime, sealed
from gateway.cli.progress import Bar
from gateway.replay.fitting import Fitting
from gateway.replay.history import Span
from gateway.replay.redefined import Redefined
from gateway.replay.replaying import Replay
from gateway.replay.report import Report
from gateway.replay.reporting import reported
from gateway.replay.types import Counters
from gateway.replay.watching import Watched
from gateway.revision import Revision
from gateway.store.selection import Selection
from gateway.types.json import JsonObject
from gateway.types.values import replaced

_EVERY: Final = 250  # calls, after which it is said how far it is


async def judged(
    path: Path,
    span: Span,
    candidate: Revision,
    *,
    how: str,
    counters: Counters,
    bar: Bar,
    other: Redefined | None = None,
) -> Report:
    """Return what a candidate says of the calls of a span; `other` are definitions in its place.

    `how` names the command. Raises StoreUnavailable.
    """
    fitting = Fitting(tools=other.tools if other is not None else {})
    async with opening.opened(path) as store:
        replay = Replay(
            candidate=other.revision if other is not None else candidate,
            past=pastime.past(store, path),
            definitions=await store.definitions.all(),
            counters=counters,
            offered=other.offered if other is not None else {},
            watches=fitting,
        )
        unsealing, asked = sealed.opener(store, path), _asked(span)
        await disclosing.told(store, how, asked, tenant=span.tenant)
        await giving.note_archived(store, span.since)
        wanted = Selection(tenants=(span.tenant,) if span.tenant else ())
        await giving.note_strangers(store, wanted)
        watched = await Watched.of(store.events, span)

        def told(calls: int) -> None:
            if calls % _EVERY == 0:
                bar.show(watched.share, f"{calls:,} calls")

        report = await reported(
            watched, span, replay, counters=counters, told=told, unsealing=unsealing
        )
        bar.end()
        await sealed.noted(store, unsealing, how, asked, tenant=span.tenant)
    return replaced(report, tools=fitting.report())


def _asked(span: Span) -> JsonObject:
    named: Mapping[str, str] = {"tenant": span.tenant, "run": span.run}
    times = {"since": str(span.since or ""), "until": str(span.until or "")}
    return {**named, **times}
