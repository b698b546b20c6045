"""Options that commands share, and the faults of a configuration as commands tell them."""

from pathlib import Path

import pytest

from gateway.cli import options
from tests.helpers.workspaces import a_workspace, weighbridge


def test_a_configuration_is_found_by_option_by_variable_or_beside_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = a_workspace(tmp_path)
    path = str(place.config)
    assert weighbridge("doctor", "-c", path).exit_code == 1  # it has no servers
    assert weighbridge("doctor", environ={"WEIGHBRIDGE_CONFIG": path}).exit_code == 1
    monkeypatch.chdir(tmp_path)
    assert weighbridge("doctor").exit_code == 1


def test_a_configuration_that_is_not_there_is_told_with_where_to_get_one(tmp_path: Path) -> None:
    done = weighbridge("doctor", "--config", f"{tmp_path}/none.yaml")
    assert done.exit_code == 2
    assert done.stderr == (
        f"weighbridge: {tmp_path}/none.yaml: no such file; make one with `weighbridge init`, "
        "or name it with `--config`\n"
    )


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    done = weighbridge("doctor", "--config", str(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a directory" in done.stderr


def test_every_fault_of_a_configuration_has_its_own_line_and_place(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("servers: {alpha: {comand: x}}\nlisten: {max_body: little}\n")
    done = weighbridge("doctor", "--config", str(path))
    assert done.exit_code == 2
    first, second = done.stderr.splitlines()
    assert first.startswith(f"weighbridge: {path}:1:")
    assert "`command`" in first
    assert second.startswith(f"weighbridge: {path}:2:")


def test_a_configuration_that_would_be_open_to_all_is_refused_with_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text('servers: {}\nlisten: {address: "0.0.0.0:8700"}\n')
    done = weighbridge("serve", "--config", str(path))
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"weighbridge: {path}:2:")


def test_a_path_is_shown_as_a_person_types_it_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert options.relative(tmp_path / "policies/a.yaml") == "policies/a.yaml"
