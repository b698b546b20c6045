"""Reads in a transaction see one state; others see the newest, statement by statement."""

import shutil
import sqlite3
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.store.dialects import dialect_of
from gateway.store.engine import Engine, Transaction
from gateway.store.sqlite import make_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "w.db"
    make_file(path)
    return path


@pytest.fixture
def engine(path: Path) -> Generator[Engine]:
    with closing(dialect_of(f"sqlite:///{path}", SystemClock()).connect(0.2)) as engine:
        yield engine


@pytest.fixture
def other(path: Path) -> Generator[Engine]:
    with closing(dialect_of(f"sqlite:///{path}", SystemClock()).connect(0.2)) as engine:
        yield engine


def reading(engine: Engine, is_whole: bool) -> AbstractContextManager[Transaction]:
    return engine.reading() if is_whole else engine.looking()


def keep(engine: Engine, name: str) -> None:
    with engine.transaction() as transaction:
        transaction.execute("keep_fact", {"name": name, "value": "1"})


def kept(transaction: Transaction, name: str) -> bool:
    return bool(transaction.fetch("get_fact", {"name": name}))


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_transaction_sees_one_state_and_a_look_the_newest(
    engine: Engine, other: Engine, is_whole: bool
) -> None:
    with reading(engine, is_whole) as transaction:
        assert not kept(transaction, "a")
        keep(other, "a")
        assert kept(transaction, "a") is not is_whole
    with reading(engine, is_whole) as transaction:
        assert kept(transaction, "a")


@pytest.mark.parametrize("is_whole", [True, False])
def test_faults_are_told_in_words_and_the_next_read_is_as_ever(
    engine: Engine, is_whole: bool
) -> None:
    keep(engine, "a")
    with (
        pytest.raises(StoreUnavailable, match="no such table"),
        reading(engine, is_whole) as transaction,
    ):
        transaction.script("SELECT * FROM nowhere;")
    with pytest.raises(ZeroDivisionError), reading(engine, is_whole) as transaction:
        kept(transaction, str(1 // 0))
    with reading(engine, is_whole) as transaction:
        assert kept(transaction, "a")
    keep(engine, "b")  # nothing is left open


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_file_that_is_gone_is_noticed_a_moment_later(
    engine: Engine, path: Path, is_whole: bool
) -> None:
    with reading(engine, is_whole) as transaction:
        assert not kept(transaction, "a")
    shutil.rmtree(path.parent)
    time.sleep(0 if is_whole else 0.02)
    for _ in range(2):
        with (
            pytest.raises(StoreUnavailable, match="the file is gone; put it back"),
            reading(engine, is_whole) as transaction,
        ):
            kept(transaction, "a")


def test_nothing_can_be_written_by_a_read(engine: Engine, path: Path) -> None:
    with engine.reading() as transaction:
        assert not kept(transaction, "a")
    with sqlite3.connect(path, timeout=0.1) as connection:  # no lock is left behind
        connection.execute("BEGIN IMMEDIATE")
    connection.close()
