"""`weighbridge ops`: what became of calls that change something, and what can be done about it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from gateway import jsontext
from gateway.actions import operations
from gateway.actions.operations import Resolving
from gateway.cli import disclosing, output
from gateway.cli.ledger import opened as opened_ledger
from gateway.cli.ledger import run
from gateway.cli.moments import age, earlier
from gateway.cli.opening import opened
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState

_HEADERS: Final = ("operation", "state", "verification", "tool", "for", "age", "evidence")


@click.command("list", epilog="Example: weighbridge ops list --state indeterminate --since 24h")
@config_option
@click.option("--state", type=click.Choice([state.value for state in OpState]), default=None)
@click.option("--tenant", default="")
@click.option("--user", default="", help="The user who acted.")
@click.option("--tool", default="", help="As in contracts: server.name.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (1h).")
@click.option("--unverified", is_flag=True, help="Whose check has not held, or not yet.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
@json_option
def list_operations(
    path: Path,
    state: str | None,
    tenant: str,
    user: str,
    tool: str,
    since: str,
    unverified: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Show operations, the newest first; those of which nobody knows stand above them."""
    wanted = OperationFilter(
        state=state or "", tenant=tenant, user=user, tool=tool, since=earlier(since), limit=limit
    )

    async def find() -> tuple[list[Operation], Mapping[str, int]]:
        async with opened(path) as store:
            found = await operations.listed(store.operations, wanted, unverified=unverified)
            is_all = wanted == OperationFilter(limit=limit) and not unverified
            counts = Counter(op.state.value for op in found)
            return found, await store.operations.count() if is_all else counts

    found, counts = run(find)
    if as_json:
        output.as_json([operations.as_json(op) for op in found])
        return
    output.table(_HEADERS, [_row(op) for op in found])
    click.echo(_tally(counts))
    if len(found) == limit:
        click.echo(f"(the first {limit}; --limit gives more)", err=True)


@click.command("show", epilog="Example: weighbridge ops show op_01KB2Y8H6Z3M4N5P6Q7R8S9T0V")
@click.argument("op_id", metavar="OP")
@config_option
@json_option
def show(op_id: str, path: Path, as_json: bool) -> None:
    """Show one operation whole: what was asked, what became of it, and what can be done now."""

    async def read() -> JsonObject:
        async with opened(path) as store:
            op = await operations.named(store.operations, op_id)
            await disclosing.told(store, "ops show", {"op": op_id}, tenant=op.tenant)
            call = EventFilter(call=op.call_id)
            events = await store.events.query(call) if op.call_id else []
            undoing = await store.operations.undoing(op_id)
            return {
                **operations.as_json(op),
                "compensated_by": [
                    {"op_id": each.op_id, "state": each.state.value} for each in undoing
                ],
                "events": [event.json() for event in events],
                "next": operations.way_out(op),
            }

    found = run(read)
    if as_json:
        output.as_json(found)
    else:
        _tell(found)


@click.command(
    epilog="Example: weighbridge ops resolve op_01KB2Y8H6Z3M4N5P6Q7R8S9T0V --happened "
    '--evidence "refund 77 is in the ledger"'
)
@click.argument("op_id", metavar="OP")
@config_option
@click.option(
    "--happened", is_flag=True, help="It took effect; or was undone, where it is `compensating`."
)
@click.option("--not-happened", is_flag=True, help="It did not.")
@click.option("--evidence", required=True, help="What shows it; kept with the operation.")
@click.option("--by", default="", help="Who decided; default: the user of this machine.")
@json_option
def resolve(
    op_id: str,
    path: Path,
    happened: bool,
    not_happened: bool,
    evidence: str,
    by: str,
    as_json: bool,
) -> None:
    """Settle an operation of which nobody knows whether it took effect.

    What did not happen may be sent again; what happened is not, and calls that repeat it are told.
    Of one that is being undone, say whether it was: it is `compensated` then, or stands as before.
    """
    if happened is not_happened:
        both = ", not both" if happened else ""
        output.fail(f"say `--happened` or `--not-happened`{both}")
    if not evidence.strip():
        output.fail("`--evidence` is empty; say what shows what became of it")

    async def settle() -> Operation:
        async with opened_ledger(path) as ledger:
            resolving = Resolving(
                operations=ledger.store.operations,
                contracts=ledger.contracts(),
                vault=ledger.vault,
                redactor=ledger.redactor,
                clock=SystemClock(),
            )
            return await resolving.resolve(
                op_id,
                happened=happened,
                evidence=evidence,
                who=who(by),
                window_s=ledger.window_s,
            )

    settled = run(settle)
    if as_json:
        output.as_json(operations.as_json(settled))
    else:
        output.one_line(f"{settled.op_id} is {settled.state.value}, {settled.evidence}")
        output.one_line(f"next: {operations.way_out(settled)}")


def _row(op: Operation) -> tuple[str, ...]:
    is_unknown = op.state is OpState.INDETERMINATE
    return (
        op.op_id,
        f"! {op.state.value}" if is_unknown else op.state.value,
        op.verification.value,
        f"{op.tool} (undoes {op.compensates})" if op.compensates else op.tool,
        f"{op.user}@{op.tenant}",
        age(op.created_at),
        op.evidence,
    )


def _tally(counts: Mapping[str, int]) -> str:
    """Count operations in words, and name the mend where there is something to mend."""
    order = [state.value for state in OpState]
    parts = [f"{counts[state]} {state}" for state in order if counts.get(state)]
    total = sum(counts.values())
    told = f"{total} operation{'' if total == 1 else 's'}"
    text = f"{told}: {', '.join(parts)}" if parts else told
    if not counts.get(OpState.INDETERMINATE.value):
        return text
    return (
        f"{text}; settle what is `indeterminate` with "
        "`weighbridge ops resolve OP --happened|--not-happened --evidence TEXT`"
    )


def _tell(found: JsonObject) -> None:
    """Print what is known, one line each; what is empty is left out."""
    for name, value in found.items():
        if name in ("events", "compensated_by", "key", "next"):
            continue
        if value not in (None, "", 0):
            _line(name, value)
    key = found["key"]
    for name, value in key.items() if isinstance(key, dict) else ():
        if value not in ("", 0):
            _line(f"key.{name}", value)
    for each in _objects(found["compensated_by"]):
        _line("compensated by", f"{each['op_id']} ({each['state']})")
    for event in _objects(found["events"]):
        body = event.get("body")
        said = body if isinstance(body, dict) else {}
        what = said.get("status") or said.get("action") or said.get("decision") or ""
        ended = f"{event['kind']} {event['stage']} {what}".rstrip()
        _line(f"event {event['seq']}", f"{event['ts']}  {ended}")
    _line("next", found["next"])


def _line(name: str, value: Json) -> None:
    text = value if isinstance(value, str) else jsontext.dump(value).decode()
    output.one_line(f"{name:<14}  {text}")


def _objects(value: Json) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
