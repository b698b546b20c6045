"""`weighbridge events hold`: whose events have to stay, whatever their age."""

from pathlib import Path

import click

from gateway import ids
from gateway.cli import output
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.events import upkeep
from gateway.store.retention import Hold
from gateway.types.json import JsonObject

_TENANT = click.option("--tenant", default="", help="All events of a tenant.")
_RUN = click.option("--run", "run_id", default="", help="All events of a run.")
_BY = click.option("--by", default="", help="Who wants it; default: the user of this machine.")


@click.command(epilog="Example: weighbridge events hold add --tenant acme --reason 'case 4711'")
@config_option
@_TENANT
@_RUN
@click.option("--reason", required=True, help="Why; it goes into the log.")
@_BY
@json_option
def add(path: Path, tenant: str, run_id: str, reason: str, by: str, as_json: bool) -> None:
    """Have events stay."""
    _check(tenant, run_id)
    person, now = who(by), SystemClock().now()
    hold = Hold(tenant=tenant, run=run_id, reason=reason, by=person.by, at=now)
    event = upkeep.hold_set(
        id=ids.ulid(),
        at=now,
        tenant=tenant,
        run=run_id,
        reason=reason,
        by=person.by,
        account=person.account,
    )

    async def set_it() -> bool:
        async with opened(path) as store:
            return await store.retention.hold(hold, event)

    is_new = run(set_it)
    if as_json:
        output.as_json({**_named(tenant, run_id), "is_new": is_new})
        return
    output.one_line(f"events of {hold} stay" if is_new else f"events of {hold} stay already")


@click.command("list", epilog="Example: weighbridge events hold list --json")
@config_option
@json_option
def list_holds(path: Path, as_json: bool) -> None:
    """Show what is on hold."""

    async def read() -> list[Hold]:
        async with opened(path) as store:
            return await store.retention.holds()

    found = run(read)
    if as_json:
        output.as_json(
            [
                {
                    "tenant": each.tenant or None,
                    "run": each.run or None,
                    "reason": each.reason,
                    "by": each.by,
                    "at": each.at.isoformat(timespec="seconds"),
                }
                for each in found
            ]
        )
        return
    output.table(
        ("since", "tenant", "run", "by", "reason"),
        [
            (str(each.at)[:19], each.tenant or "–", each.run or "–", each.by, each.reason)
            for each in found
        ],
    )


@click.command(epilog="Example: weighbridge events hold remove --tenant acme")
@config_option
@_TENANT
@_RUN
@_BY
@json_option
def remove(path: Path, tenant: str, run_id: str, by: str, as_json: bool) -> None:
    """Let events go again."""
    _check(tenant, run_id)
    person, now = who(by), SystemClock().now()
    event = upkeep.hold_lifted(
        id=ids.ulid(), at=now, tenant=tenant, run=run_id, by=person.by, account=person.account
    )

    async def lift() -> bool:
        async with opened(path) as store:
            return await store.retention.lift(tenant, run_id, event)

    if not run(lift):
        output.fail("there is no such hold; see `weighbridge events hold list`")
    if as_json:
        output.as_json({**_named(tenant, run_id), "is_lifted": True})
        return
    output.one_line("they may be archived again")


def _named(tenant: str, run_id: str) -> JsonObject:
    return {"tenant": tenant or None, "run": run_id or None}


def _check(tenant: str, run_id: str) -> None:
    if bool(tenant) == bool(run_id):
        output.fail("say whose events: `--tenant T` or `--run R`")
