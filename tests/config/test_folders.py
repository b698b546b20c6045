"""The files of a policy folder."""

from pathlib import Path

from gateway.config.folders import yaml_below


def test_files_come_in_order_and_other_names_are_left_out(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yaml", "contracts/c.yaml", "a.yml", ".hidden.yaml", ".git/x.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(path.relative_to(tmp_path)) for path in yaml_below(tmp_path)] == [
        "a.yaml", "b.yaml", "contracts/c.yaml",
    ]  # fmt: skip


def test_a_volume_of_kubernetes_is_read_through_its_links(tmp_path: Path) -> None:
    real = tmp_path / "..2026_11_30_09_00_00.1"
    (real / "contracts").mkdir(parents=True)
    (real / "desk.yaml").touch()
    (real / "contracts" / "desk.yaml").touch()
    (tmp_path / "..data").symlink_to(real.name)
    (tmp_path / "desk.yaml").symlink_to("..data/desk.yaml")
    (tmp_path / "contracts").symlink_to("..data/contracts")
    assert [str(path.relative_to(tmp_path)) for path in yaml_below(tmp_path)] == [
        "contracts/desk.yaml", "desk.yaml",
    ]  # fmt: skip


def test_folders_that_lead_to_themselves_end(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    (tmp_path / "again").symlink_to(tmp_path)
    assert yaml_below(tmp_path) == [tmp_path / "a.yaml"]
