"""The configuration file gets another mode whole, or stays as it was."""

import os
import stat
from pathlib import Path

import pytest

from gateway.actions.switching import switch
from gateway.errors import FileError, WeighbridgeError
from gateway.types.decisions import Mode

TEXT = "\ufeff# ours\r\nmode: observe  # for a week\r\nservers: {}\r\n"


def a_file(folder: Path, text: str = TEXT) -> Path:
    (folder / "policies").mkdir()
    file = folder / "config.yaml"
    file.write_bytes(text.encode())
    return file


def test_the_mode_changes_and_nothing_else_of_the_file(tmp_path: Path) -> None:
    file = a_file(tmp_path)
    file.chmod(0o640)
    assert switch(file, Mode.ENFORCE, {})
    assert file.read_bytes().decode() == TEXT.replace("observe", "enforce")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not switch(file, Mode.ENFORCE, {})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.yaml", "policies"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    a_file(kept)
    (kept / ".config.yaml.new").write_text("left behind")
    link = tmp_path / "config.yaml"
    link.symlink_to(kept / "config.yaml")
    (tmp_path / "policies").mkdir()
    assert switch(link, Mode.ENFORCE, {})
    assert link.is_symlink()
    assert "mode: enforce" in (kept / "config.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: observe\nserverz: {}\n", "serverz"),
        ("mode: observe\nservers: [\n", "config.yaml:"),
        ("mode:\n  observe\n", "by hand"),
    ],
)
def test_a_file_that_would_not_do_stays_as_it_was(tmp_path: Path, text: str, said: str) -> None:
    file = a_file(tmp_path, text)
    with pytest.raises(WeighbridgeError, match=said):
        switch(file, Mode.ENFORCE, {})
    assert file.read_text() == text


def test_what_cannot_be_read_or_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileError, match="no such file"):
        switch(tmp_path / "gone.yaml", Mode.ENFORCE, {})
    file = a_file(tmp_path)

    def refused(*args: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(FileError, match=r"Permission denied.*by hand"):
        switch(file, Mode.ENFORCE, {})
    assert file.read_bytes().decode() == TEXT
