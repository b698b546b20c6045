import hashlib
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.store import keys
from gateway.store.engine import Engine
from gateway.store.keys import Keyed, TenantKeys

Connect = Callable[..., Engine]


def test_every_tenant_and_purpose_has_a_key_of_its_own() -> None:
    tenant_keys = TenantKeys(b"s" * 32)
    found = {
        tenant_keys.redaction("acme"),
        tenant_keys.redaction("globex"),
        tenant_keys.seen("acme"),
        TenantKeys(b"t" * 32).redaction("acme"),
    }
    assert {len(key) for key in found} == {32}
    assert len(found) == 4


def test_a_digest_that_was_begun_is_the_hmac_of_the_standard_library() -> None:
    key = b"k" * 32
    assert Keyed(key).digest(b"data") == hmac.digest(key, b"data", hashlib.sha256)
    tenant_keys = TenantKeys(b"s" * 32)
    again = tenant_keys.keyed("acme").digest(b"x")
    assert again == hmac.digest(tenant_keys.redaction("acme"), b"x", hashlib.sha256)


def test_marks_are_keyed_and_short_and_take_any_text() -> None:
    texts = ["s:1", "n:1", "s:\udc00", ""]
    made = keys.marks(b"k" * 32, texts)
    assert {len(bytes.fromhex(each)) for each in made} == {16}
    assert len({*made, *keys.marks(b"l" * 32, texts)}) == 2 * len(texts)
    assert keys.marks(b"k" * 32, texts[:1]) == made[:1]


def test_the_secret_is_made_once_and_privately(connect: Connect, tmp_path: Path) -> None:
    """case: OBS-01"""
    path = tmp_path / "w.db"
    first = keys.load(connect(), path)
    assert keys.load(connect(), path).seen("a") == first.seen("a")
    file = tmp_path / "w.db.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in tmp_path.glob("w.db*")] == ["w.db.key"]


def test_gateways_that_start_together_share_one_secret(connect: Connect, tmp_path: Path) -> None:
    def fingerprint(engine: Engine) -> str:
        return keys.load(engine, tmp_path / "w.db").fingerprint()

    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(fingerprint, [connect(busy_s=5) for _ in range(4)]))
    assert len(found) == 1


def test_another_secret_than_the_stores_own_is_refused(connect: Connect, tmp_path: Path) -> None:
    keys.load(connect(), tmp_path / "w.db")
    (tmp_path / "w.db.key").unlink()
    with pytest.raises(ConfigurationError, match=r"w\.db\.key` is not the one"):
        keys.load(connect(), tmp_path / "w.db")
    with pytest.raises(ConfigurationError, match="put the right one back"):
        keys.load(connect(), None, "configured")


def test_a_damaged_key_file_is_refused(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "w.db.key").write_bytes(b"short")
    with pytest.raises(ConfigurationError, match="damaged"):
        keys.load(connect(), tmp_path / "w.db")


def test_without_a_file_or_a_configured_secret_the_database_keeps_one(connect: Connect) -> None:
    first = keys.load(connect(), None)
    assert keys.load(connect(), None).fingerprint() == first.fingerprint()


def test_a_configured_secret_is_the_same_everywhere(connect: Connect) -> None:
    configured = keys.load(connect(), None, "from the config")
    assert configured.seen("a") == keys.load(connect(), None, "from the config").seen("a")
