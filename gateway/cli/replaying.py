"""The work of `weighbridge replay`, whose words are in `gateway.cli.replay`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from gateway import __version__, jsontext
from gateway.admin.rendering import Pages
from gateway.admin.replay_showing import showing
from gateway.cli import (
    definitions,
    disclosing,
    giving,
    opening,
    output,
    pastime,
    sealed,
)
from gateway.cli import transcript as transcripts
from gateway.cli.moments import earlier
from gateway.cli.progress import Bar
from gateway.replay import junit, sarif, text, transcript_forms
from gateway.replay.fitting import Fitting
from gateway.replay.history import Span
from gateway.replay.redefined import Redefined
from gateway.replay.replaying import Replay
from gateway.replay.report import Report, Wanted, as_json
from gateway.replay.reporting import reported
from gateway.replay.types import Counters
from gateway.replay.watching import Watched
from gateway.revision import Revision
from gateway.store.selection import Selection
from gateway.types.json import JsonObject
from gateway.types.values import replaced

_EVERY = 250  # calls, after which it is said how far it is


def _as_text(report: Report, fail_on: tuple[Wanted, ...]) -> str:
    del fail_on
    return "\n".join(map(output.on_one_line, text.lines(report)))


def _as_html(report: Report, fail_on: tuple[Wanted, ...]) -> str:
    del fail_on
    return Pages().file("replay_file", report=report, showing=showing(report))


FORMS: Mapping[str, Callable[[Report, tuple[Wanted, ...]], str]] = {
    "text": _as_text,
    "json": lambda report, _: jsontext.dump(as_json(report)).decode(),
    "html": _as_html,
    "junit": lambda report, fail_on: junit.junit(report, fail_on=fail_on),
    "sarif": lambda report, _: jsontext.dump(sarif.sarif(report, version=__version__)).decode(),
}


def judge(
    path: Path,
    since: str,
    until: str,
    tenant: str,
    run: str,
    policies: Path | None,
    contracts: Path | None,
    named: str,
    files: tuple[str, ...],
    transcript: Path | None,
    counters: str,
    form: str,
    out: Path | None,
    fail_on: tuple[str, ...],
) -> None:
    """Judge what the options of the command name, and write the report."""
    candidate = pastime.candidate(path, policies, contracts, named)
    span = Span(since=earlier(since), until=earlier(until), tenant=tenant, run=run)
    other = definitions.given(files, path, candidate)
    wanted = tuple(map(Wanted, fail_on))
    if transcript is not None:
        compared = transcripts.beside(path, candidate, other, run, transcript)
        _write(transcripts.FORMS[form](compared, wanted), out)
        _end(any(transcript_forms.has(compared, each) for each in wanted))
        return
    bar = Bar(is_quiet=form == "json")
    report = opening.run(lambda: _replayed(path, candidate, other, span, Counters(counters), bar))
    if other is not None:
        prefix = pastime.prefix(path, policies, candidate, named)
        broken = definitions.broken(path, candidate, other, prefix)
        report = definitions.told(report, candidate, other, broken)
    _write(FORMS[form](report, wanted), out)
    _end(any(map(report.has, wanted)) or bool(report.unfaithful))


async def _replayed(
    path: Path,
    candidate: Revision,
    other: Redefined | None,
    span: Span,
    counters: Counters,
    bar: Bar,
) -> Report:
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
        unsealing = sealed.opener(store, path)
        times = {"since": str(span.since or ""), "until": str(span.until or "")}
        asked: JsonObject = {"tenant": span.tenant, "run": span.run, **times}
        await disclosing.told(store, "replay", asked, tenant=span.tenant)
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
        await sealed.noted(store, unsealing, "replay", asked, tenant=span.tenant)
    return replaced(report, tools=fitting.report())


def _end(failed: bool) -> None:
    if failed:
        sys.exit(output.EXIT_FAILED)


def _write(written: str, out: Path | None) -> None:
    if out is None:
        click.echo(written)
        return
    try:
        out.write_text(written + "\n", encoding="utf-8")
    except OSError as error:
        output.fail(f"`{out}` can't be written: {(error.strerror or '').lower()}")
    click.echo(f"wrote {out}", err=True)
