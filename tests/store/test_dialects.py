import sys
from pathlib import Path

import pytest

import gateway.store
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError
from gateway.store.dialects import dialect_of


def test_other_urls_are_refused_with_the_mend() -> None:
    with pytest.raises(ConfigurationError, match=r"write `sqlite:///weighbridge\.db`"):
        dialect_of("mysql://h/db", SystemClock())


def test_a_missing_file_is_only_made_when_it_is_wanted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/no/w.db"
    with pytest.raises(ConfigurationError, match="start the gateway once"):
        dialect_of(url, SystemClock(), create=False)
    assert not (tmp_path / "no").exists()
    assert dialect_of(url, SystemClock()).path == tmp_path / "no" / "w.db"


def test_postgresql_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "gateway.store.postgres", raising=False)
    monkeypatch.delattr(gateway.store, "postgres", raising=False)
    with pytest.raises(ConfigurationError, match=r"pip install 'weighbridge\[postgres\]'"):
        dialect_of("postgresql://h/db", SystemClock())


def test_an_unreadable_postgresql_url_is_refused_without_showing_it() -> None:
    dialect = dialect_of("postgresql://u:s3cr@h:port/db?x=[", SystemClock())
    with pytest.raises(ConfigurationError) as caught:
        dialect.connect(1)
    assert "s3cr" not in str(caught.value)
