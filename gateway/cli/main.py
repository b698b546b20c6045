"""The `weighbridge` command: one module a subcommand, loaded when it is called."""

from collections.abc import Mapping

import click

from gateway import __version__
from gateway.cli.ending import Program

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("gateway.cli.demo", "see the main job on embedded defaults"),
    "init": ("gateway.cli.init", "put it in front of the servers that a client has"),
    "serve": ("gateway.cli.serve", "serve agents over Streamable HTTP"),
    "stdio": ("gateway.cli.stdio", "serve one agent host over stdin and stdout"),
    "doctor": ("gateway.cli.doctor", "check everything, with a mend for each finding"),
    "status": ("gateway.cli.status", "show servers, tools, revision, store and telemetry"),
    "observed": ("gateway.cli.observed", "count what would have been denied, held or repeated"),
    "enforce": ("gateway.cli.enforce", "carry decisions out that were only recorded"),
    "tools": ("gateway.cli.groups:tools", "list, pin and compare tool definitions"),
    "resources": ("gateway.cli.groups:resources", "list the resources of servers"),
    "prompts": ("gateway.cli.groups:prompts", "list the prompts of servers"),
    "policy": ("gateway.cli.groups:policy", "lint, test, explain and compare the policy"),
    "approvals": ("gateway.cli.groups:approvals", "decide about calls that wait for a person"),
    "runs": ("gateway.cli.groups:runs", "look at runs, pause, resume, hand over and undo them"),
    "ops": ("gateway.cli.groups:ops", "list operations, settle unknown ones, undo"),
    "admin": ("gateway.cli.groups:admin", "log in at the listener for people"),
    "events": ("gateway.cli.groups:events", "read the event log, and prove it"),
    "replay": ("gateway.cli.replay", "judge past calls by other policies"),
    "keys": ("gateway.cli.groups:keys", "make API keys"),
    "schema": ("gateway.cli.schema", "print JSON Schemas of files, for editors"),
    "completion": ("gateway.cli.completion", "have a shell complete commands and options"),
}


@click.group(
    cls=Program,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `weighbridge demo`, then `weighbridge doctor --config config.yaml`.",
)
@click.version_option(__version__, prog_name="weighbridge")
def main() -> None:
    """Weigh every tool call before it crosses.

    Put Weighbridge into an agent host as its MCP server; the real tool servers stand behind it.
    """
