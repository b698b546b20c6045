"""`weighbridge runs`: what agents work on, how far they are, and taking it out of their hands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import click

from gateway.actions import runs, timeline
from gateway.actions.runs import Gathering
from gateway.actions.timeline import Line
from gateway.cli import compensate, disclosing, output
from gateway.cli.ledger import Ledger, opened
from gateway.cli.ledger import run as ran
from gateway.cli.moments import age, earlier
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.cli.policies import policies
from gateway.client import wire
from gateway.crossing.run_wishes import By, Sees
from gateway.crossing.running import Step, to_pause, to_phase, to_resume
from gateway.runs.handover import Receiver
from gateway.runs.templates import Template
from gateway.store.events import EventFilter, StoredEvent
from gateway.store.runs import RunFilter
from gateway.store.times import microseconds
from gateway.types.actors import Actor
from gateway.types.json import Json, JsonObject
from gateway.types.operations import VerificationState
from gateway.types.runs import Mover, Phase, Run, StopReason

_HEADERS: Final = ("run", "phase", "template", "for", "age", "calls", "objective")
_ALL: Final = Sees()
T = TypeVar("T")


@click.command("list", epilog="Example: weighbridge runs list --phase awaiting_approval")
@config_option
@click.option("--phase", type=click.Choice([phase.value for phase in Phase]), default=None)
@click.option("--stopped", type=click.Choice([reason.value for reason in StopReason]), default=None)
@click.option("--open", "is_open", is_flag=True, help="Those that are neither over nor paused.")
@click.option("--template", default="")
@click.option("--tenant", default="")
@click.option("--user", default="", help="On whose behalf.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (1h).")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
@json_option
def list_runs(
    path: Path,
    phase: str | None,
    stopped: str | None,
    is_open: bool,
    template: str,
    tenant: str,
    user: str,
    since: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show runs, the newest first."""
    wanted = RunFilter(
        phase=phase or "",
        stop=stopped or "",
        is_open=is_open,
        template=template,
        tenant=tenant,
        user=user,
        since=earlier(since),
        limit=limit,
    )

    async def find() -> list[Run]:
        async with opened(path) as ledger:
            return await ledger.store.runs.find(wanted)

    found = ran(find)
    if as_json:
        output.as_json([_json(runs.brief(each, runs.ALL)) for each in found])
        return
    output.table(_HEADERS, [_row(each) for each in found])
    click.echo(f"{len(found)} run{'' if len(found) == 1 else 's'}")
    if len(found) == limit:
        click.echo(f"(the first {limit}; --limit gives more)", err=True)


@click.command("show", epilog="Example: weighbridge runs show run_01KB2Y8H6Z3M4N5P6Q7R8S9T0V")
@click.argument("run_id", metavar="RUN")
@config_option
@click.option(
    "--events",
    "most",
    type=click.IntRange(0, 100_000),
    default=200,
    show_default=True,
    help="So many of its newest events are told.",
)
@json_option
def show(run_id: str, path: Path, most: int, as_json: bool) -> None:
    """Show one run whole: what it is for, what it collected and did, and what to do about it.

    With --json, all that somebody needs to take it over, and its timeline; `is_cut` says whether
    more has happened before that.
    """
    templates = _templates(path)

    async def read(ledger: Ledger) -> tuple[wire.RunState, wire.Package, list[StoredEvent]]:
        run = await ledger.running(templates).get(run_id, _ALL)
        await disclosing.told(ledger.store, "runs show", {"run": run_id}, tenant=run.tenant)
        wanted = EventFilter(run=run_id, limit=most + 1, newest_first=True)
        events = await ledger.store.events.query(wanted)
        template = templates.get(run.template)
        package = await _package(ledger, run, template)
        return runs.state(run, template, runs.ALL), package, events

    state, package, events = _with(path, read)
    is_cut = len(events) > most
    lines = timeline.lines(events[:most][::-1])
    if as_json:
        happened: list[Json] = [_as_json(each) for each in lines]
        whole: JsonObject = {**_json(state), "package": _json(package)}
        output.as_json({**whole, "timeline": happened, "is_cut": is_cut})
        return
    _tell(state)
    _tell_package(package)
    if is_cut and most:
        click.echo(f"(the newest {most} events of it; --events gives more)", err=True)
    for each in lines:
        _line(each.at[:19].replace("T", " "), " ".join(part for part in _said(each) if part))


@click.command(epilog='Example: weighbridge runs pause run_01KB2Y8H… --reason "wrong customer"')
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--reason", required=True, help="Why; its agent is told.")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@json_option
def pause(run_id: str, path: Path, reason: str, by: str, as_json: bool) -> None:
    """Let a run change nothing until it is resumed; what is under way goes on to its end."""
    _change(path, run_id, by, to_pause(reason), as_json)


@click.command(epilog="Example: weighbridge runs resume run_01KB2Y8H6Z3M4N5P6Q7R8S9T0V")
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--reason", default="", help="Why it goes on.")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@json_option
def resume(run_id: str, path: Path, reason: str, by: str, as_json: bool) -> None:
    """Go on with a run that was paused, stopped as blocked, given up or handed over."""
    _change(path, run_id, by, to_resume(reason), as_json)


@click.command(
    epilog='Example: weighbridge runs handoff run_01KB2Y8H… --to "tier 2" --reason "he is angry"'
)
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--reason", required=True, help="Why the agent does not go on.")
@click.option("--to", default="", help="Who takes over: a person, a queue, a team.")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@json_option
def handoff(run_id: str, path: Path, reason: str, to: str, by: str, as_json: bool) -> None:
    """Take a run out of its agent's hands, and show what whoever takes over has to know."""
    step = to_phase(Phase.HANDOFF, Mover.PERSON, runs.handed(reason, to))
    templates = _templates(path)

    async def hand_over(ledger: Ledger) -> wire.Package:
        running = ledger.running(templates)
        await _checked(ledger, templates, run_id, by, step)
        return await _package(ledger, await running.get(run_id, _ALL), None)

    package = _with(path, hand_over)
    if as_json:
        output.as_json(_json(package))
        return
    _line("run", f"{package.run_id} is handed over; {package.reason}")
    _tell_package(package)


@click.command(
    "compensate", epilog="Example: weighbridge runs compensate run_01KB2Y8H… --execute --wait 60s"
)
@click.argument("run_id", metavar="RUN")
@config_option
@click.option("--plan/--execute", "is_plan", default=True, help="Show it (default), or ask for it.")
@click.option("--wait", default="", help="With --execute: wait so long for the end (60s).")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@click.option("--reason", default="", help="Why; kept with the operations.")
@json_option
def undo(
    run_id: str, path: Path, is_plan: bool, wait: str, by: str, reason: str, as_json: bool
) -> None:
    """Show how what a run did can be undone, the last first; with --execute, have it done.

    A running gateway does it, as the principal of each operation. Exit code 0 when everything is
    ready, and with --wait undone; 1 when something is not.
    """

    async def named(ledger: Ledger) -> Run:
        return await ledger.running({}).get(run_id, _ALL)

    _with(path, named)
    compensate.undo_run(
        path, run_id, is_plan=is_plan, wait=wait, by=by, reason=reason, as_json=as_json
    )


def _change(path: Path, run_id: str, by: str, step: Step, as_json: bool) -> None:
    templates = _templates(path)

    async def change(ledger: Ledger) -> Run:
        return await _checked(ledger, templates, run_id, by, step)

    run = _with(path, change)
    if as_json:
        output.as_json(_json(runs.brief(run, runs.ALL)))
    else:
        stands = _held(run.is_paused, run.stop_reason) or run.phase.value
        _line("run", f"{run.run_id} is {stands}{f': {run.note}' if run.note else ''}")


async def _checked(
    ledger: Ledger, templates: Mapping[str, Template], run_id: str, by: str, step: Step
) -> Run:
    """Take a step with a run, as whoever sits at this terminal."""
    running = ledger.running(templates)
    tenant = (await running.get(run_id, _ALL)).tenant
    said = who(by)
    actor = Actor(
        user=said.by,
        tenant=tenant,
        roles=frozenset(),
        scopes=frozenset(),
        client="terminal",
        method="local",
        issuer=f"os:{said.account}",
    )
    return await running.change(run_id, _ALL, By(mover=Mover.PERSON, actor=actor), step)


async def _package(ledger: Ledger, run: Run, template: Template | None) -> wire.Package:
    store = ledger.store
    gathering = Gathering(runs=store.runs, operations=store.operations, approvals=store.approvals)
    package = await gathering.package(run, template, Receiver(), {})
    return runs.packaged(package, page=ledger.loaded.settings.admin.public_url or "")


def _with(path: Path, work: Callable[[Ledger], Awaitable[T]]) -> T:
    async def opened_work() -> T:
        async with opened(path) as ledger:
            return await work(ledger)

    return ran(opened_work)


def _templates(path: Path) -> Mapping[str, Template]:
    """Return the templates on disk; none while the files can't be used."""
    revision = policies(path, None).built.revision
    return revision.templates if revision is not None else {}


def _row(run: Run) -> tuple[str, ...]:
    held = _held(run.is_paused, run.stop_reason)
    return (
        run.run_id,
        f"{run.phase.value} ({held})" if held else run.phase.value,
        run.template or "–",
        f"{run.user}@{run.tenant}",
        age(run.created_at),
        str(run.calls),
        run.objective or "–",
    )


def _held(is_paused: bool, stop: StopReason | None) -> str:
    """Say how a run is held up; empty where it is not."""
    return ("blocked" if stop is StopReason.BLOCKED else "paused") if is_paused else ""


def _tell(state: wire.RunState) -> None:
    _line("run", state.run_id)
    _line("objective", state.objective)
    _line("for", f"{state.user}@{state.tenant}")
    held = _held(state.is_paused, state.stop_reason)
    _line("phase", f"{state.phase}{held and f', {held}'} ({state.mode} mode)")
    if state.held_by:
        _line("held by", f"{state.held_by}, the run around it, which is paused or over")
    for name, text in (("template", state.template), ("task", state.task_id)):
        _line(name, text)
    _line("stopped", state.stop_reason or "")
    _line("note", state.note)
    for phase, missing in state.missing.items():
        _line("missing", f"for {phase}: {', '.join(missing)}")
    begun, active = (age(microseconds(at)) for at in (state.created_at, state.active_at))
    _line("begun", f"{begun} ago by {state.client}; last used {active} ago")
    _line("spent", f"{state.calls} calls, {state.tokens} tokens, {state.evidence} references")


def _tell_package(package: wire.Package) -> None:
    for op in [*package.unknown, *package.operations]:
        mark = "! " if op.is_unknown else ""
        is_checked = op.verification != VerificationState.NOT_DECLARED
        check = f", {op.verification}" if is_checked else ""
        _line("operation", f"{op.op_id}  {mark}{op.state}{check}  {op.tool}")
    for approval in package.approvals:
        _line("waits", f"{approval.approval_id}  {approval.tool}")
    for each in package.fields:
        value = output.on_one_line(str(each.value))
        _line("field", f"{each.name} = {value}  (from {each.source})")
    for reference in package.evidence:
        parts = (reference.source, reference.version, reference.chunk)
        _line("evidence", "  ".join(part for part in parts if part))
    for step in package.next:
        _line("next", step)


def _said(line: Line) -> Sequence[str]:
    about = line.approval or line.op or line.call
    return (line.title, line.tool, line.outcome, line.by and f"by {line.by}", line.detail, about)


def _as_json(line: Line) -> JsonObject:
    return {name: getattr(line, name) for name in line.__dataclass_fields__}


def _json(reply: wire.Reply) -> JsonObject:
    return reply.model_dump(mode="json")


def _line(name: str, text: str) -> None:
    if text:
        output.one_line(f"{name:<12}  {text}")
