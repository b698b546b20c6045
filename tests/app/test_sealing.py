from pathlib import Path
from typing import Any

import pytest

from gateway.app import sealing
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.store import sealing_keys
from gateway.store.store import Store
from tests.helpers.databases import ORIGIN
from tests.helpers.sealed import ARGUMENTS, a_decision, sealed


def settings(folder: Path, key: Path | None = None, url: str = "") -> Settings:
    said: dict[str, Any] = {"store": {"url": url or f"sqlite:///{folder}/store.db"}}
    if key is not None:
        said["events"] = {"sealing": {"key": str(key)}}
    return Settings.model_validate(said)


def opened(folder: Path) -> Store:
    return Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN)


async def test_the_first_copy_makes_the_key_beside_a_store_in_a_file(tmp_path: Path) -> None:
    store, own = opened(tmp_path), settings(tmp_path)
    sealer = await sealing.sealer_of(store, own, SystemClock())
    assert not (tmp_path / "store.db.sealing.key").exists()
    await sealed(store, sealer)
    assert (tmp_path / "store.db.sealing.key").exists()
    assert sealing.examined(own, await store.sealed.newest_key()) == ("", "")
    store.close()


async def test_a_key_that_is_gone_is_not_made_anew_and_refuses_what_it_should_seal(
    tmp_path: Path,
) -> None:
    store, own = opened(tmp_path), settings(tmp_path)
    await sealed(store, await sealing.sealer_of(store, own, SystemClock()))
    (tmp_path / "store.db.sealing.key").rename(tmp_path / "lost")
    sealer = await sealing.sealer_of(store, own, SystemClock())
    with pytest.raises(StoreUnavailable, match="put it back"):
        sealer.sealed(a_decision(), ARGUMENTS)
    assert "put it back" in store.sealed.problem()
    problem, mend = sealing.examined(own, await store.sealed.newest_key())
    assert "there is no key" in problem
    assert "put a copy of it back" in mend
    (tmp_path / "lost").rename(tmp_path / "store.db.sealing.key")
    assert sealer.sealed(a_decision(), ARGUMENTS).sealed is not None
    assert store.sealed.problem() == ""
    store.close()


async def test_a_configured_key_is_never_made(tmp_path: Path) -> None:
    store = opened(tmp_path)
    own = settings(tmp_path, tmp_path / "own.key")
    sealer = await sealing.sealer_of(store, own, SystemClock())
    with pytest.raises(StoreUnavailable):
        sealer.sealed(a_decision(), ARGUMENTS)
    store.close()


def test_a_database_on_a_server_needs_a_configured_key(tmp_path: Path) -> None:
    own = settings(tmp_path, url="postgresql://db/weighbridge")
    assert sealing.examined(own, None)[0] == sealing.OFF
    with pytest.raises(ConfigurationError, match="no key for sealed copies"):
        sealing.keys_of(own)


def test_a_key_that_others_read_or_that_opens_nothing_is_told(tmp_path: Path) -> None:
    path, own = tmp_path / "a.key", settings(tmp_path, tmp_path / "a.key")
    wrapped = sealing_keys.make(tmp_path / "b.key").wrap("acme", b"p", b"k" * 32)
    sealing_keys.make(path)
    assert sealing.examined(own, None) == ("", "")
    assert "does not open" in sealing.examined(own, wrapped)[0]
    path.chmod(0o644)
    assert "others can read" in sealing.examined(own, None)[0]
