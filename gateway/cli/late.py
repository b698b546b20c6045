"""Groups of commands that are imported when they are named, so that `--help` says at once."""

import importlib
from collections.abc import Mapping
from typing import Any

import click

from gateway.cli.wrong_calls import PlainGroup


class LateGroup(PlainGroup):
    """A group by a table: for each name, `module` or `module:attribute`, and what it is for."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, importing its module."""
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute or "command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self._table.items()])
