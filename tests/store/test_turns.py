from unittest.mock import patch

from gateway.store.turns import give_way
from tests.helpers.databases import Store
from tests.helpers.events import an_event


def test_others_get_their_turn() -> None:
    with patch("os.sched_yield") as asked:
        give_way()
    assert asked.call_count == 1


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
