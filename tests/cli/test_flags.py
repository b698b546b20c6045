"""Options that commands share."""

import click
from click.testing import CliRunner

from gateway.cli.flags import candidate_options, config_option, json_option, schemas_option


@click.command()
@config_option
@json_option
@candidate_options
@schemas_option
def command(**given: object) -> None:
    click.echo(" ".join(f"{key}={value}" for key, value in sorted(given.items())))


def test_each_has_its_default_and_its_name() -> None:
    assert CliRunner().invoke(command, []).stdout.split() == [
        "as_json=False", "contracts=None", "files=()", "named=", "path=config.yaml",
        "policies=None",
    ]  # fmt: skip


def test_the_configuration_is_also_named_by_a_variable() -> None:
    done = CliRunner().invoke(command, ["--json"], env={"WEIGHBRIDGE_CONFIG": "other.yaml"})
    assert "as_json=True" in done.stdout
    assert "path=other.yaml" in done.stdout
