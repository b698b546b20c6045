"""Many rows in few steps, and texts as they lie there."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from gateway.clock import SystemClock
from gateway.store.dialects import dialect_of
from gateway.store.engine import Engine
from gateway.store.sqlite import make_file
from gateway.types.event_rows import COLUMNS

MOST = 64  # rows of one statement


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    path = tmp_path / "w.db"
    make_file(path)
    with closing(dialect_of(f"sqlite:///{path}", SystemClock()).connect(5)) as engine:
        yield engine


def rows_of(numbers: range) -> list[tuple[int | str, ...]]:
    between = [""] * (len(COLUMNS) - 4)
    return [(n, n, str(n), *between, "{}") for n in numbers]


def test_who_writes_many_events_gives_way_again_and_again(engine: Engine) -> None:
    with engine.transaction() as transaction, patch("os.sched_yield") as asked:
        transaction.insert("append_event", COLUMNS, rows_of(range(1, 500)))
    assert asked.call_count >= 499 // MOST


@pytest.mark.parametrize("many", [1, 2, 3, MOST - 1, MOST, MOST + 1, 3 * MOST + 5])
def test_all_rows_are_there_in_their_order(engine: Engine, many: int) -> None:
    with engine.transaction() as transaction:
        transaction.insert("append_event", COLUMNS, rows_of(range(1, many + 1)))
        found = transaction.fetch_texts("page_after", {"after": 0, "last": many + 1})
    assert found == [(n, b"{}") for n in range(1, many + 1)]


def test_rows_of_other_columns_are_no_rows_of_it(engine: Engine) -> None:
    with engine.transaction() as transaction, pytest.raises(LookupError, match="append_event"):
        transaction.insert("append_event", COLUMNS[::-1], rows_of(range(1, 2)))
