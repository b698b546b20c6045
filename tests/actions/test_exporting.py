from datetime import timedelta
from pathlib import Path

import pytest

from gateway.actions import exporting
from gateway.errors import ConfigurationError, LogChanged
from gateway.store.events import EventFilter
from gateway.store.store import Store
from tests.actions.test_standalone import verified
from tests.helpers.cases import NOW
from tests.helpers.tampering import SIGNER, checkpoint, tamper, write


async def exported(store: Store, folder: Path, note: str, **wanted: object) -> exporting.Exported:
    sought = EventFilter(**({"tenant": "acme"} | wanted))  # pyright: ignore[reportArgumentType] - as tests name them
    return await exporting.export(store.checkpoints, sought, note, [SIGNER.key], folder)


async def a_log(store: Store) -> str:
    """Events of two tenants in turns, a checkpoint over 600, and some after it."""
    for _ in range(30):
        await write(store, 10, tenant="acme")
        await write(store, 10, tenant="initech", body={"tool": "payroll.read", "status": "ok"})
    made = await checkpoint(store)
    await write(store, 10)
    return made.note


async def test_an_export_holds_a_tenants_events_and_is_true_in_a_bare_interpreter(
    store: Store, tmp_path: Path, store_url: str
) -> None:
    note = await a_log(store)
    found = await exported(store, tmp_path / "export", note)
    assert (found.count, found.size) == (300, 600)
    assert verified(tmp_path / "export", str(SIGNER.key)) == (
        0,
        f"true: 300 events are in the log {SIGNER.name}, as it was at 600 events",
    )
    kept = tamper(
        store_url, "SELECT body FROM events WHERE tenant = 'acme' AND seq <= 600 ORDER BY seq"
    )
    lines = (tmp_path / "export" / "events.jsonl").read_text().splitlines()
    assert lines == [row[0] for row in kept]


async def test_nothing_of_other_tenants_is_in_an_export(store: Store, tmp_path: Path) -> None:
    await exported(store, tmp_path / "export", await a_log(store))
    files = list((tmp_path / "export").iterdir())
    assert {file.name for file in files} == {
        *("README.md", "checkpoint.txt", "events.jsonl", "keys.txt", "proofs.txt", "verify.py")
    }
    for file in files:
        assert b"initech" not in file.read_bytes()
        assert b"payroll" not in file.read_bytes()


async def test_a_period_is_cut_out_and_named(store: Store, tmp_path: Path) -> None:
    note = await a_log(store)
    period = {"since": NOW + timedelta(seconds=2), "until": NOW + timedelta(seconds=5)}
    found = await exported(store, tmp_path / "export", note, **period)
    assert found.count == 90
    assert verified(tmp_path / "export")[0] == 0
    readme = (tmp_path / "export" / "README.md").read_text()
    assert "90 events of the log `log.example/test`, numbers 3 to 585" in readme
    assert f"from {period['since'].isoformat()}" in readme


async def test_a_tenant_without_events_has_an_empty_export(store: Store, tmp_path: Path) -> None:
    found = await exported(store, tmp_path / "export", await a_log(store), tenant="nobody")
    assert found.count == 0
    assert verified(tmp_path / "export")[1].startswith("true: 0 events")


async def test_what_is_not_as_signed_is_not_exported(
    store: Store, tmp_path: Path, store_url: str
) -> None:
    note = await a_log(store)
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq = 21")
    with pytest.raises(LogChanged, match="event 21 is not what"):
        await exported(store, tmp_path / "export", note)


async def test_a_folder_that_is_there_is_left_alone(store: Store, tmp_path: Path) -> None:
    note = await a_log(store)
    with pytest.raises(ConfigurationError, match="is there already"):
        await exported(store, tmp_path, note)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="not a directory"):
        await exported(store, tmp_path / "file" / "export", note)
