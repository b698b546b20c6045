"""The work of `weighbridge replay`, whose words are in `gateway.cli.replay`."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from gateway import __version__, jsontext
from gateway.admin.rendering import Pages
from gateway.admin.replay_showing import showing
from gateway.cli import definitions, judging, opening, output, pastime
from gateway.cli import transcript as transcripts
from gateway.cli.moments import earlier
from gateway.cli.progress import Bar
from gateway.replay import junit, sarif, text, transcript_forms
from gateway.replay.history import Span
from gateway.replay.report import Report, Wanted, as_json
from gateway.replay.types import Counters


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
    report = opening.run(
        lambda: judging.judged(
            path,
            span,
            candidate,
            how="replay",
            counters=Counters(counters),
            bar=bar,
            other=other,
        )
    )
    if other is not None:
        prefix = pastime.prefix(path, policies, candidate, named)
        report = definitions.told(report, path, candidate, other, prefix)
    _write(FORMS[form](report, wanted), out)
    _end(any(map(report.has, wanted)) or bool(report.unfaithful))


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
