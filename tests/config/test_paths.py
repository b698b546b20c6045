from pathlib import Path

import pytest

from gateway.config.paths import resolve
from gateway.config.settings import Settings

FOLDER = Path("/etc/weighbridge")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("sqlite:///gw.db", "sqlite:////etc/weighbridge/gw.db"),
        ("sqlite:////var/gw.db", "sqlite:////var/gw.db"),
        ("postgresql://gw@db/gw", "postgresql://gw@db/gw"),
    ],
)
def test_a_store_in_a_file_stands_beside_the_configuration(written: str, path: str) -> None:
    settings = Settings.model_validate({"store": written})
    assert resolve(settings, folder=FOLDER, home=None).store.url == path


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("npx", "npx"),
        ("./server", "/etc/weighbridge/server"),
        ("bin/a server", "/etc/weighbridge/bin/a server"),
        ("/usr/bin/server", "/usr/bin/server"),
        ("~/server", "/home/ann/server"),
    ],
)
def test_a_command_with_a_folder_starts_beside_the_configuration(command: str, path: str) -> None:
    """case: CFG-04"""
    settings = Settings.model_validate({"servers": {"a": {"command": command}}})
    assert resolve(settings, folder=FOLDER, home="/home/ann").servers["a"].command == path


def test_a_file_with_keys_stands_beside_the_configuration() -> None:
    issuer = {"issuer": "https://i.example", "audience": "us", "jwks_file": "k.json", "tenant": "t"}
    settings = Settings.model_validate({"identity": {"jwt": [issuer]}})
    resolved = resolve(settings, folder=FOLDER, home=None)
    assert resolved.identity.jwt[0].jwks_file == FOLDER / "k.json"
    assert resolved.policies == FOLDER / "policies"


def test_the_key_of_sealed_copies_stands_beside_the_configuration() -> None:
    settings = Settings.model_validate({"events": {"sealing": {"key": "sealing.key"}}})
    resolved = resolve(settings, folder=FOLDER, home=None)
    assert resolved.events.sealing.key == FOLDER / "sealing.key"
    unset = resolve(Settings.model_validate({}), folder=FOLDER, home=None)
    assert unset.events.sealing.key is None


def test_without_a_home_a_tilde_is_a_folder_like_any_other() -> None:
    settings = Settings.model_validate({"policies": "~/rules"})
    assert resolve(settings, folder=FOLDER, home=None).policies == FOLDER / "~/rules"
