"""`weighbridge schema`: JSON Schemas of the files that people write, for editors."""

import click

from gateway.actions import file_schemas
from gateway.cli import output
from gateway.cli.options import json_option
from gateway.yamltext.editors import KINDS, url
from gateway.yamltext.models import suggest


@click.command("schema", epilog="Example: weighbridge schema config > config.schema.json")
@click.argument("name", required=False, default="")
@json_option
def command(name: str, as_json: bool) -> None:
    """Print the JSON Schema of a kind of file; without NAME, list the kinds.

    Editors find it by the first line of each file that Weighbridge writes. Where they can't reach
    that address, save what this prints and map the files to it (docs/how-to/editors.md).
    """
    if name in KINDS:
        click.echo(file_schemas.render(name), nl=False)
    elif name:
        output.fail(f"no schema `{name}`{suggest(name, list(KINDS)) or _there_are()}")
    elif as_json:
        output.as_json(
            [{"name": each, "about": about, "url": url(each)} for each, about in KINDS.items()]
        )
    else:
        output.table(("name", "of", "published at"), [(k, v, url(k)) for k, v in KINDS.items()])


def _there_are() -> str:
    return "; there are " + ", ".join(f"`{each}`" for each in KINDS)
