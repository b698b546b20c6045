"""The files themselves: tests/cli/test_verify.py; here what counts when nothing is given."""

from pathlib import Path

import pytest

from gateway.cli import trusting
from gateway.config.events import CheckpointsSettings, EventsSettings
from gateway.config.settings import Settings, StoreSettings
from gateway.store import key_files
from tests.helpers.workspaces import a_workspace


def test_the_configured_keys_count_with_those_that_came_before(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    old, new = key_files.make(path, "log.example/a"), key_files.new("log.example/a")
    key_files.replace(path, new)
    own = EventsSettings(checkpoints=CheckpointsSettings(key=path))
    assert trusting.keys(Settings(events=own), []) == (new.key, old.key)
    assert trusting.keys(Settings(events=own), [str(old.key)]) == (old.key,)


def test_a_store_without_a_place_for_a_key_needs_one_given() -> None:
    with pytest.raises(SystemExit):
        trusting.keys(Settings(store=StoreSettings(url="postgresql://a/b")), [])


def test_no_files_hold_no_checkpoints() -> None:
    assert trusting.marks([]) == []


def test_a_file_of_keys_that_can_not_be_read_ends_the_command_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = a_workspace(tmp_path)
    (tmp_path / "store.db.checkpoints.key.pub").write_text("junk\n")
    (tmp_path / "other.pub").write_bytes(b"\xff")
    for given, said in (
        ([], "store.db.checkpoints.key.pub`: a public key reads `name+id+base64`"),
        ([str(tmp_path / "other.pub")], "other.pub`: "),
        ([str(tmp_path)], "is a directory"),
    ):
        with pytest.raises(SystemExit):
            trusting.keys(place.loaded().settings, given)
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
