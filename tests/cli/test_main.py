"""The `weighbridge` command as a whole."""

import importlib
import subprocess
import sys

import click
import pytest

from gateway import __version__
from gateway.cli.main import COMMANDS, LateGroup, main
from tests.helpers.workspaces import weighbridge


def test_the_help_lists_every_command_with_what_it_does() -> None:
    done = weighbridge("--help")
    assert done.exit_code == 0
    for name, (_, about) in COMMANDS.items():
        assert f"  {name}" in done.stdout
        assert about in done.stdout


def test_the_version_is_that_of_the_package() -> None:
    assert weighbridge("--version").stdout == f"weighbridge, version {__version__}\n"


def test_the_help_imports_no_command() -> None:
    modules = [module for module, _ in COMMANDS.values()]
    program = (
        "import sys\n"
        "from gateway.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"assert not {modules} & sys.modules.keys(), 'imported'\n"
    ).replace(str(modules), str(set(modules)))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_commands_that_call_nobody_import_no_network() -> None:
    light = ("policy", "approvals", "runs", "ops", "events", "keys", "status")
    program = (
        "import importlib, sys\n"
        f"for name in {light}:\n"
        "    importlib.import_module(f'gateway.cli.{name}')\n"
        "heavy = {'mcp', 'mcp_types', 'aiohttp', 'starlette', 'uvicorn', 'opentelemetry'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_command_that_does_not_exist_is_a_wrong_call() -> None:
    done = weighbridge("weigh")
    assert done.exit_code == 2
    assert done.stderr == "weighbridge: no such command `weigh`; see `weighbridge --help`\n"


def commands() -> list[tuple[str, click.Command]]:
    """Return every command that can be called, with the words that call it."""
    found: list[tuple[str, click.Command]] = []
    assert isinstance(main, LateGroup)
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        if isinstance(command, click.Group):
            found += [(f"{name} {each}", sub) for each, sub in command.commands.items()]
        else:
            found.append((name, command))
    return found


@pytest.mark.parametrize(("words", "command"), commands(), ids=[words for words, _ in commands()])
def test_a_command_says_what_it_is_for_and_gives_an_example_of_itself(
    words: str, command: click.Command
) -> None:
    assert command.help
    assert (command.epilog or "").startswith("Example")
    assert f"weighbridge {words}" in (command.epilog or "") or words == "stdio"


@pytest.mark.parametrize("module", [module for module, _ in COMMANDS.values()])
def test_the_table_names_modules_that_have_a_command(module: str) -> None:
    assert isinstance(importlib.import_module(module).command, click.Command)
