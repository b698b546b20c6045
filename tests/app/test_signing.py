from pathlib import Path

import pytest

from gateway.app import signing
from gateway.config.events import CheckpointsSettings, EventsSettings
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError
from gateway.store import key_files


def test_a_key_of_another_name_than_the_configured_one_signs_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.key"
    key_files.make(path, "log.example/other")
    own = CheckpointsSettings(key=path, origin="log.example/a")
    with pytest.raises(ConfigurationError, match="make them the same"):
        signing.signer_of(path, own)
    same = own.model_copy(update={"origin": None})
    assert signing.signer_of(path, same).name == "log.example/other"
    with pytest.raises(ConfigurationError, match="is not set"):
        signing.signer_of(None, same)


def test_a_configured_key_has_precedence(tmp_path: Path) -> None:
    own = CheckpointsSettings(key=tmp_path / "log.key")
    settings = Settings(events=EventsSettings(checkpoints=own))
    assert signing.key_path(settings) == tmp_path / "log.key"
    assert signing.key_path(Settings()) == Path("weighbridge.db.checkpoints.key")
