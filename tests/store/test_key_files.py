import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.events.notes import Signer
from gateway.store import key_files

NAME = "log.example/a"


def test_a_key_is_made_for_its_owner_only_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "log.key"
    made = key_files.make(path, NAME)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (key_files.read(path), key_files.make(path, "other")) == (made, made)
    assert not key_files.is_open(path)


def test_gateways_that_start_together_make_one_key(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(key_files.make, [path] * 8, [NAME] * 8))
    assert len({each.seed for each in made}) == 1


def test_a_new_key_takes_the_place_and_the_old_public_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    old, new = key_files.make(path, NAME), key_files.new(NAME)
    key_files.replace(path, new)
    assert key_files.read(path) == new
    assert key_files.public(path) == (new.key, old.key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert old.secret() not in (tmp_path / "log.key.pub").read_text()


def test_who_verifies_needs_only_the_public_keys(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    made = key_files.make(path, NAME)
    path.unlink()
    assert key_files.public(path) == (made.key,)
    assert key_files.public(tmp_path / "none") == ()


def test_a_key_that_was_lost_is_followed_by_one_beside_its_public_half(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    old = key_files.make(path, NAME)
    path.unlink()
    new = key_files.make(path, NAME)
    assert key_files.public(path) == (new.key, old.key)


def test_a_key_that_can_not_be_used_is_told_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    with pytest.raises(ConfigurationError, match="events keys new"):
        key_files.read(path)
    secret = Signer(name=NAME, seed=b"1" * 32).secret()
    path.write_text(secret[:-4])
    with pytest.raises(ConfigurationError, match="put the key back") as caught:
        key_files.read(path)
    assert secret[60:-4] not in str(caught.value)
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="it is no text"):
        key_files.read(path)
    with pytest.raises(ConfigurationError, match="can't be written"):
        key_files.make(path / "below", NAME)
    with pytest.raises(ConfigurationError, match="not a directory"):
        key_files.replace(path / "below", key_files.new(NAME))


def test_public_keys_are_read_from_a_file_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "keys.pub"
    first, second = key_files.new(NAME).key, key_files.new("other").key
    file.write_text(f"{first}\n\n{second}\n")
    assert key_files.keys_in(file) == [first, second]
    file.write_text("nonsense\n")
    with pytest.raises(ConfigurationError, match="a public key reads"):
        key_files.keys_in(file)
    with pytest.raises(ConfigurationError, match="is a directory"):
        key_files.keys_in(tmp_path)


def test_a_file_that_others_can_read_is_open(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    key_files.make(path, NAME)
    path.chmod(0o640)
    assert key_files.is_open(path)
    assert not key_files.is_open(tmp_path / "none")


def test_a_store_in_a_file_has_its_key_beside_it() -> None:
    assert key_files.beside("sqlite:////data/w.db") == Path("/data/w.db.checkpoints.key")
    assert key_files.beside("postgresql://host/w") is None


def test_a_key_that_was_not_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    old = key_files.make(path, "log.example/a")
    names = sorted(each.name for each in tmp_path.iterdir())
    with key_files.replacing(path, key_files.new("log.example/a")):
        assert len([*tmp_path.iterdir()]) == len(names) + 2
    assert sorted(each.name for each in tmp_path.iterdir()) == names
    assert key_files.read(path).key == old.key


def test_a_key_that_can_not_be_put_in_place_is_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    key_files.make(path, "log.example/a")
    new = key_files.new("log.example/a")
    with key_files.replacing(path, new) as put:
        path.unlink()
        path.mkdir()
        with pytest.raises(ConfigurationError, match="it is in") as caught:
            put()
    kept = Path(str(caught.value).split("`")[3])
    assert key_files.read(kept).key == new.key
