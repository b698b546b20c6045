"""The files themselves: tests/cli/test_verify.py; here what counts when nothing is given."""

from pathlib import Path

import pytest

from gateway.cli import trusting
from gateway.config.events import CheckpointsSettings, EventsSettings
from gateway.config.settings import Settings, StoreSettings
from gateway.store import key_files


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
