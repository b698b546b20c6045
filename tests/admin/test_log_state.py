"""How the log stands, for the bar above the events."""

from contextlib import closing
from pathlib import Path

from gateway.admin.log_state import state
from gateway.clock import SystemClock
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.json import JsonObject
from tests.helpers.databases import ORIGIN
from tests.helpers.tampering import checkpoint, tamper, write


def now() -> int:
    return microseconds(SystemClock().now())


def opened(folder: Path) -> "closing[Store]":
    return closing(Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN))


def told(size: int, problem: str = "") -> JsonObject:
    place: JsonObject = {"name": "file /mnt/a.jsonl", "size": size, "problem": problem}
    return {"checkpoints": {"to": [place], "problem": problem}}


async def test_a_new_log_has_no_checkpoint(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        found = await state(store, now())
        assert (found.events, found.size, found.at, found.places) == (0, 0, None, [])


async def test_it_says_what_the_last_checkpoint_covers_and_who_has_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await write(store, 5)
        made = await checkpoint(store)
        await write(store, 2)
        await store.instances.save("gw_1", told(3))
        await store.instances.save("gw_2", told(5))
        found = await state(store, now())
        assert (found.events, found.size, found.since) == (7, 5, 2)
        assert made.root.hex().startswith(found.root)
        assert (len(found.places), found.outside, found.problem) == (1, 5, "")
        later = await state(store, now() + 3_600_000_000)
        assert later.places == []  # no gateway says anything any more


async def test_a_gateway_that_can_not_make_one_says_why(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await store.instances.save("gw_1", told(0, "the disk is full\u202e"))
        found = await state(store, now())
        assert found.problem.startswith("the disk is full")
        assert "\u202e" not in found.problem
        assert not found.is_changed


async def test_a_checkpoint_that_was_changed_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await write(store, 5)
        await checkpoint(store)
        tamper(f"sqlite:///{tmp_path}/store.db", "UPDATE checkpoints SET size = 4")
        found = await state(store, now())
        assert (found.is_changed, found.events) == (True, 5)
