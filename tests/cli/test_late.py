"""Groups whose commands are imported when they are named."""

import subprocess
import sys

import click

from gateway.cli.late import LateGroup
from tests.helpers.workspaces import weighbridge

GROUP = LateGroup("a", table={"b": ("gateway.cli.keys:new", "make"), "c": ("none.there", "fail")})


def test_a_help_lists_the_table_and_imports_nothing_of_it() -> None:
    context = click.Context(GROUP)
    assert GROUP.list_commands(context) == ["b", "c"]
    assert "c  fail" in GROUP.get_help(context)


def test_a_name_is_looked_up_and_one_that_is_not_there_is_none() -> None:
    context = click.Context(GROUP)
    assert isinstance(GROUP.get_command(context, "b"), click.Command)
    assert GROUP.get_command(context, "x") is None


def test_a_name_that_is_not_there_is_met_with_the_nearest() -> None:
    for words, said in (
        (("polcy", "lint"), "no such command `polcy`; did you mean `policy`?"),
        (("policy", "tset"), "no such command `tset`; did you mean `test`?"),
        (("replay", "shw"), "no such command `shw`; did you mean `show`?"),
    ):
        done = weighbridge(*words)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"weighbridge: {said}; see `weighbridge")


def test_what_a_command_imports_is_nothing_to_collect() -> None:
    """A process of its own: here the command has long been imported."""
    code = (
        "import gc; from gateway.cli.late import named; before = gc.get_stats();"
        "named('gateway.cli.serve'); assert gc.get_stats() == before;"
        "assert gc.isenabled(); assert gc.get_freeze_count() > 50_000"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
