"""`weighbridge schema`: what editors are handed."""

import json

import pytest
from click.testing import CliRunner

from gateway.actions import file_schemas
from gateway.cli.schema import command
from gateway.yamltext.editors import KINDS, Name, url


@pytest.mark.parametrize("name", list(KINDS))
def test_a_schema_is_printed_as_it_is_published(name: Name) -> None:
    found = CliRunner().invoke(command, [name])
    assert (found.exit_code, found.stdout) == (0, file_schemas.render(name))


def test_without_a_name_the_kinds_are_listed() -> None:
    found = CliRunner().invoke(command, [])
    assert [line.split()[0] for line in found.stdout.splitlines()] == ["name", *KINDS]


def test_the_list_is_json_for_programs() -> None:
    found = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    assert [each["url"] for each in found] == [url(each) for each in KINDS]


def test_an_unknown_name_is_met_with_the_nearest() -> None:
    found = CliRunner().invoke(command, ["polcy"])
    assert found.exit_code == 2
    assert "no schema `polcy`; did you mean `policy`?" in found.stderr
