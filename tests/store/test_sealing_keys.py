import stat
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.store import sealing_keys
from gateway.store.sealing_keys import OtherKey, SealBroken, SealingKeys

ONE, OTHER = b"1" * 32, b"2" * 32
KEY = b"k" * 32


def test_a_data_key_opens_in_its_own_place_for_its_own_tenant_alone() -> None:
    keys = SealingKeys(ONE)
    wrapped = keys.wrap("acme", b"place", KEY)
    assert keys.unwrap("acme", b"place", wrapped) == KEY
    for tenant, place in (("initech", b"place"), ("acme", b"another")):
        with pytest.raises(SealBroken):
            keys.unwrap(tenant, place, wrapped)
    assert KEY.decode() not in wrapped


@pytest.mark.parametrize(("kept", "added"), [(-4, ""), (-8, "AAAAAAA="), (-1, "?")])
def test_what_was_changed_does_not_open(kept: int, added: str) -> None:
    keys = SealingKeys(ONE)
    wrapped = keys.wrap("acme", b"place", KEY)
    with pytest.raises(SealBroken):
        keys.unwrap("acme", b"place", wrapped[:kept] + added)


def test_a_new_secret_seals_and_the_old_one_opens_what_it_has_sealed() -> None:
    before = SealingKeys(ONE).wrap("acme", b"place", KEY)
    both = SealingKeys(OTHER, ONE)
    assert both.unwrap("acme", b"place", before) == KEY
    assert both.knows(before)
    assert not SealingKeys(OTHER).knows(before)
    assert not both.knows("nonsense")
    after = both.wrap("acme", b"place", KEY)
    with pytest.raises(OtherKey, match="under another key"):
        SealingKeys(ONE).unwrap("acme", b"place", after)
    assert both.fingerprint == SealingKeys(OTHER).fingerprint


def test_a_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sealing.key"
    made = sealing_keys.make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sealing_keys.make(path).fingerprint == made.fingerprint
    assert sealing_keys.read(path).fingerprint == made.fingerprint
    assert [each.name for each in path.parent.iterdir()] == ["sealing.key"]


def test_a_file_may_hold_several_secrets(tmp_path: Path) -> None:
    first, second = tmp_path / "a.key", tmp_path / "b.key"
    old, new = sealing_keys.make(first), sealing_keys.make(second)
    second.write_text(second.read_text() + first.read_text())
    both = sealing_keys.read(second)
    assert both.fingerprint == new.fingerprint
    assert both.unwrap("acme", b"p", old.wrap("acme", b"p", KEY)) == KEY


@pytest.mark.parametrize("text", ["", "nonsense\n", "weighbridge-sealing-key+QUJD\n", "\xff"])
def test_what_is_no_key_is_said_without_what_it_holds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sealing.key"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigurationError) as error:
        sealing_keys.read(path)
    assert "sealing.key" in str(error.value)
    assert "QUJD" not in str(error.value)


def test_a_key_that_is_gone_is_said_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="put it back"):
        sealing_keys.read(tmp_path / "gone.key")
    with pytest.raises(ConfigurationError, match="can't be written"):
        sealing_keys.make(Path("/proc/none/sealing.key"))


def test_a_store_in_a_file_has_its_key_beside_it() -> None:
    beside = sealing_keys.beside("sqlite:////srv/weighbridge.db")
    assert beside == Path("/srv/weighbridge.db.sealing.key")
    assert sealing_keys.beside("postgresql://db/weighbridge") is None
