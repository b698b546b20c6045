"""The page of commands, made from the commands: usage, arguments, options, defaults, examples."""

import argparse
import re
from collections.abc import Iterable, Iterator

import click

from gateway.cli import output
from gateway.cli.main import main
from gateway.demo import run as demo

_HEAD = """\
# Commands

Made from the commands themselves by `scripts/references.py`; `--help` of each says the same.

Every command reads `config.yaml` beside the caller, or what `--config` or `WEIGHBRIDGE_CONFIG`
names. What is meant for people is a table or a sentence; `--json` prints the same for programs.
Errors go to standard error, one line each: what is wrong, where, and how to mend it.

## Exit codes

| code | means |
| --- | --- |
"""
_EXITS = {
    0: "done, and nothing is wrong",
    output.EXIT_FAILED: "the command ran and found something wrong, or what was asked for can't be",
    output.EXIT_USAGE: "it was called wrongly, or a file that it needs can't be read or used",
    output.EXIT_DOES_NOT_COMPILE: "the policy folder does not compile (`policy` commands)",
    output.EXIT_TESTS_FAILED: "a policy test failed (`policy test`)",
    130: "it was interrupted (Ctrl-C)",
    141: "whoever read its output has left, such as `head`",
}
_TAIL = """\

Where a command says more about its codes, that stands with it. `serve` and `stdio` end with 0 after
a signal to stop.
"""


def render() -> str:
    """Return the page."""
    lines = [_HEAD + "\n".join(f"| {code} | {means} |" for code, means in _EXITS.items()), _TAIL]
    lines += ["## All commands\n", "| command | does |", "| --- | --- |"]
    found = [*_commands(main, click.Context(main, info_name="weighbridge"))]
    for path, command, _ in found:
        lines.append(f"| [`{path}`](#{path.replace(' ', '-')}) | {_first(command)} |")
    lines.append("")
    for path, command, context in found:
        lines += _section(path, command, context)
    return "\n".join(lines).rstrip() + "\n"


def commands() -> list[str]:
    """Return every command by the words that name it."""
    context = click.Context(main, info_name="weighbridge")
    return [path for path, _, _ in _commands(main, context)]


def _commands(
    group: click.Group, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command, inner
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def _section(path: str, command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"{'##' if path.count(' ') == 1 else '###'} `{path}`\n"
    if command.name == "demo":
        yield from _of_argparse(command, demo.parser())
        return
    yield from _paragraphs(command.help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{path} {usage}\n```\n"
    parameters = [each for each in command.get_params(context) if not _is_help(each)]
    if parameters:
        yield "| option | default | meaning |\n| --- | --- | --- |"
        yield from (_row(each, context) for each in parameters)
        yield ""
    yield from _examples(command.epilog or "")


def _of_argparse(command: click.Command, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from _paragraphs(command.help or "")
    yield f"```text\n{' '.join(parser.format_usage().split()).removeprefix('usage: ')}\n```\n"
    yield "| option | default | meaning |\n| --- | --- | --- |"
    for action in parser._actions:  # it has no other list of them
        if action.dest != "help":
            value = f" {action.metavar}" if action.metavar else ""
            yield f"| `{', '.join(action.option_strings)}{value}` |  | {_cell(action.help or '')} |"
    yield ""
    yield from _examples(parser.epilog or "")


def _is_help(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and "--help" in parameter.opts


def _row(parameter: click.Parameter, context: click.Context) -> str:
    if isinstance(parameter, click.Option):
        record = parameter.get_help_record(context)
        name = record[0] if record else ", ".join(parameter.opts)
        meaning = _said(parameter)
    else:
        name, meaning = parameter.make_metavar(context), _said(parameter)
    notes = [*_notes(parameter)]
    return f"| `{_bars(name)}` | {_default(parameter)} | {_cell(' '.join([meaning, *notes]))} |"


def _said(parameter: click.Parameter) -> str:
    """Return what an option or an argument is for, in the command's own words if it has some."""
    own = parameter.help if isinstance(parameter, click.Option) else None
    name = (parameter.human_readable_name or "").lower().rstrip(".")
    return own or _WORDS.get(parameter.name or "") or _WORDS.get(name) or ""


def _notes(parameter: click.Parameter) -> Iterator[str]:
    if parameter.envvar:
        yield f"Also from `{parameter.envvar}`."
    told = "several times" in _said(parameter) or "repeated" in _said(parameter)
    if isinstance(parameter, click.Option) and parameter.multiple and not told:
        yield "May be repeated."
    if isinstance(parameter.type, click.IntRange | click.FloatRange):
        kind = parameter.type
        low = "" if kind.min is None else f"at least {kind.min}"
        high = "" if kind.max is None else f"at most {kind.max}"
        yield f"A number: {', '.join(each for each in (low, high) if each)}."


def _default(parameter: click.Parameter) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if (
        callable(value)
        or value is None
        or "Sentinel" in str(type(value))
        or value in ((), False, "")
    ):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _examples(epilog: str) -> Iterator[str]:
    """Yield a block for examples that are commands as they stand, and a sentence for others."""
    text = " ".join(epilog.split())
    head, _, rest = text.partition(": ")
    typed = rest.split("; ") if head.lower() in ("example", "examples") else []
    if typed and all(each.startswith("weighbridge ") and ", " not in each for each in typed):
        yield "```console\n" + "\n".join(f"$ {each}" for each in typed) + "\n```\n"
    elif text:
        yield f"{text}\n"


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text.partition("\f")[0].strip()):
        sentence = " ".join(part.replace("\b", "").split())
        if re.match(r"Examples?: ", sentence):
            yield from _examples(sentence)
        else:
            yield _options_marked(sentence) + "\n"


def _first(command: click.Command) -> str:
    return _cell(command.get_short_help_str(1_000))


def _cell(text: str) -> str:
    return _bars(_options_marked(" ".join(text.split())))


def _options_marked(text: str) -> str:
    """Put options into backticks, where they are not inside of some."""
    parts = text.split("`")
    for number in range(0, len(parts), 2):
        parts[number] = re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", parts[number])
    return "`".join(parts)


def _bars(text: str) -> str:
    return text.replace("|", "\\|")


def undescribed() -> Iterable[str]:
    """Yield each option and argument about which nothing is said."""
    for path, command, context in _commands(main, click.Context(main, info_name="weighbridge")):
        for parameter in command.get_params(context):
            if not _said(parameter) and command.name != "demo" and not _is_help(parameter):
                yield f"{path}: {parameter.human_readable_name}"


# What `--help` leaves to the name: arguments, and options that every reader of the command knows.
_WORDS = {
    "call": "The id of a call, as answers and events have it.",
    "decision": "Only such events: `allow`, `deny` or `require_approval`.",
    "event": "The number of an event, or its id.",
    "form": "How it is printed.",
    "key_id": "A name for the key: letters, digits and `-`.",
    "kind": "Only events of this kind.",
    "limit": "At most so many.",
    "name": "Which one.",
    "names": "Tools, as `server.name`; without any, all.",
    "new": "The later policy: a folder, or the beginning of a revision's id.",
    "old": "The earlier policy: a folder, or the beginning of a revision's id.",
    "op": "The id of an operation.",
    "ops": "The ids of operations.",
    "op_ids": "The ids of operations.",
    "op_id": "The id of an operation.",
    "phase": "A phase of runs.",
    "request": "The id of a request for approval.",
    "revision": "The id of a revision, or the beginning of it.",
    "run": "The id of a run.",
    "shell": "The shell: `bash`, `zsh` or `fish`.",
    "stage": "Only events of this stage.",
    "state": "Only those in this state.",
    "stopped": "Only those that stopped for this reason.",
    "template": "Only runs of this template.",
    "tenant": "Only this tenant's.",
    "tool": "A tool, as `server.name`.",
    "user": "Who calls.",
}
