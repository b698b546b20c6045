"""`weighbridge keys`: API keys for agents."""

import click

from gateway.cli import output
from gateway.cli.options import json_option
from gateway.identity import apikeys


@click.group("keys")
def command() -> None:
    """Make API keys; the gateway keeps only their hashes."""


@command.command(epilog="Example: weighbridge keys new sam-laptop --user sam --tenant acme")
@click.argument("key_id")
@click.option("--user", required=True, help="Who acts with this key.")
@click.option("--tenant", required=True, help="The tenant the key acts for.")
@json_option
def new(key_id: str, user: str, tenant: str, as_json: bool) -> None:
    """Make a key: the key itself for the agent host, and the entry for `identity.api_keys`."""
    try:
        made = apikeys.new_api_key(key_id, user=user, tenant=tenant)
    except ValueError as error:
        output.fail(str(error))
    if as_json:
        output.as_json({"key": made.key, "entry": made.config_line})
        return
    click.echo(f"key, shown only now:  {made.key}")
    click.echo("entry for identity.api_keys in config.yaml:")
    click.echo(made.config_line)
