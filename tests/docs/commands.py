"""Commands as pages show them, held against those that there are."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import click

from gateway.cli.main import main
from gateway.types.json import Json

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ENDS = {"|", "||", "&&", ";", "&", "(", ")", "|&"}
_REDIRECTED = re.compile(r"\d*(>>?|<|>&|&>)\d*")
# What starts another program, whose words then follow.
_BEFORE = {"exec", "then", "do", "sudo", "time", "nohup", "env", "if", "!"}


def of_console(text: str) -> Iterator[str]:
    """Yield what is typed in a block of a terminal: after `$ `, with the lines it goes on in."""
    lines = iter(text.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            continue
        typed = line[2:]
        while typed.endswith("\\"):
            typed = f"{typed[:-1]} {next(lines).removeprefix('> ').strip()}"
        yield typed


def of_script(text: str) -> Iterator[str]:
    """Yield the commands of a shell script; what stands in quotes may go over lines."""
    typed = ""
    for line in text.replace("\\\n", " ").splitlines():
        typed = f"{typed}\n{line}" if typed else line
        if _is_whole(typed):
            yield typed
            typed = ""
    if typed.strip():
        raise ValueError(f"quotes are not closed in `{typed.strip()}`")


def _is_whole(typed: str) -> bool:
    try:
        shlex.split(typed, comments=True)
    except ValueError:
        return False
    return True


def calls(typed: str) -> Iterator[list[str]]:
    """Yield the words after `weighbridge` for each time that a line calls it."""
    for words in _simple(typed):
        rest = [*words]
        while rest and (_ASSIGNED.fullmatch(rest[0]) or rest[0] in _BEFORE):
            rest.pop(0)
        if not rest:
            continue
        if rest[0].rpartition("/")[2] == "weighbridge":
            yield rest[1:]
        elif "--" in rest:  # a client that is told what to start
            after = rest[rest.index("--") + 1 :]
            if after[:1] == ["weighbridge"]:
                yield after[1:]


def _simple(typed: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line, without what is redirected."""
    lexer = shlex.shlex(typed, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    skip = False
    for token in lexer:
        if token in _ENDS:
            yield words
            words = []
        elif _REDIRECTED.fullmatch(token):
            if words and words[-1].isdigit():
                words.pop()
            skip = True
        elif skip:
            skip = False
        else:
            words.append(token)
    yield words


def started(value: Json) -> Iterator[list[str]]:
    """Yield the words after `weighbridge` of what a client's configuration starts."""
    if isinstance(value, dict):
        command, args = value.get("command"), value.get("args")
        if isinstance(command, str) and command.rpartition("/")[2] == "weighbridge":
            yield [str(each) for each in args] if isinstance(args, list) else []
        for each in value.values():
            yield from started(each)
    elif isinstance(value, list):
        for each in value:
            yield from started(each)


def fault(words: Sequence[str]) -> str:
    """Say what is wrong with words after `weighbridge`, or return an empty text."""
    command: click.Command = main
    context = click.Context(main, info_name="weighbridge")
    rest = [*words]
    while isinstance(command, click.Group):
        if not rest or rest[0].startswith("-"):
            break
        found = command.get_command(context, rest[0])
        if found is None and command.invoke_without_command and not _is_word(rest[0]):
            break
        if found is None:
            return f"no command `{' '.join([context.command_path, rest[0]])}`"
        rest.pop(0)
        command, context = found, click.Context(found, info_name=found.name, parent=context)
    else:
        return _against(command, context, rest)
    if rest in (["--help"], ["--version"], ["-h"]):
        return ""
    if isinstance(command, click.Group) and not command.invoke_without_command:
        return f"`{context.command_path}` is a group, and no command of it is named"
    return _against(command, context, rest)


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[a-z][a-z-]*", text) is not None


def _against(command: click.Command, context: click.Context, words: list[str]) -> str:
    if words == ["--help"] or command.name == "demo":  # the demo reads its own options
        return ""
    try:
        values, left, _ = command.make_parser(context).parse_args([*words])
    except click.UsageError as error:
        return f"`{context.command_path}`: {error.format_message()}"
    if left and not context.allow_extra_args:
        return f"`{context.command_path}` takes no `{left[0]}`"
    for parameter in command.params:
        told = _of(parameter, values.get(parameter.name or ""))
        if told:
            return f"`{context.command_path}`: {told}"
    return ""


def _of(parameter: click.Parameter, value: object) -> str:
    """Say what is wrong with a value; files need not be there, and `$NAME` stands for anything."""
    given = [str(each) for each in _each(value)]
    if not given:
        is_missing = parameter.required and parameter.envvar is None
        return f"`{parameter.human_readable_name}` is missing" if is_missing else ""
    if not isinstance(parameter.type, click.Choice | click.types.IntParamType):
        return ""
    convert: Callable[[str, click.Parameter, None], object] = cast("Any", parameter.type).convert
    for each in given:
        try:
            convert(each, parameter, None) if not each.startswith("$") else None
        except click.UsageError as error:
            return error.format_message()
    return ""


def _each(value: object) -> Sequence[object]:
    """Return the values that were given, of which there may be none, one or more."""
    if value is None or "Sentinel" in str(type(value)):
        return []
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
