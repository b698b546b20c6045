"""`weighbridge events shred`: sealed arguments are destroyed; the log itself stays as it is."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from gateway.cli import output
from gateway.cli.moments import earlier
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.events import upkeep
from gateway.store.sealed_copies import Scope, Shredded
from gateway.types.events import Event

_MOST_SHOWN = 20


@click.command(
    "shred", epilog="Example: weighbridge events shred --run run_01JC... --reason 'Art. 17'"
)
@config_option
@click.option("--run", "run_id", default="", help="What was sealed in a run.")
@click.option("--call", default="", help="What was sealed of one call.")
@click.option("--tenant", default="", help="What was sealed of a tenant.")
@click.option("--before", default="", help="Only what is older: a time in UTC, or an age (90d).")
@click.option("--reason", default="", help="Why; it goes into the log.")
@click.option("--by", default="", help="Who wants it; default: the user of this machine.")
@json_option
def command(
    path: Path,
    run_id: str,
    call: str,
    tenant: str,
    before: str,
    reason: str,
    by: str,
    as_json: bool,
) -> None:
    """Destroy sealed arguments and their keys for good. Their events stay, and so does all proof.

    A hold on the tenant or run stops it.
    """
    if sum(map(bool, (run_id, call, tenant))) != 1:
        output.fail("say whose arguments: `--run R`, `--call C` or `--tenant T`")
    scope = Scope(run=run_id, call=call, tenant=tenant, before=earlier(before))
    telling = partial(_event, scope, reason, by)

    async def shred() -> Shredded:
        async with opened(path, erases=True) as store:
            return await store.sealed.shred(scope, telling)

    found = run(shred)
    if found.held is not None:
        output.fail(
            f"the events of {found.held} are on hold ({found.held.reason}), and so is what is "
            "sealed of them; see `weighbridge events hold list`",
            output.EXIT_FAILED,
        )
    if as_json:
        output.as_json(
            {
                "copies": found.copies,
                "keys": found.keys,
                "operations": found.operations,
                "requests": found.requests,
                "open": [*found.open],
            }
        )
        return
    for line in lines(found):
        output.one_line(line)


def lines(found: Shredded) -> Iterator[str]:
    """Yield what was destroyed, and what is left of it."""
    if found.copies:
        yield (
            f"sealed copies destroyed: {found.copies}, and data keys: {found.keys}; "
            "the log stays as it is"
        )
    if found.operations or found.requests:
        yield (
            f"emptied as well: operations: {found.operations}, and requests: {found.requests}; the "
            "same calls are told that their answers are no longer kept, and none of them can be "
            "undone by the gateway"
        )
    if not found.is_any and not found.open:
        yield "nothing is sealed there, or all of it was shredded before"
    if found.open:
        named = ", ".join(found.open[:_MOST_SHOWN])
        more = len(found.open) - _MOST_SHOWN
        further = f" and {more} more" if more > 0 else ""
        yield (
            f"still kept by operations that are not settled: {named}{further}; settle them "
            "(`weighbridge ops show ID`), then shred once more"
        )


def _event(scope: Scope, reason: str, by: str, id: str, found: Shredded) -> Event:
    person = who(by)
    return upkeep.shredded(
        id=id,
        at=SystemClock().now(),
        tenant=found.tenant,
        run=scope.run,
        call=scope.call,
        before=scope.before,
        copies=found.copies,
        keys=found.keys,
        operations=found.operations,
        requests=found.requests,
        reason=reason,
        by=person.by,
        account=person.account,
    )
