"""`weighbridge policy suggest`: the narrowest rules for what was used, as a draft."""

from datetime import datetime
from pathlib import Path

import click

from gateway.actions.suggestion import Draft, drafted
from gateway.cli import disclosing, giving, opening, output, shelf
from gateway.cli.ledger import run
from gateway.cli.moments import earlier
from gateway.cli.options import config_option, json_option
from gateway.cli.pasts import Span, pasts
from gateway.cli.progress import Bar, busy
from gateway.policy.past import Past
from gateway.policy.suggesting import counted
from gateway.types.json import Json, JsonObject

_MOST = 1_000_000  # calls that are held at once


@click.command(
    "suggest",
    epilog="Example: weighbridge policy suggest --since 30d --tool desk.refund "
    "--out policies/refund-draft.yaml",
)
@config_option
@click.option("--since", required=True, help="A time in UTC (2026-11-29T09:00:00) or an age (30d).")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option("--tenant", default="")
@click.option("--tool", default="", help="As in contracts: server.name; or a URI.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file, such as policies/draft.yaml; default: printed.",
)
@json_option
def command(
    path: Path, since: str, until: str, tenant: str, tool: str, out: Path | None, as_json: bool
) -> None:
    """Draft rules from the allowed calls of a time: who used what, and how far.

    The draft is a file in shadow mode: it loads as it is and enforces nothing. It is tried on the
    calls that it was made from, and names what was granted and never used.

    Exit code 1 when some of those calls would not be allowed by the draft.
    """
    if out is not None and out.exists():
        output.fail(f"`{out}` is there already; name a file that isn't")
    revision = shelf.configured(path)
    span = Span(since=earlier(since), until=earlier(until), tenant=tenant, tool=tool)
    with busy(is_quiet=as_json) as bar:
        found = run(lambda: _found(path, span, bar))
        bar.say(f"{len(found):,} calls: drafting rules, and trying them")
        draft = drafted(found, revision, of=_of(span), tool=tool)
    if as_json:
        output.as_json(_json(draft))
    elif out is not None:
        out.write_text(draft.text, encoding="utf-8")
        made = f"{counted(len(draft.rules), 'rule')} from {counted(draft.calls, 'allowed call')}"
        output.line(f"{made} in {out}")
    else:
        click.echo(draft.text, nl=False)
    if draft.missed:
        calls = ", ".join(past.call for past in draft.missed[:5])
        output.fail(
            f"{len(draft.missed)} of {draft.calls} calls would not be allowed by it: {calls}",
            output.EXIT_FAILED,
        )


async def _found(path: Path, span: Span, bar: Bar) -> list[Past]:
    found: list[Past] = []
    times = {"since": str(span.since or ""), "until": str(span.until or "")}
    asked: JsonObject = {"tenant": span.tenant, "tool": span.tool, **times}
    async with opening.opened(path) as store:
        await disclosing.told(store, "policy suggest", asked, tenant=span.tenant)
        await giving.note_archived(store, span.since)
        await giving.note_strangers(store, span.wanted)
        async for past in pasts(store.events, span):
            found.append(past)
            bar.count(len(found), "calls")
            if len(found) > _MOST:
                output.fail(f"more than {_MOST} calls; name a shorter time or one `--tool`")
    return found


def _of(span: Span) -> str:
    parts = [f"from {_moment(span.since)}", f"until {_moment(span.until)}" if span.until else ""]
    parts += [
        f"tenant {span.tenant}" if span.tenant else "",
        f"tool {span.tool}" if span.tool else "",
    ]
    return " ".join(" ".join(part for part in parts if part).split())


def _moment(at: datetime | None) -> str:
    return at.isoformat()[:19] if at is not None else "the start"


def _json(draft: Draft) -> Json:
    return {
        "rules": [
            {
                "id": each.id,
                "match": each.match,
                "when": each.when,
                "calls": each.calls,
                "users": each.users,
                "by": list[Json](each.by),
                "notes": list[Json](each.notes),
            }
            for each in draft.rules
        ],
        "unused": list[Json](draft.unused),
        "calls": draft.calls,
        "missed": [past.call for past in draft.missed],
        "text": draft.text,
    }
