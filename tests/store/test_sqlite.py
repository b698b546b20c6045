import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import pytest

from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.store.dialects import dialect_of
from gateway.store.engine import Engine
from gateway.store.sqlite import make_file
from tests.helpers.databases import ORIGIN, Store
from tests.helpers.events import an_event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "w.db"


@pytest.fixture
def engine(path: Path) -> Generator[Engine]:
    engine = dialect_of(f"sqlite:///{path}", SystemClock()).connect(0.2)
    keep(engine, "first")
    yield engine
    engine.close()


def keep(engine: Engine, name: str) -> None:
    with engine.transaction() as transaction:
        transaction.execute("keep_fact", {"name": name, "value": "1"})


def kept(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name FROM meta ORDER BY name").fetchall()
    connection.close()
    return [name for (name,) in rows]


@contextmanager
def full_disk() -> Generator[None]:
    """Let no file of this process grow beyond what any of ours has."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_files_and_folder_are_private(engine: Engine, path: Path) -> None:
    """case: OBS-01"""
    del engine
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.name for file in path.parent.iterdir()} == {"w.db", "w.db-wal", "w.db-shm"}
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    path.touch(mode=0o644)
    engine = dialect_of(f"sqlite:///{path}", SystemClock()).connect(0.2)
    keep(engine, "a")
    engine.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o755


def test_a_full_disk_is_named_and_over_when_there_is_room(engine: Engine, path: Path) -> None:
    """case: OBS-03"""
    with full_disk(), pytest.raises(StoreUnavailable, match=r"full|disk I/O"):
        keep(engine, "second")
    keep(engine, "third")
    assert kept(path) == ["first", "third"]


def test_a_removed_folder_is_noticed_though_commits_would_go_on(engine: Engine, path: Path) -> None:
    """case: OBS-03"""
    shutil.rmtree(path.parent)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="the file is gone; put it back"):
            keep(engine, "second")
    path.parent.mkdir()
    with pytest.raises(StoreUnavailable, match="gone"):
        keep(engine, "third")
    assert list(path.parent.iterdir()) == []


def test_a_file_that_was_moved_away_is_not_made_anew_and_goes_on_when_it_is_back(
    engine: Engine, path: Path
) -> None:
    """case: OBS-03"""
    away = path.with_name("away")
    path.rename(away)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="gone"):
            keep(engine, "second")
    with pytest.raises(StoreUnavailable, match="gone"), engine.reading():
        pass
    assert not path.exists()
    away.rename(path)
    keep(engine, "third")
    assert {"first", "third"} <= set(kept(path))


def test_a_file_that_was_replaced_is_noticed(engine: Engine, path: Path) -> None:
    path.rename(path.with_name("old"))
    path.touch(mode=0o600)
    with pytest.raises(StoreUnavailable, match="gone"):
        keep(engine, "second")
    keep(engine, "third")
    assert "third" in kept(path)


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else entirely" * 100)
    path.chmod(0o644)
    with pytest.raises(StoreUnavailable, match="not a database"):
        Store.open(f"sqlite:///{path}", origin=ORIGIN)
    assert path.read_bytes().startswith(b"something else")
    assert path.stat().st_mode & 0o777 == 0o644
    assert [file.name for file in path.parent.iterdir()] == ["w.db"]


def test_a_database_that_others_could_read_is_closed_to_them_with_its_log(
    engine: Engine, path: Path
) -> None:
    for file in path.parent.iterdir():
        file.chmod(0o644)
    again = dialect_of(f"sqlite:///{path}", SystemClock()).connect(0.2)
    keep(again, "second")
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    again.close()
    keep(engine, "third")


def test_a_read_only_folder_is_named_and_needs_no_restart_of_anything_but_the_mount(
    tmp_path: Path,
) -> None:
    """case: OBS-03"""
    folder = tmp_path / "ro"
    folder.mkdir()
    bound = ["mount", "--bind", str(folder), str(folder)]
    if subprocess.run(bound, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        with pytest.raises((StoreUnavailable, ConfigurationError), match="read-only"):
            Store.open(f"sqlite:///{folder}/w.db", origin=ORIGIN)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    Store.open(f"sqlite:///{folder}/w.db", origin=ORIGIN).close()


def test_a_folder_that_can_not_be_made_is_the_configurations_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="choose another folder"):
        make_file(tmp_path / "file" / "x" / "w.db")


async def test_events_of_a_full_disk_wait_and_are_written_in_order(path: Path) -> None:
    """case: OBS-03"""
    store = Store.open(f"sqlite:///{path}", origin=ORIGIN)
    try:
        store.events.append([an_event(id="e1")], durable=True)
        await store.events.kept()
        with full_disk():
            store.events.append([an_event(id="e2"), an_event(id="e3")], durable=True)
            while store.events.health.ok:
                await store.events.last_seq()
        await store.events.kept()
        ids = [event.json()["id"] async for event in store.events.tail()]
        assert ids == ["e1", "e2", "e3"]
        assert store.events.health.ok
    finally:
        store.close()


def test_a_text_that_is_no_text_is_told_without_showing_it(engine: Engine, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = CAST(x'736563726574ff' AS TEXT)")
    with pytest.raises(StoreUnavailable, match="is not UTF-8") as told, engine.reading() as reading:
        reading.fetch("get_fact", {"name": "first"})
    assert "secret" not in str(told.value)


def test_processes_that_begin_with_one_empty_file_wait_for_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        for number in range(40):
            url, begin = f"sqlite:///{tmp_path}/{number}/w.db", Barrier(6)

            def start(url: str = url, begin: Barrier = begin) -> None:
                engine = dialect_of(url, SystemClock()).connect(5.0)
                try:
                    begin.wait(30)
                    assert engine.has_table("events")
                finally:
                    engine.close()

            for started in [threads.submit(start) for _ in range(6)]:
                started.result()
