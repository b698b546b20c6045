from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from gateway.clock import SystemClock
from gateway.store.dialects import dialect_of
from gateway.store.sqlite import make_file
from gateway.store.turns import give_way
from gateway.types.event_rows import COLUMNS
from tests.helpers.databases import Store
from tests.helpers.events import an_event


def test_others_get_their_turn() -> None:
    with patch("os.sched_yield") as asked:
        give_way()
    assert asked.call_count == 1


def test_who_writes_many_events_gives_way_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    make_file(path)
    between = [""] * (len(COLUMNS) - 4)
    rows = [(n, n, str(n), *between, "{}") for n in range(1, 500)]
    with (
        closing(dialect_of(f"sqlite:///{path}", SystemClock()).connect(5)) as engine,
        engine.transaction() as transaction,
        patch("os.sched_yield") as asked,
    ):
        transaction.insert("append_event", COLUMNS, rows)
    assert asked.call_count >= 499 // 64


async def test_who_makes_a_checkpoint_of_many_events_gives_way_again_and_again(
    store: Store,
) -> None:
    store.events.append([an_event() for _ in range(500)])
    await store.events.kept()
    with patch("os.sched_yield") as asked:
        made = await store.checkpoints.make(lambda size, root: f"{size} {root.hex()}")
    assert made is not None
    assert made.size == 500
    assert asked.call_count >= 500 // 64
