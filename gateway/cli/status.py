"""`weighbridge status`: what each running gateway says of itself, read from the store."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import anyio
import click

from gateway.actions.crew import absent, worker_of
from gateway.actions.observed import IN_WORDS, Tally
from gateway.actions.state import is_dead
from gateway.cli import output
from gateway.cli.opening import opened
from gateway.cli.options import config_option, json_option
from gateway.cli.proven import checkpoint_lines, checkpoint_problems
from gateway.clock import SystemClock
from gateway.contracts.standing import in_words
from gateway.errors import WeighbridgeError
from gateway.store.instances import InstanceStatus
from gateway.store.runs import RunFilter
from gateway.types.decisions import Mode
from gateway.types.json import Json, JsonObject
from gateway.types.operations import OpState
from gateway.types.runs import StopReason

_MOST_CAUSES = 10
_FRESH_S = 10.0  # a running gateway writes every two seconds
_STOPPED = RunFilter(stop=StopReason.BLOCKED.value, limit=1_000)


@click.command("status", epilog="Example: weighbridge status --config config.yaml --json")
@config_option
@json_option
def command(path: Path, as_json: bool) -> None:
    """Show servers, tools, the revision in force, the store and telemetry.

    While decisions are only recorded (`mode: observe`), what would have been denied, held or
    repeated is there as well, by tool and rule, since the gateway started or the day began.

    Exit code 0 when a gateway runs and nothing is wrong, 1 otherwise, while servers start, while
    gateways go by different revisions, and while nobody knows what became of an operation.
    """

    async def read() -> tuple[list[InstanceStatus], dict[str, int], int]:
        async with opened(path) as store:
            stopped = await store.runs.find(_STOPPED)
            return await store.instances.all(), await store.operations.count(), len(stopped)

    try:
        found, counts, stopped = anyio.run(read)
    except WeighbridgeError as error:
        output.fail(str(error), output.EXIT_FAILED)
    now = SystemClock().now()
    fresh = [one for one in found if (now - one.at).total_seconds() <= _FRESH_S]
    running = [one for one in fresh if not is_dead(one.status)]
    unknown = counts.get(OpState.INDETERMINATE.value, 0)
    if as_json:
        output.as_json([_as_json(one, counts, stopped) for one in running])
    else:
        _tell_absence([one.status for one in fresh if one not in running], is_any=bool(running))
    revisions = {str(one.status.get("revision")) for one in running}
    away = absent(one.status for one in running)
    problems = unknown > 0 or len(revisions) > 1 or bool(away)
    for one in running:
        lines = list(_problems(one.status))
        problems = problems or bool(lines)
        if not as_json:
            _show(one.status, lines)
    if unknown and not as_json:
        output.one_line(
            f"operations {unknown} of which nobody knows; "
            "see `weighbridge ops list --state indeterminate`"
        )
    if stopped and not as_json:
        many = f"{stopped} or more" if stopped == _STOPPED.limit else str(stopped)
        output.one_line(
            f"runs      {many} stopped as blocked; see `weighbridge runs list --stopped blocked`"
        )
    if len(revisions) > 1 and not as_json:
        output.one_line(
            "MEND  these gateways go by different revisions, so one may let through what another "
            "holds; give all of them the same policy folder"
        )
    _tell_away(() if as_json else away)
    if problems or not running:
        raise SystemExit(output.EXIT_FAILED)


def _as_json(one: InstanceStatus, counts: Mapping[str, int], stopped: int) -> JsonObject:
    """Return what a gateway said, when, and what all gateways of a store share."""
    return {
        "instance": one.instance,
        "at": one.at.isoformat(),
        **one.status,
        "operations": {**counts},
        "runs": {"blocked": stopped},
    }


def _tell_absence(dead: Sequence[JsonObject], *, is_any: bool) -> None:
    for status in dead:
        output.one_line(
            f"the gateway at {status.get('front')} ({_process(status)}) has died: its process "
            "is gone, and it did not stop in order"
        )
    if not is_any:
        click.echo(
            "no gateway of this store is running; `weighbridge serve` starts one, and so does a "
            "client that has it as its server"
        )


def _tell_away(away: Sequence[str]) -> None:
    for each in away:
        output.one_line(f"MEND  {each}; its parent starts it anew, and the log says why it ended")


def _show(status: JsonObject, problems: list[str]) -> None:
    output.one_line(f"weighbridge {status['version']} at {status['front']} ({_process(status)})")
    output.one_line(f"revision {status['revision']}")
    _show_mode(status)
    output.table(
        ("server", "state", "tools", "speaks", "since", "reason"),
        [
            (
                str(server.get("name")),
                str(server.get("status")) + (" (stale list)" if server.get("stale") else ""),
                _tools(server.get("tools")),
                str(server.get("version") or "–"),
                str(server.get("since") or "–"),
                _reason(server),
            )
            for server in _objects(status.get("servers"))
        ],
    )
    store = status.get("store")
    if isinstance(store, dict):
        output.one_line(
            f"store     {'ok' if store.get('ok') else store.get('reason')}, "
            f"{store.get('backlog')} events waiting"
        )
    for line in checkpoint_lines(status):
        output.one_line(f"log       {line}")
    pending = _pending(status)
    if pending:
        who = "a person" if pending == 1 else "people"
        output.one_line(
            f"approvals {pending} wait{'s' if pending == 1 else ''} for {who} to decide; "
            "see `weighbridge approvals list`"
        )
    for each in _objects(status.get("proposed")):
        lacks = each.get("lacks")
        output.one_line(
            f"policy    {str(each.get('revision'))[7:19]} waits since {each.get('at')} for "
            f"{lacks} {'person' if lacks == 1 else 'people'} to agree; "
            "see `weighbridge policy proposals`"
        )
    for signal in _objects(status.get("telemetry")):
        where = f" to {signal['endpoint']}" if signal.get("endpoint") else ""
        output.one_line(
            f"{signal['signal']:<9} {signal['exporter']}{where}, {signal['exported']} exported, "
            f"{signal['dropped']} dropped"
        )
    for problem in problems:
        output.one_line(f"MEND  {problem}")


def _process(status: JsonObject) -> str:
    worker = worker_of(status)
    return f"pid {status.get('pid')}{f', worker {worker}' if worker is not None else ''}"


def _show_mode(status: JsonObject) -> None:
    """Say loudly that nothing is enforced, and what would have been, where that is so."""
    told = status.get("observed")
    if status.get("mode") != Mode.OBSERVE or not isinstance(told, dict):
        return
    tally = Tally.of_json(told)
    output.one_line(
        "OBSERVING every call passes, whatever is decided; end it with `weighbridge enforce`"
    )
    output.one_line(f"observed  {tally.in_words()} (since {told.get('since')})")
    ranked = [*tally.ranked()]
    for cause, calls in ranked[:_MOST_CAUSES]:
        by = f" by {cause.rule}" if cause.rule else ""
        output.one_line(f"          {calls}  {cause.tool} {IN_WORDS[cause.would]}{by}")
    if len(ranked) > _MOST_CAUSES:
        output.one_line(
            f"          and {len(ranked) - _MOST_CAUSES} more; see `weighbridge observed`"
        )


def _mode_problems(status: JsonObject) -> Iterator[str]:
    if status.get("mode_problem"):
        yield f"the mode stays `{status.get('mode')}`: {status['mode_problem']}"


def _problems(status: JsonObject) -> Iterator[str]:
    yield from _mode_problems(status)
    if status.get("problem"):
        yield f"the policy folder is not taken: {status['problem']}"
    yield from checkpoint_problems(status)
    store = status.get("store")
    if isinstance(store, dict) and store.get("sealing"):
        yield f"calls whose arguments have to be sealed are refused: {store['sealing']}"
    for server in _objects(status.get("servers")):
        if server.get("status") != "ready":
            reason = _reason(server)
            told = f"server `{server.get('name')}` is {server.get('status')}"
            yield f"{told}: {reason}" if reason else told
    for problem in _texts(status.get("identity")):
        yield f"the keys of an issuer can't be had, so its tokens will not do: {problem}"
    for tool in _objects(status.get("quarantined")):
        where = f" at `{tool['pointer']}`" if tool.get("pointer") else ""
        yield f"`{tool['tool']}` is quarantined: {tool['reason']}{where}"
    for name in _texts(status.get("changed")):
        yield f"`{name}` is not what was reviewed; run `weighbridge tools diff {name}`"
    for key, said in (
        ("unpinned", "no contract for {}; run `weighbridge tools pin`"),
        ("unreviewed", "drafts wait for a review: {}; run `weighbridge tools review`"),
    ):
        names = _texts(status.get(key))
        if names:
            shown = ", ".join(f"`{name}`" for name in names[:3])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            yield said.format(shown + more)


def _pending(status: JsonObject) -> int:
    """Return how many requests wait; a gateway of an earlier version doesn't say."""
    approvals = status.get("approvals")
    pending = approvals.get("pending") if isinstance(approvals, dict) else None
    return pending if isinstance(pending, int) else 0


def _reason(server: JsonObject) -> str:
    """Say why a server is as it is; one that starts has no reason but that it does."""
    is_starting = server.get("status") == "starting"
    waits = "it has not answered yet; look again in a moment" if is_starting else ""
    return str(server.get("reason") or waits)


def _tools(counts: Json) -> str:
    """Count tools in words; a gateway of an earlier version counted what was published."""
    if isinstance(counts, dict):
        known = {name: count for name, count in counts.items() if isinstance(count, int)}
        return in_words(known)
    return "–" if counts is None else f"{counts} published"


def _objects(value: Json) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
