"""`weighbridge events`: its help says at once what there is."""

import subprocess
import sys

import click
import pytest

from gateway.cli.event_log import TABLE, command


def test_its_help_imports_neither_the_store_nor_the_configuration() -> None:
    program = (
        "import sys\n"
        "from gateway.cli.main import main\n"
        "main(['events', '--help'], standalone_mode=False)\n"
        "heavy = {'gateway.store.store', 'gateway.config.settings', 'pydantic', 'anyio', 'yaml'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", TABLE)
def test_the_table_names_commands_as_they_call_themselves(name: str) -> None:
    found = command.get_command(click.Context(command), name)
    assert found is not None
    assert found.name == name
