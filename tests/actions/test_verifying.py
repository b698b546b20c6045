"""Logs that were tampered with, on both engines: ADR 0015."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from gateway.actions import verifying
from gateway.actions.verifying import Depth, verify
from gateway.events.faults import FaultKind
from gateway.events.notes import Key
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report
from gateway.store.engine import Transaction
from gateway.store.store import Store
from gateway.store.worker import Worker
from gateway.types.events import EventKind, Stage
from tests.helpers.databases import OpenStore
from tests.helpers.tampering import (
    FORGER,
    SIGNER,
    by,
    checkpoint,
    outside,
    rebuild,
    tamper,
    write,
)

T = TypeVar("T")
SIZES = (300, 420, 700, 760)


async def looked_at(
    store: Store, marks: Sequence[Mark] = (), keys: Sequence[Key] = (SIGNER.key,)
) -> Report:
    return await verify(store.checkpoints, Trust(keys), marks)


async def a_log(store: Store, sizes: Sequence[int] = SIZES) -> list[Mark]:
    """Write a log with checkpoints at some sizes and ten events that none covers yet."""
    marks: list[Mark] = []
    for size in sizes:
        await write(store, size - (marks[-1].size if marks else 0))
        marks.append(outside(await checkpoint(store)))
    await write(store, 10)
    return marks


def faults(report: Report) -> list[tuple[FaultKind, int, int]]:
    return [(fault.kind, fault.first, fault.last) for fault in report.faults]


async def test_an_untouched_log_is_whole_and_says_what_covers_which_events(store: Store) -> None:
    report = await looked_at(store, (await a_log(store))[:3])
    assert (report.faults, report.first, report.last, report.checked) == ((), 1, 770, 7)
    assert report.outside is not None
    assert (report.outside.size, report.outside.place) == (700, "copy.jsonl")
    assert report.stored is not None
    assert (report.stored.size, report.stored.keys) == (760, (str(SIGNER.key),))


async def test_whoever_waits_hears_how_far_it_is(store: Store) -> None:
    await write(store, 1_100)
    heard: list[tuple[int, int]] = []

    def told(done: int, last: int) -> None:
        heard.append((done, last))

    await verify(store.checkpoints, Trust([]), [], told=told)
    assert heard == [(1_024, 1_100), (1_100, 1_100)]


@pytest.mark.parametrize(("room", "ahead"), [(64 << 20, 7), (1 << 10, 2)])
async def test_large_pages_are_not_read_far_ahead(
    store: Store, monkeypatch: pytest.MonkeyPatch, room: int, ahead: int
) -> None:
    await write(store, 9_000)
    monkeypatch.setattr(verifying, "_BYTES", room)
    monkeypatch.setattr(verifying, "cores", lambda: 3)
    heard: list[int] = []
    begun: list[int] = []
    begin = Worker.begin

    def counted(worker: Worker, work: Callable[[Transaction], T]) -> Future[T]:
        if "after" in getattr(work, "keywords", {}):
            begun.append(len(begun) + 1 - len(heard))
        return begin(worker, work)

    def told(done: int, last: int) -> None:
        del last
        heard.append(done)

    monkeypatch.setattr(Worker, "begin", counted)
    assert (await verify(store.checkpoints, Trust([]), [], told=told)).is_whole
    assert (len(begun), max(begun)) == (9, ahead)


async def test_without_its_tiles_a_long_log_is_told_page_by_page(
    store: Store, store_url: str
) -> None:
    """Pages are read ahead; those that nobody waits for any more are left."""
    await write(store, 9_000)
    marks = [outside(await checkpoint(store))]
    tamper(store_url, "UPDATE tiles SET hashes = 'x' WHERE number = 3")
    assert faults(await looked_at(store, marks))[0] == (FaultKind.TILE, 0, 0)
    tamper(store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 8999")
    tamper(store_url, "DELETE FROM tiles")
    assert FaultKind.REWRITTEN in [fault.kind for fault in (await looked_at(store, marks)).faults]


async def test_an_event_that_was_changed_before_its_checkpoint_is_found(
    store: Store, store_url: str
) -> None:
    store.checkpoints.expect()
    await write(store, 300)
    async with asyncio.timeout(10):
        while store.checkpoints.fresh.last != 300:
            await asyncio.sleep(0.001)
    tamper(store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 17")
    assert await store.checkpoints.make(by(SIGNER)) is not None
    assert (FaultKind.CHANGED, 17, 17) in faults(await looked_at(store))


async def test_a_log_without_checkpoints_is_read_all_the_same(store: Store) -> None:
    await write(store, 3)
    report = await looked_at(store)
    assert (report.is_whole, report.last, report.stored, report.outside) == (True, 3, None, None)


async def test_an_empty_log_is_whole(store: Store) -> None:
    report = await looked_at(store)
    assert (report.is_whole, report.last, report.checked) == (True, 0, 0)


async def test_a_changed_event_is_named_by_its_kept_hash(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    tamper(store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 17")
    report = await looked_at(store, marks)
    assert faults(report) == [
        (FaultKind.CHANGED, 17, 17),
        (FaultKind.COLUMNS, 17, 17),
    ]
    assert report.outside is not None
    assert report.outside.size == 760


async def test_without_tiles_a_change_is_placed_between_two_checkpoints(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)
    tamper(
        store_url,
        "DELETE FROM tiles",
        "UPDATE events SET body = replace(body, '\"ok\"', '\"no\"'), status = 'no' WHERE seq = 555",
    )
    report = await looked_at(store, marks)
    assert faults(report)[:2] == [(FaultKind.TILE, 1, 512), (FaultKind.REWRITTEN, 421, 700)]
    assert report.outside is not None
    assert report.outside.size == 420


async def test_deleted_events_are_named(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    tamper(store_url, "DELETE FROM events WHERE seq IN (100, 101, 400)")
    report = await looked_at(store, marks)
    assert faults(report) == [(FaultKind.MISSING, 100, 101), (FaultKind.MISSING, 400, 400)]
    assert report.outside is not None
    assert report.outside.size == 760


async def test_events_that_are_missing_in_no_full_tile_are_named_as_well(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store, (100,))
    tamper(store_url, "DELETE FROM events WHERE seq IN (50, 60)")
    report = await looked_at(store, marks)
    assert faults(report) == [(FaultKind.MISSING, 50, 50), (FaultKind.MISSING, 60, 60)]


SWAP = (
    "UPDATE events SET seq = -1 WHERE seq = 20",
    "UPDATE events SET seq = 20 WHERE seq = 30",
    "UPDATE events SET seq = 30 WHERE seq = -1",
)


async def test_reordered_events_are_named(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    tamper(store_url, *SWAP)
    report = await looked_at(store, marks)
    assert faults(report) == [(FaultKind.CHANGED, 20, 20), (FaultKind.CHANGED, 30, 30)]


async def test_a_truncated_log_is_cut_off(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    tamper(store_url, "DELETE FROM events WHERE seq > 750")
    assert faults(await looked_at(store, marks)) == [(FaultKind.CUT_OFF, 751, 760)]
    assert faults(await looked_at(store)) == [(FaultKind.CUT_OFF, 751, 760)]


INSERT = (
    "UPDATE events SET seq = -seq WHERE seq > 600",
    "UPDATE events SET seq = 1 - seq WHERE seq < 0",
    "INSERT INTO events SELECT 601, 'id-of-its-own', at, kind, stage, tenant, run_id, call_id, "
    "tool, actor_user, decision, rule, status, trace_id, body FROM events WHERE seq = 600",
)


async def test_an_event_put_between_others_shows_from_there_on(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store, (300, 800))
    tamper(store_url, *INSERT)
    report = await looked_at(store, marks)
    assert (FaultKind.COLUMNS, 601, 601) in faults(report)
    assert (FaultKind.CHANGED, 601, 768) in faults(report)


async def test_a_log_that_is_signed_with_a_forged_key_is_not_believed(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)
    tamper(store_url, "UPDATE events SET body = replace(body, '\"ok\"', '\"no\"') WHERE seq = 17")
    await rebuild(store, store_url, FORGER)
    report = await looked_at(store, marks)
    assert (FaultKind.REWRITTEN, 1, 300) in faults(report)
    signed = [fault for fault in report.faults if fault.kind is FaultKind.SIGNATURE]
    assert len(signed) == len(SIZES)
    assert "nobody who is trusted has signed it" in signed[0].what


async def test_a_log_that_was_rolled_back_is_cut_off(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    tamper(
        store_url,
        "DELETE FROM events WHERE seq > 430",
        "DELETE FROM checkpoints WHERE size > 430",
        "DELETE FROM tiles WHERE (number + 1) * 256 > 430",
    )
    assert (await looked_at(store)).is_whole
    assert faults(await looked_at(store, marks)) == [(FaultKind.CUT_OFF, 431, 760)]


async def test_a_log_that_was_rolled_back_and_goes_on_is_another_one(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)
    tamper(
        store_url,
        "DELETE FROM events WHERE seq > 430",
        "DELETE FROM checkpoints WHERE size > 430",
        "DELETE FROM tiles WHERE (number + 1) * 256 > 430",
    )
    await write(store, 500)
    await checkpoint(store)
    assert (await looked_at(store)).is_whole
    (fault,) = (await looked_at(store, marks)).faults
    assert (fault.kind, fault.first, fault.last) == (FaultKind.REWRITTEN, 421, 700)
    assert "signed anew, or shown in two forms" in fault.what


async def test_of_a_log_in_two_forms_the_outside_copy_tells_one(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)
    tamper(
        store_url,
        "UPDATE events SET body = replace(body, '\"ok\"', '\"no\"'), status = 'no' WHERE seq = 350",
    )
    await rebuild(store, store_url, SIGNER)
    assert (await looked_at(store)).is_whole
    (fault,) = (await looked_at(store, marks)).faults
    assert (fault.kind, fault.first, fault.last) == (FaultKind.REWRITTEN, 301, 420)
    assert "shown in two forms" in fault.what


async def test_a_column_that_says_something_else_is_named(store: Store, store_url: str) -> None:
    marks = await a_log(store, (20,))
    tamper(
        store_url,
        "UPDATE events SET tenant = 'initech', at = at + 1 WHERE seq = 5",
        "UPDATE events SET actor_user = 'kim' WHERE seq = 6",
    )
    first, second = (await looked_at(store, marks)).faults
    assert (first.kind, first.first) == (FaultKind.COLUMNS, 5)
    assert first.what.endswith("`tenant`, `at`")
    assert (second.first, second.what[-12:]) == (6, "`actor_user`")


async def test_where_only_bytes_count_they_are_held_against_all_there_is(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)

    async def of_bytes() -> Report:
        trust = Trust([SIGNER.key])
        return await verify(store.checkpoints, trust, marks, depth=Depth.BYTES)

    tamper(store_url, "UPDATE events SET tenant = 'initech' WHERE seq = 5")
    report = await of_bytes()
    assert (report.faults, report.last, report.checked) == ((), 770, 8)
    tamper(store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 17")
    assert faults(await of_bytes()) == [(FaultKind.CHANGED, 17, 17)]
    tamper(store_url, "DELETE FROM events WHERE seq = 19", "DELETE FROM tiles WHERE level = 1")
    assert (FaultKind.MISSING, 19, 19) in faults(await of_bytes())


async def test_what_is_no_json_is_named(store: Store, store_url: str) -> None:
    await write(store, 3)
    tamper(store_url, "UPDATE events SET body = '[]' WHERE seq = 2")
    tamper(store_url, "UPDATE events SET body = '{' WHERE seq = 3")
    assert faults(await looked_at(store)) == [(FaultKind.MALFORMED, 2, 3)]


async def test_a_wrong_tile_is_told_from_a_wrong_event(store: Store, store_url: str) -> None:
    marks = await a_log(store)
    ((first,), (second,)) = tamper(
        store_url, "SELECT hashes FROM tiles WHERE level = 0 ORDER BY number"
    )
    tamper(store_url, f"UPDATE tiles SET hashes = '{second}' WHERE number = 0")
    assert faults(await looked_at(store, marks)) == [(FaultKind.TILE, 1, 256)]
    tamper(store_url, f"UPDATE tiles SET hashes = '{first[:-4]}' WHERE number = 0")
    assert faults(await looked_at(store, marks))[0][0] is FaultKind.TILE


async def test_an_event_under_a_number_of_before_the_first_is_a_stray(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store, (20,))
    tamper(store_url, "UPDATE events SET seq = 0 WHERE seq = 30")
    assert faults(await looked_at(store, marks)) == [(FaultKind.STRAY, 0, 0)]


async def test_a_checkpoint_whose_row_says_otherwise_than_its_note_is_told(
    store: Store, store_url: str
) -> None:
    await a_log(store, (20, 25))
    tamper(store_url, "UPDATE checkpoints SET size = 21 WHERE size = 20")
    assert faults(await looked_at(store)) == [(FaultKind.SIGNATURE, 21, 21)]


async def test_two_gateways_write_one_whole_log(open_store: OpenStore) -> None:
    """Both make checkpoints as well; whoever comes second leaves it."""
    stores = [open_store(), open_store()]
    marks: list[Mark] = []
    for _ in range(6):
        for store in stores:
            await write(store, 60)
        marks.append(outside(await checkpoint(stores[len(marks) % 2])))
    report = await looked_at(stores[0], marks)
    assert (report.faults, report.last, report.checked) == ((), 720, 12)


def posed(size: int) -> tuple[str, str]:
    return (
        "INSERT INTO archives SELECT size, edge, note, 'x', 0 FROM checkpoints "
        f"WHERE size = {size}",
        f"DELETE FROM events WHERE seq <= {size}",
    )


async def test_a_beginning_that_is_posed_as_archived_without_the_key_is_told(
    store: Store, store_url: str
) -> None:
    """With every trigger in place: a row of archives is all that it takes to delete."""
    marks = await a_log(store, (256, 420, 700))
    tamper(store_url, *posed(256), keeps_triggers=True)
    report = await looked_at(store, marks)
    assert faults(report) == [(FaultKind.ARCHIVED, 1, 256)]
    assert report.faults[0].what.endswith("and no event of the log says so")
    tamper(store_url, *posed(420), keeps_triggers=True)
    assert faults(await looked_at(store, marks)) == [
        (FaultKind.ARCHIVED, 257, 420),
    ]


async def test_to_say_in_the_log_that_it_was_archived_is_not_enough_without_a_checkpoint(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store, (256, 420))
    tamper(store_url, *posed(256), keeps_triggers=True)
    made = await store.checkpoints.of(256)
    assert made is not None
    root = {"root": made.root.hex(), "digest": "x"}
    said = {"action": "log_archived", "first": 1, "last": 256, **root}
    await write(store, 1, kind=EventKind.ADMIN, stage=Stage.RECORDED, body=said)
    (fault,) = (await looked_at(store, marks)).faults
    assert fault.kind is FaultKind.ARCHIVED
    assert fault.what.endswith("no checkpoint covers it")
    await checkpoint(store)
    report = await looked_at(store, marks)
    assert (report.faults, report.first) == ((), 257)


async def test_missing_tiles_and_those_that_can_not_be_there_yet_are_named(
    store: Store, store_url: str
) -> None:
    marks = await a_log(store)
    tamper(store_url, "DELETE FROM tiles WHERE number = 0")
    (fault,) = (await looked_at(store, marks)).faults
    assert (fault.kind, fault.first, fault.last) == (FaultKind.TILE, 1, 256)
    assert fault.what.endswith("are missing")
    move = "INSERT INTO tiles SELECT {}, {}, hashes FROM tiles WHERE level = 0 AND number = 1"
    places = ((0, 0), (0, 7), (1, 0), (99, -1))
    tamper(store_url, *(move.format(*place) for place in places))
    found = (await looked_at(store, marks)).faults
    assert [(fault.first, fault.last) for fault in found if "in full" in fault.what] == [
        (0, 0),
        (1, 65_536),
        (1_793, 2_048),
    ]


async def test_checkpoints_that_were_deleted_leave_tiles_that_tell(
    store: Store, store_url: str
) -> None:
    await a_log(store)
    tamper(store_url, "DELETE FROM checkpoints WHERE size > 420")
    assert faults(await looked_at(store)) == [(FaultKind.TILE, 257, 512)]
