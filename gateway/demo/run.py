"""`weighbridge demo`: real servers, the real gateway, a scripted agent; ends by itself.

Exit code 0 when every call ended as the script expects and the books agree, else 1.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from gateway import jsontext
from gateway.demo import journal, report, workspace
from gateway.demo.agent import Said, difference
from gateway.demo.helpdesk import Totals
from gateway.demo.processes import DemoFault
from gateway.demo.report import Ended
from gateway.demo.scene import (
    BINDING,
    OP,
    REQUEST,
    RUN,
    Command,
    Line,
    Request,
    Stands,
    Step,
    Surprise,
)
from gateway.demo.script import script
from gateway.demo.stage import Stage, raised
from gateway.demo.table import Printer, Tone, is_coloured
from gateway.errors import first_cause
from gateway.types.json import JsonObject

BOOKS: Final = Totals(customers=6, notes=2, opened=3, refunds=4, cancelled=1, refunded_cents=44500)
_LOOKS: Final = (
    "events query --decision deny",
    "events verify --checkpoint {copies}",
    "replay --since 1h",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for."""

    keep: bool
    as_json: bool
    time_server: Path | None


def main(argv: Sequence[str] | None = None) -> int:
    """Play the demo and return the exit code."""
    options = _options(argv)
    out = sys.stderr if options.as_json else sys.stdout
    printer = Printer(out, is_coloured(out, os.environ))
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-demo-"))
    good, is_stopped = False, False
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing stays
    try:
        good = anyio.run(partial(_demo, options, folder, printer))
    except* DemoFault as faults:
        print(f"weighbridge: {first_cause(faults)}", file=sys.stderr)
    except* KeyboardInterrupt:
        is_stopped = True
        print("weighbridge: interrupted", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)
    if options.keep or not good:
        config = folder / workspace.CONFIG
        print(f"kept for a look: {folder}", file=sys.stderr)
        for words in _LOOKS if config.is_file() else ():
            shown = words.format(copies=folder / "checkpoints.jsonl")
            print(f"  weighbridge {shown} --config {config}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    if is_stopped:
        return 130  # as shells report SIGINT
    return 0 if good else 1


def parser() -> argparse.ArgumentParser:
    """Return what reads the options of the demo."""
    parser = argparse.ArgumentParser(
        prog="weighbridge demo",
        description="Play the main job: two agents, three tool servers, one gateway.",
        epilog="example: weighbridge demo --keep",
    )
    parser.add_argument("--keep", action="store_true", help="keep configuration, store and logs")
    parser.add_argument("--json", action="store_true", help="print one JSON document for programs")
    parser.add_argument(
        "--time-server",
        type=Path,
        default=workspace.time_server(),
        metavar="PROGRAM",
        help="the `mcp-server-time` to put behind the gateway too",
    )
    return parser


def _options(argv: Sequence[str] | None) -> Options:
    parsed = parser().parse_args(argv)
    return Options(keep=parsed.keep, as_json=parsed.json, time_server=parsed.time_server)


async def _demo(options: Options, folder: Path, printer: Printer) -> bool:
    lines = script(with_time=options.time_server is not None)
    printer.line("Weighbridge: two agents, two tenants, one gateway", Tone.HEAD)
    printer.line("starting the servers and the gateway, which takes some seconds", Tone.FAINT)
    async with raised(folder, options.time_server) as stage:
        await stage.ready(lines)
        await _introduce(stage, options, printer)
        ended = await _play(stage, lines, printer)
    found = journal.events(stage.workspace.config)
    totals = stage.workspace.books.totals()
    _conclude(stage, ended, found, totals, printer)
    good = report.is_good(ended, found, stage.trace) and totals == BOOKS
    if options.as_json:
        print(jsontext.dump(_document(stage, ended, found, good=good)).decode())
    return good


async def _introduce(stage: Stage, options: Options, printer: Printer) -> None:
    seen = [f"{name} {len(await agent.tools())}" for name, agent in stage.agents.items()]
    servers = "crm over stdio, desk over HTTP"
    if options.time_server is not None:
        servers += ", mcp-server-time from PyPI over stdio"
    printer.line(f"gateway  {stage.gate.url}")
    printer.line(f"servers  {servers}")
    printer.line(f"tools    listed for {', for '.join(seen)}")
    report.calls_head(printer)


async def _play(stage: Stage, lines: Sequence[Line], printer: Printer) -> Sequence[Ended]:
    ended: list[Ended] = []
    names: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if line.cue is not None:
            await stage.cue(line.cue)
        words = _words(line, names)
        said = await _said(stage, line, words, names.get(RUN, ""))
        known = {OP: said.op_id, REQUEST: said.request, BINDING: said.binding, RUN: said.run}
        names |= {word: name for word, name in known.items() if name}
        ended.append(Ended(line=line, said=said, difference=difference(line, said), words=words))
        in_books = report.books(stage.workspace.books.totals()) if line.shows_books else ""
        report.call(printer, number, ended[-1], in_books=in_books)
    return ended


def _words(line: Line, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command or request as it is given; `names` are what some words stand for."""
    match line:
        case Step():
            return ()
        case Command():
            return tuple(names.get(word, word) for word in line.words)
        case Request():
            return (line.asks.replace(RUN, names.get(RUN, RUN)),)


async def _said(stage: Stage, line: Line, words: Sequence[str], run: str) -> Said:
    """Return what came of a line; `words` are a command's as they are given, `run` the last one."""
    if isinstance(line, Step):
        return await stage.agents[line.tenant].call(line, run if line.in_run else "")
    if isinstance(line, Request):
        return await stage.host.ask(line, run)
    ask = partial(journal.asked, stage.workspace.config, *words, is_refused=line.is_refused)
    try:
        return _shown(line, await anyio.to_thread.run_sync(ask))
    except DemoFault as fault:
        return Said(status="failed", reason=str(fault))


def _shown(command: Command, rows: Sequence[JsonObject]) -> Said:
    """Return what a command shows, which has to be one operation, request or run."""
    if len(rows) != 1:
        return Said(status=f"{len(rows)} rows", reason="")
    row = rows[0]
    said = Said(
        status=_status(row),
        reason="",
        request=str(row.get("approval_id", "")),
        binding=str(row.get("binding_short", "")),
    )
    try:
        return replace(said, reason=command.observe(row))
    except Surprise as error:
        return replace(said, surprise=str(error))


def _status(row: JsonObject) -> str:
    if row.get("is_paused") is True:
        return Stands.PAUSED
    return str(row.get("cast") or row.get("state") or row.get("phase", ""))


def _conclude(
    stage: Stage,
    ended: Sequence[Ended],
    found: Sequence[JsonObject],
    totals: Totals,
    printer: Printer,
) -> None:
    report.events(printer, found, ended)
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    counts = journal.operations(stage.workspace.config)
    printer.line()
    printer.line(f"trace       {report.trace(stage.trace, endpoint)}")
    printer.line(f"operations  {report.operations(counts)}")
    printer.line(f"books       {report.books(totals)}", None if totals == BOOKS else Tone.WRONG)
    tone = Tone.WRONG if any(each.difference for each in ended) else Tone.GOOD
    printer.line(f"verdict     {report.verdict(ended)}", tone)


def _document(
    stage: Stage, ended: Sequence[Ended], found: Sequence[JsonObject], *, good: bool
) -> JsonObject:
    return {
        "ok": good,
        "trace_id": stage.trace,
        "calls": [_call(each.line, each) for each in ended if isinstance(each.line, Step)],
        "commands": [_command(each.line, each) for each in ended if isinstance(each.line, Command)],
        "requests": [_request(each.line, each) for each in ended if isinstance(each.line, Request)],
        "events": [*found],
    }


def _call(step: Step, ended: Ended) -> JsonObject:
    return {
        "tenant": step.tenant,
        "tool": step.tool,
        "status": ended.said.status,
        "rule": ended.said.rule,
        "reason": ended.said.reason,
        "call_id": ended.said.call_id,
        "op_id": ended.said.op_id,
        "difference": ended.difference,
    }


def _command(command: Command, ended: Ended) -> JsonObject:
    return {
        "words": ["weighbridge", *command.words],
        "state": ended.said.status,
        "said": ended.said.reason,
        "difference": ended.difference,
    }


def _request(request: Request, ended: Ended) -> JsonObject:
    return {
        "asks": " ".join(ended.words),
        "phase": ended.said.status,
        "run_id": ended.said.run,
        "said": ended.said.reason,
        "difference": ended.difference,
    }
