"""Groups whose commands are imported when they are named."""

import click

from gateway.cli.late import LateGroup

GROUP = LateGroup("a", table={"b": ("gateway.cli.keys:new", "make"), "c": ("none.there", "fail")})


def test_a_help_lists_the_table_and_imports_nothing_of_it() -> None:
    context = click.Context(GROUP)
    assert GROUP.list_commands(context) == ["b", "c"]
    assert "c  fail" in GROUP.get_help(context)


def test_a_name_is_looked_up_and_one_that_is_not_there_is_none() -> None:
    context = click.Context(GROUP)
    assert isinstance(GROUP.get_command(context, "b"), click.Command)
    assert GROUP.get_command(context, "x") is None
