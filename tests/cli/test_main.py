"""The `weighbridge` command as a whole."""

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from gateway import __version__
from gateway.cli.late import named
from gateway.cli.main import COMMANDS, main
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
    modules = [place.partition(":")[0] for place, _ in COMMANDS.values()]
    program = (
        "import sys\n"
        "from gateway.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"assert not {set(modules)} & sys.modules.keys(), 'imported'\n"
    )
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


def walked(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield every command of a group and of the groups in it, with the words that call it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from walked(command, inner)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield inner.command_path.removeprefix("weighbridge "), command


ALL = dict(walked(main, click.Context(main, info_name="weighbridge")))
OTHERWISE = {
    "demo": "it reads its own words, `--json` among them",
    "completion": "it prints a script for a shell, and nothing else reads that",
}


@pytest.mark.parametrize("words", ALL)
def test_a_command_says_what_it_is_for_and_gives_an_example_of_itself(words: str) -> None:
    command = ALL[words]
    assert command.help
    assert (command.epilog or "").startswith("Example")
    assert f"weighbridge {words}" in (command.epilog or "") or words == "stdio"


@pytest.mark.parametrize("words", ALL.keys() - OTHERWISE)
def test_a_command_tells_programs_what_it_tells_people(words: str) -> None:
    assert any("--json" in each.opts for each in ALL[words].params)


@pytest.mark.parametrize("words", ALL)
def test_an_option_without_its_value_is_told_with_the_help_of_its_own_command(words: str) -> None:
    takes = [
        each.opts[0]
        for each in ALL[words].params
        if isinstance(each, click.Option) and not each.is_flag and not each.count
    ]
    for option in takes[:1]:
        done = weighbridge(*words.split(), option)
        assert f"`{option}` requires an argument; see `weighbridge {words} --help`" in done.stderr


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["events", "ask"]])
def test_a_help_cuts_no_sentence(words: list[str]) -> None:
    listed = weighbridge(*words, "--help").stdout.partition("Commands:")[2]
    assert "..." not in listed.partition("Example")[0]


@pytest.mark.parametrize("place", [place for place, _ in COMMANDS.values()])
def test_the_table_names_places_that_have_a_command(place: str) -> None:
    assert isinstance(named(place), click.Command)
