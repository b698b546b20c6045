"""An export over events that left the log, on both engines."""

from datetime import timedelta
from pathlib import Path

import pytest

from gateway import ids
from gateway.actions import exporting
from gateway.actions.archived_events import ArchivedEvents
from gateway.actions.archiving import Archived, Archiving
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, LogChanged
from gateway.events import upkeep
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.events import Event
from tests.actions.test_standalone import verified
from tests.helpers.cases import NOW
from tests.helpers.tampering import SIGNER, by, checkpoint, write

ORIGIN = SIGNER.name


def _event(found: Archived, root: bytes) -> Event:
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


async def archived(store: Store, path: Path, most: int = 256) -> None:
    archiving = Archiving(
        store=store,
        sign=by(SIGNER),
        origin=ORIGIN,
        keys=[SIGNER.key],
        clock=SystemClock(),
        event=_event,
    )
    found = await archiving.archive(NOW + timedelta(days=1), path, most)
    assert found.last - found.first == most - 1


async def a_log(store: Store, folder: Path) -> str:
    """Two archives of 256 events each, of two tenants in turns, and 88 events after them."""
    for _ in range(30):
        await write(store, 10, tenant="acme")
        await write(store, 10, tenant="initech")
    await checkpoint(store)
    await archived(store, folder / "a")
    await checkpoint(store)
    await archived(store, folder / "b")
    return (await checkpoint(store)).note


async def exported(
    store: Store, folder: Path, note: str, *archives: Path, **period: object
) -> exporting.Exported:
    wanted = EventFilter(**({"tenant": "acme"} | period))  # pyright: ignore[reportArgumentType] - as tests name them
    return await exporting.export(
        store.checkpoints, wanted, note, [SIGNER.key], folder, archives=archives
    )


async def test_what_left_the_log_is_taken_from_its_archives_and_is_proven(
    store: Store, tmp_path: Path
) -> None:
    note = await a_log(store, tmp_path)
    found = await exported(store, tmp_path / "out", note, tmp_path / "b", tmp_path / "a")
    assert (found.count, found.missing) == (300, ())
    code, said = verified(tmp_path / "out")
    assert (code, said.startswith("true: 300 events")) == (0, True), said
    period = {"since": NOW + timedelta(seconds=2), "until": NOW + timedelta(seconds=5)}
    found = await exported(store, tmp_path / "cut", note, tmp_path / "a", tmp_path / "b", **period)
    assert found.count == 90
    assert b"initech" not in (tmp_path / "out" / "events.jsonl").read_bytes()


async def test_what_is_missing_is_said(store: Store, tmp_path: Path) -> None:
    note = await a_log(store, tmp_path)
    found = await exported(store, tmp_path / "none", note)
    assert found.missing == ((1, 512),)
    readme = (tmp_path / "none" / "README.md").read_text()
    assert "Events 1 to 512 of the log are in archives that were not at hand" in readme
    found = await exported(store, tmp_path / "some", note, tmp_path / "b")
    assert found.missing == ((1, 256),)
    assert verified(tmp_path / "some")[0] == 0
    later = await exported(store, tmp_path / "later", note, since=NOW + timedelta(days=9_000))
    assert (later.count, later.missing) == (0, ())


async def test_a_changed_archive_or_one_of_another_log_is_refused(
    store: Store, tmp_path: Path
) -> None:
    note = await a_log(store, tmp_path)
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole.replace(b"crm.find", b"crm.fond", 1))
    with pytest.raises(LogChanged):
        await exported(store, tmp_path / "out", note, tmp_path / "a")
    with pytest.raises(ConfigurationError, match=r"an archive of `log\.example/test`"):
        ArchivedEvents([tmp_path / "b"], origin="other", size=512)
    with pytest.raises(ConfigurationError, match="is no archive"):
        ArchivedEvents([Path(__file__)], origin=ORIGIN, size=512)


def test_where_nothing_was_archived_nothing_is_missing() -> None:
    assert ArchivedEvents([], origin=ORIGIN, size=0).missing == []
