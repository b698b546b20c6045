"""`weighbridge keys`: API keys for agents, and for programs that manage runs."""

import click

from gateway.cli import output
from gateway.cli.moments import later
from gateway.cli.options import json_option
from gateway.config.admin import RUN_SCOPES
from gateway.identity import apikeys


@click.command(
    epilog="Examples: weighbridge keys new sam-laptop --user sam --tenant acme --role support "
    "--scope payments:write --expires 90d; weighbridge keys new desk --user desk-bot --tenant acme "
    "--admin --scope run:manage --scope run:phase"
)
@click.argument("key_id")
@click.option("--user", required=True, help="Who acts with this key.")
@click.option("--tenant", required=True, help="The tenant the key acts for.")
@click.option("--role", "roles", multiple=True, help="A role for policies; may be repeated.")
@click.option("--scope", "scopes", multiple=True, help="A scope for contracts; may be repeated.")
@click.option("--client", default="", help="Name of the client; default: KEY_ID.")
@click.option(
    "--expires", default="", help="When it stops to work: in UTC (2027-03-01), or after (90d)."
)
@click.option(
    "--admin",
    "is_admin",
    is_flag=True,
    help="For /v1 on the admin listener; takes --scope run:read, run:phase or run:manage.",
)
@json_option
def new(
    key_id: str,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    client: str,
    expires: str,
    is_admin: bool,
    as_json: bool,
) -> None:
    """Make a key: the key itself for the agent host, and the entry for `identity.api_keys`.

    With --admin it is for a program that manages runs, and its entry for `admin.api_keys`; a key of
    one kind never opens what the other is for. With --json, `entry` is what to add to `section`.
    """
    section = "admin.api_keys" if is_admin else "identity.api_keys"
    if is_admin and RUN_SCOPES.isdisjoint(scopes):
        output.fail("say what it may do: `--scope run:read`, `run:phase` or `run:manage`")
    of_runs = sorted(RUN_SCOPES.intersection(scopes))
    if of_runs and not is_admin:
        output.fail(f"`{of_runs[0]}` is for programs that manage runs; add `--admin`")
    try:
        made = apikeys.new_api_key(
            key_id,
            user=user,
            tenant=tenant,
            roles=roles,
            scopes=scopes,
            client=client,
            expires=later(expires),
            prefix=apikeys.ADMIN_PREFIX if is_admin else apikeys.PREFIX,
        )
    except ValueError as error:
        output.fail(str(error))
    if as_json:
        output.as_json({"key": made.key, "section": section, "entry": made.entry})
        return
    click.echo(f"key, shown only now:  {made.key}")
    click.echo(f"entry for {section} in config.yaml:")
    click.echo(made.config_line)
    if not roles and not scopes:
        click.echo(
            "(no rule that asks for a role or scope matches it; --role and --scope name some)",
            err=True,
        )
