"""One event out of the log, and its proof."""

from contextlib import closing
from pathlib import Path

from gateway.admin import log_reader
from gateway.store.store import Store
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event
from tests.helpers.tampering import checkpoint, tamper, write


def opened(folder: Path) -> "closing[Store]":
    """Open a store of its own."""
    return closing(Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN))


async def test_an_event_is_found_by_its_id_and_by_its_number(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        events = [an_event(), an_event()]
        store.events.append(events)
        await store.events.kept()
        for name in (events[1].id, "2"):
            found = await log_reader.event(store, name)
            assert found is not None
            assert (found.seq, found.json()["id"]) == (2, events[1].id)
        for name in ("", "0", "3", "x", "²", "9" * 40):
            assert await log_reader.event(store, name) is None


async def test_what_the_last_checkpoint_covers_is_proven_and_what_came_later_is_not(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        await write(store, 5)
        first = await log_reader.event(store, "1")
        assert first is not None
        assert await log_reader.inclusion(store, first) == log_reader.Inclusion()
        made = await checkpoint(store)
        proof = await log_reader.inclusion(store, first)
        assert (proof.is_proven, proof.size, proof.root, proof.hashes) == (
            True,
            5,
            made.root.hex(),
            3,
        )
        await write(store, 1)
        later = await log_reader.event(store, "6")
        assert later is not None
        found = await log_reader.inclusion(store, later)
        assert (found.is_proven, found.size) == (False, 5)


async def test_an_event_that_was_changed_is_not_what_was_signed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await write(store, 5)
        await checkpoint(store)
        url = f"sqlite:///{tmp_path}/store.db"
        tamper(url, "UPDATE events SET body = replace(body, 'acme', 'acne') WHERE seq = 2")
        event = await log_reader.event(store, "2")
        assert event is not None
        proof = await log_reader.inclusion(store, event)
        assert not proof.is_proven
        assert "event 2 is not what the checkpoint of 5 was made of" in proof.fault
