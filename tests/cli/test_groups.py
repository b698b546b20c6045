"""Groups of commands: what their tables say, and that saying it costs nothing."""

import subprocess
import sys

import click
import pytest

from gateway.cli.groups import GROUPS
from tests.helpers.workspaces import weighbridge

NAMES = [
    pytest.param(words, name, id=f"{words} {name}")
    for words, group in GROUPS.items()
    for name in group.list_commands(click.Context(group))
]
# What no help and no completion needs, and what takes long to import.
HEAVY = {
    "aiohttp", "anyio", "asyncio", "cel_expr_python", "cryptography", "gateway.config.settings",
    "gateway.store.store", "jinja2", "jsonschema_rs", "mcp", "opentelemetry", "pydantic",
    "sqlite3", "starlette", "uvicorn", "yaml",
}  # fmt: skip


@pytest.mark.parametrize(("words", "name"), NAMES)
def test_a_table_says_of_a_command_what_the_command_says_itself(words: str, name: str) -> None:
    group = GROUPS[words]
    context = click.Context(group)
    command = group.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert group.table[name][1] == command.get_short_help_str(1_000)


def test_help_and_completion_import_nothing_heavy() -> None:
    program = (
        "import os, sys, io, contextlib\n"
        "from click.shell_completion import BashComplete\n"
        "from gateway.cli.main import main\n"
        "calls = [[], *([*words.split()] for words in "
        f"{[*GROUPS, 'replay', 'completion']})]\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    for words in calls:\n"
        "        main([*words, '--help'], standalone_mode=False)\n"
        "shell = BashComplete(main, {}, 'weighbridge', '_WEIGHBRIDGE_COMPLETE')\n"
        "for words in calls:\n"
        "    assert shell.get_completions(words, '') or words == ['completion'], words\n"
        f"heavy = {sorted(HEAVY)}\n"
        "assert not {*heavy} & sys.modules.keys(), {*heavy} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_questions_are_listed_with_what_they_ask() -> None:
    done = weighbridge("events", "ask", "--json")
    assert '"question":"who-could"' in done.stdout
    assert weighbridge("events", "ask", "--json", "decided").exit_code == 2
