"""`weighbridge resources`: what servers offer to be read."""

from pathlib import Path

import click

from gateway.cli import offers, output
from gateway.cli.options import config_option, json_option, load
from gateway.types.json import JsonObject
from gateway.types.tools import Tool


@click.command("list", epilog="Example: weighbridge resources list --role support")
@config_option
@offers.asker_options
@json_option
def list_resources(
    path: Path,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show every resource and template: its URI in policies, its server, and its URI for agents.

    Resources need no contract; rules with `match.resources` let callers read them. With a user,
    tenant, role or scope, `listed` says whether such a caller would find it.
    """
    loaded = load(path)
    asker = offers.Asker(user=user, tenant=tenant, roles=roles, scopes=scopes)
    is_listed = offers.listed_for(asker, loaded, path)
    found = offers.inspected(loaded, path)
    rows = [("resource", each) for each in found.resources]
    rows += [("template", each) for each in found.templates]
    if as_json:
        output.as_json(
            [{**_about(kind, each), **offers.member(is_listed, each)} for kind, each in rows]
        )
        return
    output.table(
        ("resource", "kind", "server", "exposed as", *offers.header(is_listed)),
        [
            (
                each.name,
                f"{kind} (kept back: {offers.reason(each)})" if each.quarantine else kind,
                each.server,
                each.exposed_name,
                *offers.column(is_listed, each),
            )
            for kind, each in rows
        ],
    )


def _about(kind: str, each: Tool) -> JsonObject:
    return {
        "resource": each.name,
        "kind": kind,
        "server": each.server,
        "exposed": each.exposed_name,
        "name": offers.said(each, "name"),
        "mime_type": offers.said(each, "mimeType"),
        "reason": offers.reason(each),
    }
