"""Calls of the command that can't be read are told in one line, like everything else."""

import re
from typing import IO, Any

import click
from click.exceptions import NoArgsIsHelpError

from gateway.cli import output

_GUESS = re.compile(r"\.? Did you mean")
_QUOTED = re.compile(r"'([^']+)'")


class WrongCall(click.ClickException):
    """What is wrong with the words of a call, and where it is told how they go."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it in the form of every other message."""
        click.echo(f"weighbridge: {output.on_one_line(self.message)}", file=file, err=file is None)


class PlainGroup(click.Group):
    """A group whose own words, and those of its commands, are refused in one line."""

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
            raise told(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Read the words of a command, and carry it out."""
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise told(error) from error


def told(error: click.UsageError) -> WrongCall:
    """Return what Click says about a call, in our form."""
    said = _QUOTED.sub(r"`\1`", " ".join(error.format_message().split())).rstrip(".")
    said = _GUESS.sub("; did you mean", said)
    return WrongCall(f"{said[:1].lower()}{said[1:]}; see `{_named(error.ctx)} --help`")


def _named(ctx: click.Context | None) -> str:
    """Return the words of a command, whatever the program itself was called by."""
    words: list[str] = []
    while ctx is not None and ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(["weighbridge", *words])
