"""The policy folder that a command is about."""

from pathlib import Path

from gateway.cli.policies import policies
from tests.helpers.folders import a_folder
from tests.helpers.workspaces import a_workspace


def test_a_folder_of_its_own_needs_no_configuration(tmp_path: Path) -> None:
    a_folder(tmp_path)
    found = policies(tmp_path / "none.yaml", tmp_path)
    assert found.settings is None
    assert found.built.revision is not None
    assert list(found.built.revision.contracts) == ["desk.note"]


def test_otherwise_the_configuration_names_the_folder_and_the_servers(tmp_path: Path) -> None:
    rule = "rules: [{id: a, decision: deny, code: x, match: {servers: [flies]}}]"
    place = a_workspace(tmp_path, {"files": {"command": "x"}}, policy=rule)
    found = policies(place.config, None)
    assert found.settings is not None
    assert list(found.settings.servers) == ["files"]
    assert any(each.check == "unknown-server" for each in found.built.findings)


def test_a_folder_that_is_not_there_is_a_fault_of_it(tmp_path: Path) -> None:
    found = policies(tmp_path / "none.yaml", tmp_path / "none")
    assert "there is no such folder" in found.built.problem
