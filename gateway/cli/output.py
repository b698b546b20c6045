"""What commands print: tables for people, JSON for programs, one line for errors."""

import json
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from gateway import jsontext
from gateway.results import marks
from gateway.types.json import Json

EXIT_FAILED = 1  # the command ran and found something wrong
EXIT_USAGE = 2  # the command was called wrongly, or a file that it needs can't be used
EXIT_DOES_NOT_COMPILE = 3
EXIT_TESTS_FAILED = 4

_LINE_ENDS = {ord(each): f"\\u{{{ord(each):x}}}" for each in "\t\n\r"}


def fail(message: str, code: int = EXIT_USAGE) -> NoReturn:
    """End the command with one line on standard error."""
    click.echo(f"weighbridge: {marks.visible(message)}", err=True)
    sys.exit(code)


def as_json(value: Json) -> None:
    """Print one JSON document; indented, and with what hides escaped, when a person looks."""
    if sys.stdout.isatty():
        laid_out = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        click.echo("\n".join(map(_without_hidden, laid_out.split("\n"))))
    else:
        click.echo(jsontext.dump(value).decode())


def as_json_line(value: Json) -> None:
    """Print one JSON value on one line, digits as they are kept; for a terminal, escaped more."""
    click.echo(json_line(value))


def json_line(value: Json) -> str:
    """Return what `as_json_line` prints."""
    text = jsontext.dump(value).decode()
    return _without_hidden(text) if sys.stdout.isatty() else text


def _without_hidden(text: str) -> str:
    """Escape what a terminal would obey or hide; a line of JSON still says the same."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def line(text: str = "") -> None:
    """Print a line of text for people; hidden characters are made visible."""
    click.echo(marks.visible(text))


def on_one_line(text: str) -> str:
    """Make hidden characters and line ends visible: a name can't pose as a line of its own."""
    return marks.visible(text).translate(_LINE_ENDS)


def one_line(text: str) -> None:
    """Print text that may hold names from outside, on one line whatever they hold."""
    click.echo(on_one_line(text))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headers, cut to the width of the terminal."""
    cells = [list(headers), *([on_one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(headers))]
    width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 10_000
    for row in cells:
        text = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        click.echo(text if len(text) <= width else text[: width - 1] + "…")
