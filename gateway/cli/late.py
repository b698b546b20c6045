"""Groups of commands that are imported when they are named, so that `--help` says at once."""

import difflib
import gc
import importlib
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from gateway.cli.wrong_calls import PlainGroup

# For each name, `module` or `module:attribute`, and what the command is for.
Table: TypeAlias = Mapping[str, tuple[str, str]]


class LateGroup(PlainGroup):
    """A group by a table, which imports a command's module when that command is named."""

    def __init__(self, *args: Any, table: Table, **more: Any) -> None:
        super().__init__(*args, **more)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, importing its module."""
        return named(self.table[cmd_name][0]) if cmd_name in self.table else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; for one that isn't there, name the nearest."""
        name = args[0]
        near = difflib.get_close_matches(name, self.table, n=1)
        if name not in self.table and near and not name.startswith("-"):
            ctx.fail(f"No such command '{name}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a name without importing any; options as every command does."""
        found = [
            CompletionItem(name, help=about)
            for name, (_, about) in self.table.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def named(place: str) -> Any:
    """Return what stands at `module` or `module:attribute`; a module's own is its `command`."""
    module, _, attribute = place.partition(":")
    if module not in sys.modules:
        with _nothing_to_collect():
            importlib.import_module(module)
    return getattr(sys.modules[module], attribute or "command")


@contextmanager
def _nothing_to_collect() -> Generator[None]:
    """Keep the collector from what is imported: now, later and at the end of the process.

    Modules and classes stay as long as the process does. To look at them again and again took a
    third of the time of an import, and as long again when a short command ended.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
