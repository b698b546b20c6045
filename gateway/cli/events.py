"""`weighbridge events`: read the event log, while gateways write it or not."""

from pathlib import Path

import click

from gateway.actions import timeline
from gateway.approvals.matching import same_person
from gateway.cli import archive, export, holds, log_keys, output, prove, verify
from gateway.cli.moments import earlier
from gateway.cli.opening import opened
from gateway.cli.opening import run as run_async
from gateway.cli.options import config_option, json_option
from gateway.cli.search import search
from gateway.store.events import EventFilter, StoredEvent
from gateway.types.calls import Method
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject


@click.group("events")
def command() -> None:
    """Read the event log: who called what, how it was decided, how it ended; and prove it."""


for each in (verify, prove, export, archive, holds, log_keys):
    command.add_command(each.command)


@command.command(
    epilog="Example: weighbridge events query --tenant acme --decision deny --since 24h"
)
@config_option
@click.option("--tenant", default="")
@click.option("--run", default="")
@click.option("--call", default="", help="Id of one call; gives its whole story.")
@click.option("--actor", default="", help="The user who acted.")
@click.option("--tool", default="", help="As in contracts: server.name; or a URI.")
@click.option(
    "--method",
    type=click.Choice([each.value for each in Method if each is not Method.LOG]),
    default=None,
    help="What was asked for, as MCP names it.",
)
@click.option("--kind", type=click.Choice([each.value for each in EventKind]), default=None)
@click.option("--stage", type=click.Choice([each.value for each in Stage]), default=None)
@click.option("--decision", type=click.Choice(["allow", "deny", "require_approval"]), default=None)
@click.option("--status", default="", help="How the call ended, such as denied or timeout.")
@click.option("--rule", default="", help="Id of the deciding rule.")
@click.option("--trace", default="", help="Trace id, 32 hex digits.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (24h).")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=100, show_default=True)
@click.option("--newest", is_flag=True, help="The newest first.")
@json_option
def query(
    path: Path,
    tenant: str,
    run: str,
    call: str,
    actor: str,
    tool: str,
    method: str | None,
    kind: str | None,
    stage: str | None,
    decision: str | None,
    status: str,
    rule: str,
    trace: str,
    since: str,
    until: str,
    limit: int,
    newest: bool,
    as_json: bool,
) -> None:
    """Find events by what they say. With --json, one event a line, exactly as it is kept."""
    wanted = EventFilter(
        tenant=tenant,
        run=run,
        call=call,
        actor=actor,
        tool=tool,
        kind=kind or "",
        stage=stage or "",
        decision=decision or "",
        status=status,
        rule=rule,
        trace=trace,
        since=earlier(since),
        until=earlier(until),
        limit=limit,
        newest_first=newest,
    )

    async def find() -> list[StoredEvent]:
        async with opened(path) as store:
            if method is None:
                return await store.events.query(wanted)
            return await search(store.events, wanted, lambda event: _method(event) == method)

    found = run_async(find)
    if as_json:
        for event in found:
            output.as_json_line(event.json())
        return
    if wanted.kind == EventKind.APPROVAL.value:
        output.table(_OF_APPROVALS, [_of_approval(event.json()) for event in found])
    elif wanted.kind == EventKind.RUN.value:
        output.table(_OF_RUNS, [_of_run(event) for event in found])
    else:
        output.table(_HEADERS, [_row(event.json()) for event in found])
    if len(found) == limit:
        click.echo(f"(the first {limit}; --limit gives more)", err=True)


@command.command(epilog="Example: weighbridge events tail --json | jq .body.status")
@config_option
@click.option(
    "--lines", type=click.IntRange(0, 10_000), default=10, help="Older ones to begin with."
)
@json_option
def tail(path: Path, lines: int, as_json: bool) -> None:
    """Follow the log, until interrupted."""

    async def follow() -> None:
        async with opened(path) as store:
            last = await store.events.last_seq()
            async for event in store.events.tail(max(0, last - lines), follow=True):
                if as_json:
                    output.as_json_line(event.json())
                else:
                    output.one_line("  ".join(_row(event.json())))

    try:
        run_async(follow)
    except KeyboardInterrupt:
        return


_HEADERS = (
    *("seq", "time", "kind", "stage", "tenant", "user"),
    *("method", "tool", "outcome", "rule", "call"),
)


_OF_APPROVALS = (
    *("seq", "time", "stage", "tenant", "request", "tool"),
    *("outcome", "who", "by", "assurance", "reason", "rule", "call"),
)


_OF_RUNS = (
    *("seq", "time", "stage", "tenant", "run", "template"),
    *("phase", "by", "user", "what", "call"),
)


def _row(event: JsonObject) -> tuple[str, ...]:
    body = _object(event.get("body"))
    actor = _object(event.get("actor"))
    user = str(actor.get("user") or "")
    said = body.get("status") or body.get("action") or ""
    if event.get("kind") == EventKind.AUTHORIZATION.value:
        said = body.get("outcome") or body.get("decision") or ""
    if event.get("kind") == EventKind.APPROVAL.value:
        said = body.get("cast") or body.get("status") or ""
    if event.get("kind") == EventKind.RUN.value:
        said = body.get("stop_reason") or event.get("phase") or ""
    return (
        str(event["seq"]),
        str(event["ts"])[:19],
        str(event["kind"]),
        str(event["stage"]),
        str(event.get("tenant") or ""),
        _who(event) if event.get("kind") == EventKind.APPROVAL.value else user,
        _method(event),
        str(body.get("tool") or body.get("name") or ""),
        str(said),
        str(body.get("rule") or body.get("code") or ""),
        str(event.get("call") or ""),
    )


def _of_approval(event: JsonObject) -> tuple[str, ...]:
    """Return what tells who decided about what, and why."""
    body = _object(event.get("body"))
    return (
        str(event["seq"]),
        str(event["ts"])[:19],
        str(event["stage"]),
        str(event.get("tenant") or ""),
        str(body.get("approval") or ""),
        str(body.get("tool") or ""),
        str(body.get("cast") or body.get("status") or ""),
        _who(event),
        str(body.get("channel") or "–"),
        str(body.get("assurance") or "–"),
        str(body.get("reason") or body.get("why") or "–"),
        str(body.get("rule") or ""),
        str(event.get("call") or ""),
    )


def _of_run(event: StoredEvent) -> tuple[str, ...]:
    """Return what tells who did what with a run."""
    [line] = timeline.lines([event])
    told = event.json()
    body = _object(told.get("body"))
    return (
        str(event.seq),
        line.at[:19],
        str(told["stage"]),
        str(told.get("tenant") or ""),
        str(told.get("run") or ""),
        str(body.get("template") or "–"),
        str(told.get("phase") or ""),
        str(body.get("by") or "–"),
        line.by or "–",
        line.detail or "–",
        line.call,
    )


def _who(event: JsonObject) -> str:
    """Say who brought a change of a request about, and for whom: the one who asked for the call."""
    body = _object(event.get("body"))
    user = str(_object(event.get("actor")).get("user") or "")
    requester = str(_object(body.get("requester")).get("user") or "")
    if not requester:
        return user
    if "cast" not in body:  # nobody's word: it was asked for, used, or over
        return f"for {requester}"
    own = " (self)" if same_person(user, requester) else ""
    return f"{user} for {requester}{own}"


def _method(event: JsonObject) -> str:
    body = _object(event.get("body"))
    return str(body.get("question") or body.get("method") or "")


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
