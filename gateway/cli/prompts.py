"""`weighbridge prompts`: the prompts that servers offer."""

from pathlib import Path

import click

from gateway.cli import offers, output
from gateway.cli.options import config_option, json_option, load
from gateway.types.json import JsonObject
from gateway.types.tools import Tool


@click.command("list", epilog="Example: weighbridge prompts list --role support")
@config_option
@offers.asker_options
@json_option
def list_prompts(
    path: Path,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show every prompt: its name in policies, its name for agents, and its arguments.

    Prompts need no contract; rules with `match.prompts` let callers get them. With a user,
    tenant, role or scope, `listed` says whether such a caller would find it.
    """
    loaded = load(path)
    asker = offers.Asker(user=user, tenant=tenant, roles=roles, scopes=scopes)
    is_listed = offers.listed_for(asker, loaded, path)
    found = offers.inspected(loaded, path).prompts
    if as_json:
        output.as_json([{**_about(each), **offers.member(is_listed, each)} for each in found])
        return
    output.table(
        ("prompt", "exposed as", "arguments", *offers.header(is_listed)),
        [
            (
                each.key,
                f"kept back: {offers.reason(each)}" if each.quarantine else each.exposed_name,
                ", ".join(_arguments(each)) or "–",
                *offers.column(is_listed, each),
            )
            for each in found
        ],
    )


def _about(each: Tool) -> JsonObject:
    return {
        "prompt": each.key,
        "server": each.server,
        "exposed": each.exposed_name,
        "description": offers.said(each, "description"),
        "arguments": [*_arguments(each)],
        "reason": offers.reason(each),
    }


def _arguments(each: Tool) -> list[str]:
    listed = each.definition.get("arguments")
    named = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [str(one.get("name")) for one in named]
