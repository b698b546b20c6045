"""`weighbridge enforce`: from recording decisions to carrying them out, and back."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import click

from gateway.actions import switching
from gateway.actions.state import is_dead
from gateway.cli import disclosing, giving, observed, offers, opening, output, pastime
from gateway.cli.flags import config_option, json_option
from gateway.cli.foreseen import Foreseen
from gateway.cli.moments import earlier
from gateway.cli.options import load, relative
from gateway.cli.progress import Bar
from gateway.clock import SystemClock
from gateway.config import environment
from gateway.config.load import Loaded
from gateway.contracts.standing import Standing, standing
from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Counters
from gateway.replay.watching import Watched
from gateway.revision import Revision, Unreviewed
from gateway.store.instances import InstanceStatus
from gateway.types.decisions import Mode
from gateway.types.json import JsonObject

_EVERY: Final = 250  # calls, after which it is said how far it is
_FRESH_S: Final = 10.0  # a running gateway writes its state every two seconds
_LOOK_S: Final = 0.2
_WITHIN_S: Final = 15.0  # for a running gateway to take the line over
_SHOWN: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would be other than it is: calls like those of the log, and tools of now."""

    foreseen: Foreseen
    vanishing: Sequence[tuple[str, str]]  # `server.name`, and why agents would not have it
    unread: Sequence[str] = field(default_factory=tuple[str, ...])  # servers that did not answer


@click.command("enforce", epilog="Example: weighbridge enforce --since 30d")
@config_option
@click.option(
    "--since",
    default="7d",
    show_default=True,
    help="Foresee from calls since a time in UTC (2026-11-29T09:00:00) or an age.",
)
@click.option("--yes", is_flag=True, help="Switch without a question.")
@click.option("--undo", is_flag=True, help="Back to `mode: observe`: every call passes again.")
@click.option("--preview", "only", is_flag=True, help="Say what would be, and change nothing.")
@json_option
def command(path: Path, since: str, yes: bool, undo: bool, only: bool, as_json: bool) -> None:
    """Carry decisions out from now on: `mode: enforce` in the configuration file.

    First it is said what would be denied, held or answered from the record of the calls in the
    log, by the files as they are now, and which tools agents would no longer have. A running
    gateway takes the line over within seconds, and nothing else of the file.
    """
    loaded, mode = load(path), Mode.OBSERVE if undo else Mode.ENFORCE
    if undo and only:
        output.fail("`--preview` foresees enforcing; leave `--undo` out")
    told: JsonObject = {"from": str(loaded.settings.mode), "mode": str(mode)}
    if not undo:
        preview = _previewed(path, loaded, since, quiet=as_json)
        told["preview"] = _as_json(preview)
        if not as_json:
            _show(preview, since)
    if only or not _is_wanted(loaded, mode, yes=yes, as_json=as_json):
        told |= {"mode": str(loaded.settings.mode), "changed": False}
    else:
        told |= _switched(path, mode)
    if as_json:
        output.as_json(told)
    elif told.get("changed") is not False:
        _tell(path, mode, told)


def _is_wanted(loaded: Loaded, mode: Mode, *, yes: bool, as_json: bool) -> bool:
    """Ask whoever is there; ends the command where nobody could have seen the question."""
    if loaded.settings.mode is mode:
        if not as_json:
            output.line(f"the configuration says `mode: {mode}` already")
        return False
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        output.fail("nobody is there to be asked; add `--yes` to switch, `--preview` to look")
    question = "Enforce decisions from now on?" if mode is Mode.ENFORCE else "Let every call pass?"
    return click.confirm(question, default=False)


# --- what would be ------------------------------------------------------------------------------


def _previewed(path: Path, loaded: Loaded, since: str, *, quiet: bool) -> Preview:
    revision = pastime.candidate(path, None, None, "")
    foreseen = opening.run(lambda: _foreseen(path, revision, Span(since=earlier(since)), quiet))
    found = offers.inspected(loaded, path)
    observes = revision.unreviewed is Unreviewed.OBSERVE
    vanishing: list[tuple[str, str]] = []
    for tool in found.tools:
        how = standing(tool, revision.contracts.get(tool.key))
        is_open = how in (Standing.UNREVIEWED, Standing.NO_CONTRACT) and observes
        if how is not Standing.REVIEWED and not is_open:
            vanishing.append((tool.key, how.value))
    unread = [state.name for state in found.states if state.status != "ready"]
    return Preview(foreseen=foreseen, vanishing=vanishing, unread=[*unread, *found.misconfigured])


async def _foreseen(path: Path, revision: Revision, span: Span, quiet: bool) -> Foreseen:
    foreseen, bar = Foreseen(), Bar(is_quiet=quiet)
    if _has_no_store(path):
        return foreseen
    async with opening.opened(path) as store:
        replay = Replay(
            candidate=revision,
            past=pastime.past(store, path),
            definitions=await store.definitions.all(),
            counters=Counters.SIMULATED,
        )
        asked: JsonObject = {"since": str(span.since or "")}
        await disclosing.told(store, "enforce", asked)
        await giving.note_archived(store, span.since)
        watched = await Watched.of(store.events, span)
        async for compared in replay.over(history.calls(watched, span)):
            foreseen.see(compared)
            if foreseen.tally.calls % _EVERY == 0:
                bar.show(watched.share, f"{foreseen.tally.calls:,} calls")
        bar.end()
    return foreseen


def _has_no_store(path: Path) -> bool:
    """Whether there is no log yet: nothing was ever called."""
    url = load(path).settings.store.url
    return url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists()


def _show(preview: Preview, since: str) -> None:
    tally, undecidable = preview.foreseen.tally, preview.foreseen.undecidable
    if tally.calls:
        sums = [f"{calls} {observed.IN_WORDS[would]}" for would, calls in tally.sums().items()]
        rest = tally.calls - sum(tally.sums().values())
        output.line(
            f"of {tally.calls} calls since {since}, by the files as they are now: "
            f"{', '.join([*sums, f'{max(rest, 0)} as they were'])}"
        )
        observed.show(tally)
    else:
        output.line(f"no call is in the log since {since}: nothing can be foreseen from it")
    if undecidable:
        output.line(f"{undecidable} calls can't be judged again: too little is known of them")
    if preview.vanishing:
        many = len(preview.vanishing)
        output.line(f"{many} tool{'' if many == 1 else 's'} would not be there for agents:")
        for tool, why in preview.vanishing[:_SHOWN]:
            output.one_line(f"  {tool}  ({why})")
        if len(preview.vanishing) > _SHOWN:
            output.line(f"  and {len(preview.vanishing) - _SHOWN} more")
        output.line("review them with `weighbridge tools review`")


def _as_json(preview: Preview) -> JsonObject:
    return {
        **preview.foreseen.to_json(),
        "vanishing": [{"tool": tool, "because": why} for tool, why in preview.vanishing],
        "unread": [*preview.unread],
    }


# --- the switch ---------------------------------------------------------------------------------


def _switched(path: Path, mode: Mode) -> JsonObject:
    """Write the line, and wait for the gateways that run to go by it."""
    before = opening.run(lambda: _running(path))
    opening.fine(lambda: switching.switch(path, mode, environment.environ()))
    names = {one.instance for one in before}
    behind = opening.run(lambda: _behind(path, names, mode)) if names else []
    return {
        "changed": True,
        "taken_over": len(names) - len(behind),
        "behind": [
            {
                "front": one.status.get("front"),
                "pid": one.status.get("pid"),
                "problem": one.status.get("mode_problem"),
            }
            for one in behind
        ],
    }


async def _running(path: Path) -> list[InstanceStatus]:
    """Return the gateways of this store that run; none where there is no store yet."""
    if _has_no_store(path):
        return []
    async with opening.opened(path) as store:
        found = await store.instances.all()
    now = SystemClock().now()
    fresh = [one for one in found if (now - one.at).total_seconds() <= _FRESH_S]
    return [one for one in fresh if not is_dead(one.status)]


async def _behind(path: Path, names: set[str], mode: Mode) -> list[InstanceStatus]:
    """Wait until gateways go by a mode, and return those that don't after all."""
    behind: list[InstanceStatus] = []
    with anyio.move_on_after(_WITHIN_S):
        while True:
            behind = [
                one
                for one in await _running(path)
                if one.instance in names and one.status.get("mode") != mode
            ]
            if not behind:
                return []
            await anyio.sleep(_LOOK_S)
    return behind


def _tell(path: Path, mode: Mode, told: JsonObject) -> None:
    output.one_line(f"{relative(path)} says `mode: {mode}` now")
    taken, behind = told.get("taken_over"), told.get("behind")
    if taken:
        output.line(f"{taken} running gateway{'' if taken == 1 else 's'} took it over")
    for each in behind if isinstance(behind, list) else []:
        if isinstance(each, dict):
            because = f": {each['problem']}" if each.get("problem") else ""
            output.one_line(
                f"MEND  the gateway at {each.get('front')} (pid {each.get('pid')}) has not taken "
                f"it over{because}; restart it"
            )
    if behind:
        raise SystemExit(output.EXIT_FAILED)
    if not taken:
        output.line("no gateway of this store runs; the next one goes by it")
