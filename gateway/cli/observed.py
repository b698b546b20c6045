"""`weighbridge observed`: what would have become of calls, while decisions were only recorded."""

from pathlib import Path

import click

from gateway.actions import questions
from gateway.actions.observed import IN_WORDS, Tally
from gateway.cli import disclosing, giving, opening, output
from gateway.cli.flags import config_option, json_option
from gateway.cli.moments import earlier
from gateway.store.selection import Selection
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject


@click.command("observed", epilog="Example: weighbridge observed --since 7d")
@config_option
@click.option(
    "--since",
    default="24h",
    show_default=True,
    help="A time in UTC (2026-11-29T09:00:00) or an age.",
)
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option("--tenant", default="", help="Only calls of this tenant.")
@json_option
def command(path: Path, since: str, until: str, tenant: str, as_json: bool) -> None:
    """Count from the log what would have been denied, held or answered from the record.

    Calls are there of the time when `mode` was `observe`; each line names a rule, or the check
    that would have refused. `weighbridge enforce` says what the files of today would do.
    """
    wanted = Selection(
        kinds=(EventKind.AUTHORIZATION.value, EventKind.TOOL_CALL.value),
        stages=(Stage.DECIDED.value, Stage.FINISHED.value, Stage.FAILED.value),
        tenants=(tenant,) if tenant else (),
        since=earlier(since),
        until=earlier(until),
    )

    async def count() -> Tally:
        tally = Tally(since=wanted.since)
        asked: JsonObject = {"tenant": tenant, "since": since, "until": until}
        async with opening.opened(path) as store:
            await disclosing.told(store, "observed", asked, tenant=tenant)
            await giving.note_archived(store, wanted.since)
            async for event in questions.each(store.events, wanted):
                if b'"observed"' in event.body:
                    body = event.json().get("body")
                    tally.see(body if isinstance(body, dict) else {})
        return tally

    tally = opening.run(count)
    if as_json:
        output.as_json(tally.to_json())
        return
    if not tally.calls:
        output.line(f"no call was observed since {since}; `mode: observe` records what would be")
        return
    output.line(tally.in_words())
    show(tally)


def show(tally: Tally) -> None:
    """Print what was counted, a line for each tool and rule."""
    rows = [
        (IN_WORDS[cause.would], cause.tool, cause.rule or "–", str(calls))
        for cause, calls in tally.ranked()
    ]
    if rows:
        output.table(("would be", "tool", "by", "calls"), rows)
