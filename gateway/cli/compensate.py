"""`weighbridge ops compensate`: what can be undone and in which order, and asking for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import anyio
import click

from gateway.actions import compensating
from gateway.actions.compensating import Asked, Compensating
from gateway.actions.operations import OperationRefused, Who
from gateway.actions.state import is_dead
from gateway.cli import output
from gateway.cli.ledger import Ledger, opened, run
from gateway.cli.moments import earlier, seconds
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.operations.compensate import Readiness, Step
from gateway.operations.undo import is_doubtful
from gateway.store.operations import OperationFilter, Operations
from gateway.store.store import Store
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState

_MOST: Final = 10_000  # operations of one plan
_FRESH: Final = timedelta(seconds=10)  # a running gateway writes every two seconds
_LOOK_S: Final = 0.25
_FINE: Final = frozenset({Readiness.READY, Readiness.DONE, Readiness.UNDER_WAY, Readiness.NOTHING})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Which operations a command is about."""

    op_ids: Sequence[str]
    call_id: str
    since: OperationFilter | None

    async def ids(self, operations: Operations) -> tuple[str, ...]:
        found = [*self.op_ids]
        if self.call_id:
            op = await operations.of_call(self.call_id)
            if op is None:
                raise OperationRefused(f"the call `{self.call_id}` sent no operation")
            found.append(op.op_id)
        if self.since is not None:
            found += await compensating.chosen(operations, self.since)
        return tuple(found)


@click.command(
    "compensate",
    epilog="Example: weighbridge ops compensate op_01KB2Y8H6Z3M4N5P6Q7R8S9T0V --execute --wait 60s",
)
@click.argument("op_ids", nargs=-1, metavar="OP...")
@config_option
@click.option("--call", "call_id", default="", help="The operation of this call.")
@click.option("--since", default="", help="All since a time in UTC, or of an age (1h).")
@click.option("--tenant", default="", help="With --since: of this tenant only.")
@click.option("--user", default="", help="With --since: of this user only.")
@click.option("--tool", default="", help="With --since: of this tool only, as server.name.")
@click.option("--plan/--execute", "is_plan", default=True, help="Show it (default), or ask for it.")
@click.option("--wait", default="", help="With --execute: wait so long for the end (60s).")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@click.option("--reason", default="", help="Why; kept with the operations.")
@json_option
def command(
    op_ids: tuple[str, ...],
    path: Path,
    call_id: str,
    since: str,
    tenant: str,
    user: str,
    tool: str,
    is_plan: bool,
    wait: str,
    by: str,
    reason: str,
    as_json: bool,
) -> None:
    """Show how operations can be undone, the last one first; with --execute, have it done.

    A running gateway undoes one after the other, as the principal of each and by the policy in
    force; what can't be undone stops none of the others. Exit code 0 when everything is ready, and
    with --wait undone; 1 when something is not.
    """
    if not (op_ids or call_id or since):
        output.fail("say what to undo: ids of operations, `--call`, or `--since`")
    if (tenant or user or tool) and not since:
        output.fail("`--tenant`, `--user` and `--tool` choose among those of `--since`")
    if wait and is_plan:
        output.fail("`--wait` waits for what `--execute` asks for")
    wanted = OperationFilter(tenant=tenant, user=user, tool=tool, since=earlier(since), limit=_MOST)
    choice = _Choice(op_ids=op_ids, call_id=call_id, since=wanted if since else None)
    asks = _Asks(who=who(by), reason=reason, wait_s=seconds(wait) if wait else 0.0)
    _undo(path, choice, None if is_plan else asks, as_json)


def undo_run(
    path: Path, run_id: str, *, is_plan: bool, wait: str, by: str, reason: str, as_json: bool
) -> None:
    """Show how the operations of a run can be undone, or have it done; ends the command as above.

    Whether there is such a run is for the caller to say.
    """
    if wait and is_plan:
        output.fail("`--wait` waits for what `--execute` asks for")
    choice = _Choice(op_ids=(), call_id="", since=OperationFilter(run=run_id, limit=_MOST))
    asks = _Asks(who=who(by), reason=reason, wait_s=seconds(wait) if wait else 0.0)
    _undo(path, choice, None if is_plan else asks, as_json)


def _undo(path: Path, choice: _Choice, asks: "_Asks | None", as_json: bool) -> None:
    is_well = run(
        lambda: (
            _plan(path, choice, as_json) if asks is None else _execute(path, choice, asks, as_json)
        )
    )
    if not is_well:
        raise SystemExit(output.EXIT_FAILED)


async def _plan(path: Path, choice: _Choice, as_json: bool) -> bool:
    async with opened(path) as ledger:
        steps = await _compensating(ledger).plan(await choice.ids(ledger.store.operations))
    if as_json:
        output.as_json([_step(step) for step in steps])
    else:
        _show_plan(steps)
    return all(step.readiness in _FINE for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asks:
    """How it is asked for."""

    who: Who
    reason: str
    wait_s: float  # 0: not at all


async def _execute(path: Path, choice: _Choice, asks: _Asks, as_json: bool) -> bool:
    async with opened(path) as ledger:
        work, store = _compensating(ledger), ledger.store
        steps = await work.plan(await choice.ids(store.operations))
        asked = await work.carry_out(steps, who=asks.who, reason=asks.reason)
        if asked and not await _is_running(store):
            click.echo("no gateway is running; it is carried out when one starts", err=True)
        ends = await _ends(store.operations, asked, asks.wait_s)
    rows = [_told(step, asked, ends) for step in steps]
    if as_json:
        output.as_json([*rows])
    else:
        output.table(
            ("operation", "tool", "undone by", "came to", "because"),
            [tuple(str(row[name] or "–") for name in _COLUMNS) for row in rows],
        )
    problems = any(each.problem for each in asked)
    undone = not asks.wait_s or all(end.state is OpState.COMPENSATED for end in ends.values())
    return undone and not problems and all(step.readiness in _FINE for step in steps)


_COLUMNS: Final = ("op_id", "tool", "undo", "state", "reason")


async def _ends(
    operations: Operations, asked: Sequence[Asked], wait_s: float
) -> Mapping[str, Operation]:
    """Return by id what the operations that are to be undone have come to."""
    wanted = [each for each in asked if each.undo is not None]
    with anyio.move_on_after(wait_s):
        for each in wanted:
            while not await _has_ended(operations, each):  # noqa: ASYNC110 - in another process
                await anyio.sleep(_LOOK_S)
    found = [await operations.get(each.step.op.op_id) for each in wanted]
    return {op.op_id: op for op in found if op is not None}


async def _has_ended(operations: Operations, asked: Asked) -> bool:
    original = await operations.get(asked.step.op.op_id)
    if original is not None and original.state is not OpState.COMPENSATING:
        return True
    undo = await operations.get(asked.undo.op_id) if asked.undo is not None else None
    return undo is None or is_doubtful(undo)


async def _is_running(store: Store) -> bool:
    now = SystemClock().now()
    found = await store.instances.all()
    return any(now - one.at <= _FRESH and not is_dead(one.status) for one in found)


def _compensating(ledger: Ledger) -> Compensating:
    return Compensating(
        operations=ledger.store.operations,
        contracts=ledger.contracts(),
        vault=ledger.vault,
        redactor=ledger.redactor,
        clock=SystemClock(),
    )


def _show_plan(steps: Sequence[Step]) -> None:
    output.table(
        ("operation", "tool", "readiness", "because"),
        [(step.op.op_id, step.op.tool, step.readiness.value, step.reason) for step in steps],
    )
    if any(step.readiness is Readiness.READY for step in steps):
        click.echo("next: the same with `--execute`")


def _step(step: Step) -> JsonObject:
    return {
        "op_id": step.op.op_id,
        "tool": step.op.tool,
        "readiness": step.readiness.value,
        "reason": step.reason,
    }


def _told(step: Step, asked: Sequence[Asked], ends: Mapping[str, Operation]) -> JsonObject:
    """Return what asking came to for one step of the plan."""
    one = next((each for each in asked if each.step is step), None)
    end = ends.get(step.op.op_id)
    undo: Json = one.undo.op_id if one is not None and one.undo is not None else None
    reason = step.reason if one is None else one.problem
    return {
        **_step(step),
        "undo": undo,
        "state": end.state.value if end is not None else step.readiness.value,
        "reason": reason or (end.evidence if end is not None else ""),
    }
