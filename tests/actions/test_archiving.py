"""A log goes on being proven after its beginning has left it, on both engines."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway import ids
from gateway.actions import archiving
from gateway.actions.archives import ArchiveFile
from gateway.actions.archiving import Archived, Archiving
from gateway.actions.verifying import verify
from gateway.errors import ConfigurationError, LogChanged, StoreUnavailable
from gateway.events import upkeep
from gateway.events.faults import FaultKind
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report
from gateway.store.retention import Hold, Retention
from gateway.store.store import Store
from gateway.types.events import Event
from tests.helpers.cases import NOW
from tests.helpers.events import an_event
from tests.helpers.issuer import HandClock
from tests.helpers.tampering import SIGNER, by, checkpoint, outside, tamper, write

LATER = NOW + timedelta(days=1)


def told(found: Archived, root: bytes) -> Event:
    return upkeep.archived(
        id=ids.ulid(),
        at=NOW,
        first=found.first,
        last=found.last,
        root=root.hex(),
        file="file",
        digest=found.digest,
        by="ada",
        account="ada",
    )


async def archived(store: Store, path: Path, most: int = 10_000) -> Archived:
    work = Archiving(
        store=store,
        sign=by(SIGNER),
        origin=SIGNER.name,
        keys=[SIGNER.key],
        clock=HandClock(),
        event=told,
    )
    return await work.archive(LATER, path, most)


async def looked_at(store: Store, marks: Sequence[Mark] = (), files: Sequence[Path] = ()) -> Report:
    with ExitStack() as stack:
        opened = [stack.enter_context(ArchiveFile(path)) for path in files]
        return await verify(store.checkpoints, Trust([SIGNER.key]), marks, opened)


async def a_log(store: Store) -> list[Mark]:
    marks: list[Mark] = []
    for count in (300, 400, 300):
        await write(store, count)
        marks.append(outside(await checkpoint(store)))
    return marks


async def test_a_log_is_whole_from_its_archive_on_and_with_it_from_the_beginning(
    store: Store, tmp_path: Path
) -> None:
    marks = await a_log(store)
    found = await archived(store, tmp_path / "a")
    assert (found.first, found.last) == (1, 768)
    await write(store, 50)
    marks.append(outside(await checkpoint(store)))
    report = await looked_at(store, marks)
    assert (report.faults, report.first, report.last) == ((), 769, 1051)
    assert report.outside is not None
    assert report.outside.size == 1051
    report = await looked_at(store, marks, [tmp_path / "a"])
    assert (report.faults, report.first, report.last) == ((), 1, 1051)


async def test_several_archives_follow_each_other(store: Store, tmp_path: Path) -> None:
    marks = await a_log(store)
    first = await archived(store, tmp_path / "a", most=300)
    second = await archived(store, tmp_path / "b", most=300)
    assert [(each.first, each.last) for each in (first, second)] == [(1, 256), (257, 512)]
    await checkpoint(store)
    for files, start in (([], 513), (["b"], 257), (["a", "b"], 1)):
        report = await looked_at(store, marks, [tmp_path / name for name in files])
        assert (report.faults, report.first) == ((), start)
    report = await looked_at(store, marks, [tmp_path / "a"])
    assert [(fault.kind, fault.first, fault.last) for fault in report.faults] == [
        (FaultKind.MISSING, 257, 512)
    ]


async def test_much_is_removed_step_by_step_and_whatever_is_left_is_in_the_file(
    store: Store, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = await a_log(store)
    monkeypatch.setattr(archiving, "STEP", 256)
    remove, calls = Retention.remove, list[int]()

    async def once(self: Retention, *parts: Any, **named: Any) -> bool:
        calls.append(named["first"])
        if len(calls) > 1:
            raise StoreUnavailable("gone")
        return await remove(self, *parts, **named)

    monkeypatch.setattr(Retention, "remove", once)
    with pytest.raises(StoreUnavailable, match="is whole, and"):
        await archived(store, tmp_path / "a")
    monkeypatch.undo()
    assert tamper(store_url, "SELECT MIN(seq) FROM events") == [(257,)]
    report = await looked_at(store, marks, [tmp_path / "a"])
    assert (report.faults, report.first, report.last) == ((), 1, 1001)
    monkeypatch.setattr(archiving, "STEP", 256)
    found = await archived(store, tmp_path / "b")
    assert (found.first, found.last) == (257, 768)
    assert (await looked_at(store, marks)).first == 769
    both = [tmp_path / "a", tmp_path / "b"]
    report = await looked_at(store, marks, both)
    assert (report.faults, report.first) == ((), 1)
    both[1].write_bytes(both[1].read_bytes().replace(b"crm", b"crn", 1))
    (fault,) = (await looked_at(store, marks, both)).faults
    assert (fault.kind, fault.first) == (FaultKind.CHANGED, 257)


async def test_a_changed_archive_is_found_and_its_event_named(store: Store, tmp_path: Path) -> None:
    marks = await a_log(store)
    path = tmp_path / "a"
    await archived(store, path)
    lines = path.read_bytes().split(b"\n")
    lines[17] = lines[17].replace(b"crm", b"crn")
    path.write_bytes(b"\n".join(lines))
    report = await looked_at(store, marks, [path])
    assert [(fault.kind, fault.first) for fault in report.faults] == [(FaultKind.CHANGED, 17)]


async def test_what_was_tampered_with_after_an_archive_is_found(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    marks = await a_log(store)
    await archived(store, tmp_path / "a", most=300)
    tamper(store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 600")
    kinds = [(fault.kind, fault.first) for fault in (await looked_at(store, marks)).faults]
    assert (FaultKind.REWRITTEN, 301) in kinds or (FaultKind.CHANGED, 600) in kinds


async def test_a_log_that_is_not_whole_is_not_archived(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    await a_log(store)
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq = 900")
    with pytest.raises(LogChanged, match="not whole"):
        await archived(store, tmp_path / "a")
    assert not (tmp_path / "a").exists()


async def test_events_on_hold_stop_it(store: Store, tmp_path: Path) -> None:
    await a_log(store)
    hold = Hold(tenant="acme", run="", reason="suit", by="ada", at=NOW)
    await store.retention.hold(hold, an_event())
    found = await archived(store, tmp_path / "a")
    assert found.last < found.first
    assert "on hold, of tenant `acme`" in found.stop
    assert not (tmp_path / "a").exists()


async def test_a_file_that_is_there_takes_nothing_out_of_the_log(
    store: Store, tmp_path: Path
) -> None:
    await a_log(store)
    (tmp_path / "a").write_text("mine")
    with pytest.raises(ConfigurationError, match="is there already"):
        await archived(store, tmp_path / "a")
    assert (await looked_at(store)).first == 1
