import stat
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from gateway.app import checkpointing
from gateway.app.checkpointing import Checkpointing
from gateway.app.handing import Place
from gateway.config.events import CheckpointsSettings
from gateway.config.settings import Settings, StoreSettings
from gateway.errors import ConfigurationError
from gateway.events import checkpoints, notes
from gateway.events.notes import Signer
from gateway.store import key_files
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.databases import Outage
from tests.helpers.fake_server import WAIT_S, until_async
from tests.helpers.issuer import HandClock
from tests.helpers.tampering import SIGNER, tamper, write
from tests.helpers.workspaces import a_workspace


def a_loop(
    store: Store, clock: HandClock, places: Sequence[Place] = (), **settings: object
) -> Checkpointing:
    return Checkpointing(
        checkpoints=store.checkpoints,
        settings=CheckpointsSettings.model_validate(settings),
        signer=lambda: SIGNER,
        first_key=lambda: None,
        clock=clock,
        places=places,
    )


async def sizes(store: Store) -> list[int]:
    return [size for size in range(1, 200) if (await store.checkpoints.of(size)) is not None]


async def test_one_is_made_when_an_event_has_waited_for_long_enough(store: Store) -> None:
    clock = HandClock()
    loop = a_loop(store, clock, every="60s")
    await write(store, 3)
    await loop.once()
    clock.move(59)
    await loop.once()
    assert (await sizes(store), loop.since, loop.age_s()) == ([], 3, 59)
    clock.move(1)
    await loop.once()
    assert (await sizes(store), loop.since, loop.age_s(), loop.size) == ([3], 0, 0, 3)


async def test_one_is_made_early_for_many_events(store: Store) -> None:
    loop = a_loop(store, HandClock(), events=5)
    await write(store, 4)
    await loop.once()
    await write(store, 1)
    await loop.once()
    assert await sizes(store) == [5]


async def test_one_of_another_gateway_is_as_good(store: Store) -> None:
    clock = HandClock()
    loops = [a_loop(store, clock, every="60s") for _ in range(2)]
    await write(store, 3)
    for loop in loops:
        await loop.once()
    clock.move(60)
    for loop in loops:
        await loop.once()
    assert await sizes(store) == [3]
    assert [loop.size for loop in loops] == [3, 3]


async def test_each_place_is_handed_what_was_made(store: Store) -> None:
    got: list[JsonObject] = []

    async def deliver(record: JsonObject) -> str:
        got.append(record)
        return ""

    async def refuse(record: JsonObject) -> str:
        return f"no {record['size']}"

    places = [Place(name="away", deliver=refuse), Place(name="here", deliver=deliver)]
    loop = a_loop(store, HandClock(), places)
    await write(store, 3)
    await loop.finish()
    (record,) = got
    assert checkpoints.parse(notes.parse(str(record["note"])).text).size == 3
    state = loop.as_json()
    assert (state["size"], state["since"], state["problem"]) == (3, 0, "")
    assert state["to"] == [
        {"name": "away", "size": 0, "waiting": 1, "problem": "no 3"},
        {"name": "here", "size": 3, "waiting": 0, "problem": ""},
    ]


async def test_it_goes_on_when_the_store_is_back(
    store: Store, outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    loop = a_loop(store, HandClock(), events=1)
    await write(store, 3)
    outage.begin()
    await loop.once()
    await loop.once()
    assert loop.problem
    assert len([each for each in caplog.messages if each.startswith("no checkpoint")]) == 1
    outage.end()
    await loop.once()
    assert (loop.problem, loop.size) == ("", 3)


async def test_a_log_that_was_changed_is_a_problem_and_gets_no_checkpoint(
    store: Store, store_url: str
) -> None:
    loop = a_loop(store, HandClock(), events=1)
    await write(store, 3)
    await loop.once()
    tamper(store_url, "UPDATE events SET body = '{}' WHERE seq = 2")
    await write(store, 1)
    await loop.once()
    assert "aren't what the last checkpoint was made of" in loop.problem
    assert await sizes(store) == [3]


async def test_a_fault_of_its_own_is_told_and_not_the_end(store: Store) -> None:
    loop = a_loop(store, HandClock(), events=1)
    loop.first_key = lambda: 1 / 0
    await write(store, 1)
    await loop.once()
    assert loop.problem == "it met a fault of its own: ZeroDivisionError"


async def test_without_a_key_there_are_none_and_the_state_says_why(store: Store) -> None:
    settings = Settings(store=StoreSettings(url="postgresql://nowhere/w"))
    loop = checkpointing.checkpointing(store, settings, HandClock())
    await write(store, 1)
    await loop.run()
    await loop.finish()
    assert "events.checkpoints.key" in str(loop.as_json()["off"])
    assert await sizes(store) == []
    with pytest.raises(ConfigurationError, match="is not set"):
        loop.signer()


async def test_the_first_checkpoint_of_a_store_in_a_file_makes_its_key(
    store: Store, tmp_path: Path
) -> None:
    settings = Settings(store=StoreSettings(url=f"sqlite:///{tmp_path}/w.db"))
    loop = checkpointing.checkpointing(store, settings, HandClock())
    await write(store, 1)
    await loop.make()
    path = tmp_path / "w.db.checkpoints.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key_files.read(path).name == f"weighbridge/log-{store.keys.fingerprint()}"
    path.unlink()
    await write(store, 1)
    with pytest.raises(ConfigurationError, match="put it back"):
        await loop.make()


async def test_a_gateway_makes_them_while_it_runs_and_a_last_one_at_its_end(
    tmp_path: Path,
) -> None:
    copies = tmp_path / "copies.jsonl"
    place = a_workspace(
        tmp_path, events={"checkpoints": {"events": 1, "to": [{"file": str(copies)}]}}
    )
    async with place.opened() as gateway:
        with anyio.fail_after(WAIT_S):
            await until_async(lambda: _lines(copies))
        assert gateway.snapshot().checkpoints["off"] == ""
    signer: Signer = key_files.read(tmp_path / "store.db.checkpoints.key")
    with place.store() as store:
        standing = await store.checkpoints.standing()
        assert standing.last is not None
        assert (standing.since, standing.last_seq) == (0, standing.last.size)
        assert notes.parse(standing.last.note).signed_by([signer.key]) == (signer.key,)
    assert f'"size":{standing.last_seq}' in copies.read_text().splitlines()[-1]


async def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
