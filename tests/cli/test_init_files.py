"""Files as a whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from gateway.cli import init_files
from gateway.cli.init_files import Record
from gateway.errors import ConfigurationError, FileError


def test_a_link_stays_one_and_its_file_keeps_its_mode(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    init_files.replace(init_files.read(link), b"new")
    assert link.is_symlink()
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (b"new", 0o640)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "real"]


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    original = init_files.read(path)
    path.write_bytes(b"other")
    with pytest.raises(FileError, match="changed meanwhile"):
        init_files.replace(original, b"new")
    assert path.read_bytes() == b"other"


def test_copies_are_for_their_owner_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    copies = [init_files.back_up(init_files.read(path)) for _ in range(2)]
    assert [each.name for each in copies] == ["f.before-weighbridge", "f.before-weighbridge-2"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in copies} == {0o600}


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, said in (
        ("pipe", "is not a regular file"),
        ("loop", "can't be read"),
        ("no", "no such file"),
    ):
        with pytest.raises(FileError, match=said):
            init_files.read(tmp_path / name)


def test_a_stage_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    with init_files.staged(folder) as stage:
        init_files.lay(stage, {"x/y": "1"})
    assert not (tmp_path / "a").exists()


def test_what_was_moved_is_taken_away_again_when_the_last_step_fails(tmp_path: Path) -> None:
    stage, folder = tmp_path / "stage", tmp_path / "folder"
    folder.mkdir()
    (folder / "theirs").write_text("kept")
    init_files.lay(stage, {"config.yaml": "1", "policies/p.yaml": "2"})
    with pytest.raises(OSError, match="full"), init_files.moved(stage, folder):
        raise OSError("full")
    assert [each.name for each in folder.iterdir()] == ["theirs"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="another folder with `--dir`"):
        init_files.check_free(tmp_path, ("policies", "config.yaml"))


def test_a_record_is_read_back(tmp_path: Path) -> None:
    record = Record(client=Path("/c"), backup=Path("/b"), before="1", after="2")
    (tmp_path / init_files.RECORD).write_text(init_files.record_text(record))
    assert init_files.recorded(tmp_path) == record


@pytest.mark.parametrize("text", ["{", "[]", '{"client": 1}'])
def test_a_record_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / init_files.RECORD).write_text(text)
    with pytest.raises(FileError):
        init_files.recorded(tmp_path)


def test_without_a_record_nothing_was_done(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="name its folder with `--dir`"):
        init_files.recorded(tmp_path)
