"""`weighbridge admin`: how people get to the listener for people."""

from datetime import timedelta
from pathlib import Path

import click

from gateway import ids
from gateway.admin.login import LINK_S, path_of
from gateway.admin.people import named
from gateway.cli import output
from gateway.cli.ledger import opened, run
from gateway.cli.options import config_option, json_option
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.config.admin import AccountSettings
from gateway.config.settings import Settings
from gateway.events import logins as events


@click.command("login", epilog="Example: weighbridge admin login --user ann")
@config_option
@click.option("--user", default="", help="Whose account; needed where there are several.")
@click.option("--tenant", default="", help="Its tenant; needed where users share a name.")
@json_option
def login(path: Path, user: str, tenant: str, as_json: bool) -> None:
    """Print a link that logs one account in, once, within 10 minutes.

    Whoever may read the configuration and the store may do this, and is in the event log for it.
    """

    async def make() -> tuple[str, AccountSettings]:
        async with opened(path) as ledger:
            settings = ledger.loaded.settings
            account, maker = _account(settings, user, tenant), who("").account
            secret = await ledger.store.logins.new_link(
                tenant=account.tenant, user=account.user, account=maker, lasts_s=LINK_S
            )
            now = SystemClock().now()
            made = events.link_made(
                id=ids.ulid(),
                at=now,
                tenant=account.tenant,
                user=account.user,
                account=maker,
                until=now + timedelta(seconds=LINK_S),
            )
            ledger.store.events.append([made])
            await ledger.store.events.kept()
            return settings.admin.url + path_of(secret), account

    link, account = run(make)
    if as_json:
        output.as_json({"url": link, "user": account.user, "tenant": account.tenant})
        return
    click.echo(link)
    output.one_line(
        f"logs in {account.user} of {account.tenant}, once, within {LINK_S / 60:g} minutes"
    )


def _account(settings: Settings, user: str, tenant: str) -> AccountSettings:
    """Return the one account that is meant, or end the command with what to write."""
    accounts = settings.accounts
    if not accounts:
        output.fail("there are no `admin.accounts`; people log in at `admin.oidc`", 1)
    found = named(accounts, user, tenant)
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"`{each.user}` of `{each.tenant}`" for each in accounts[:10])
    if not found:
        output.fail(
            f"no account is `{user}`{f' of `{tenant}`' if tenant else ''}; there are {names}"
        )
    output.fail(f"name one account with `--user` and `--tenant`; there are {names}")
