"""Calls of the command that can't be read are told in one line, like everything else."""

import re
from typing import IO, Any

import click
from click.exceptions import NoArgsIsHelpError

from gateway.cli import output

_GUESS = re.compile(r"\.? Did you mean")
_WHOLE = 1_000  # characters: no first sentence is cut
_QUOTED = re.compile(r"'([^']+)'")


class WrongCall(click.ClickException):
    """What is wrong with the words of a call, and where it is told how they go."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it in the form of every other message."""
        click.echo(f"weighbridge: {output.on_one_line(self.message)}", file=file, err=file is None)


class PlainGroup(click.Group):
    """A group whose own words, and those of its commands, are refused in one line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its first sentence whole."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(_WHOLE)) for name, each in found if each]
            )

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the words of the group."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise told(error, parent, info_name) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Read the words of a command, and carry it out."""
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise told(error, ctx, ctx.invoked_subcommand) from error


def told(error: click.UsageError, group: click.Context | None, name: str | None) -> WrongCall:
    """Return what Click says about a call, in our form.

    Click does not say which command an option without its value belongs to: the one of that name,
    in that group.
    """
    said = _QUOTED.sub(r"`\1`", " ".join(error.format_message().split())).rstrip(".")
    said = _GUESS.sub("; did you mean", said)
    where = _named(error.ctx)
    if error.ctx is None and group is not None:
        where = " ".join([_named(group), *filter(None, [name])])
    return WrongCall(f"{said[:1].lower()}{said[1:]}; see `{where} --help`")


def _named(ctx: click.Context | None) -> str:
    """Return the words of a command, whatever the program itself was called by."""
    words: list[str] = []
    while ctx is not None and ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(["weighbridge", *words])
