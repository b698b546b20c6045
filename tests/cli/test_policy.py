"""`weighbridge policy` as a person types it."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway import jsontext
from gateway.cli.main import main
from gateway.demo.workspace import policies


def explained(*words: str) -> Result:
    return CliRunner().invoke(main, ["policy", "explain", *words])


@pytest.mark.parametrize("name", ["desk.refund", "desk__refund"])
def test_a_tool_is_explained_by_either_of_its_names(name: str) -> None:
    done = explained(name, "--policies", str(policies()), "--json")
    assert done.exit_code == 0, done.output
    said = jsontext.parse(done.stdout)
    assert isinstance(said, dict)
    assert said["tool"] == "desk.refund"


def test_the_name_to_use_in_policies_is_told_to_whoever_used_the_other() -> None:
    folder = ["--policies", str(policies())]
    told = "`desk__refund` is `desk.refund` in contracts and policies\n"
    assert explained("desk__refund", *folder).stdout.startswith(told)
    assert "in contracts and policies" not in explained("desk.refund", *folder).stdout


def test_a_mistyped_name_gets_the_nearest_one_as_policies_write_it() -> None:
    for name in ("desk__refnud", "desk.refnud"):
        done = explained(name, "--policies", str(policies()))
        assert done.exit_code == 2
        assert done.stderr == (
            f"weighbridge: there is no contract for `{name}`; did you mean `desk.refund`?\n"
        )
    done = explained("zzzz", "--policies", str(policies()))
    assert "draft one with `weighbridge tools pin`" in done.stderr


def test_the_exposed_name_follows_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "servers: {desk: {command: x}}\nexpose: {transparent: true}\n"
        f"policies: {policies()}\n"
    )
    done = explained("refund", "--config", str(config))
    assert "is `desk.refund`" in done.stdout, done.output
