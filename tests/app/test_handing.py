import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway import jsontext
from gateway.app import handing
from gateway.app.handing import Place
from gateway.clock import SystemClock
from gateway.config.events import CopySettings
from gateway.events import copies
from gateway.types.json import JsonObject
from tests.helpers.fake_server import WAIT_S
from tests.helpers.webhooks import receiving

SECRET = f"whsec_{'a' * 40}"


def a_record(size: int) -> JsonObject:
    return {"at": "t", "origin": "log.example/a", "size": size, "root": "00", "note": "note"}


def a_place(**settings: Any) -> Place:
    (place,) = handing.places([CopySettings(**settings)], SystemClock())
    return place


async def test_a_file_gets_a_line_each_and_goes_on_after_one_that_was_cut_off(
    tmp_path: Path,
) -> None:
    file = tmp_path / "copies.jsonl"
    place = a_place(file=file)
    place.put(a_record(1))
    place.put(a_record(2))
    assert await place.once()
    file.write_bytes(file.read_bytes() + b'{"at"')
    place.put(a_record(3))
    assert await place.once()
    lines = file.read_text().splitlines()
    assert lines == [
        *(jsontext.dump(a_record(1)).decode(), jsontext.dump(a_record(2)).decode()),
        *('{"at"', jsontext.dump(a_record(3)).decode()),
    ]
    assert (place.size, place.waiting, place.problem) == (3, 0, "")


async def test_what_a_place_does_not_take_waits_for_the_next_attempt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "away"
    place = a_place(file=folder / "copies.jsonl")
    place.put(a_record(1))
    assert not await place.once()
    assert not await place.once()
    assert (place.size, place.waiting, place.problem) == (0, 1, "no such file or directory")
    assert len(caplog.records) == 1
    folder.mkdir()
    place.put(a_record(2))
    assert await place.once()
    assert (place.size, place.waiting, place.problem) == (2, 0, "")


async def test_a_place_that_is_away_for_long_gets_the_newest() -> None:
    got: list[JsonObject] = []

    async def deliver(record: JsonObject) -> str:
        got.append(record)
        return ""

    place = Place(name="slow", deliver=deliver)
    for size in range(1, 101):
        place.put(a_record(size))
    assert place.waiting == 64
    assert await place.once()
    assert got[-1] == a_record(100)


async def test_the_log_gets_a_record_that_is_read_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    place = a_place(log=True)
    place.put(a_record(1))
    assert await place.once()
    assert caplog.messages == [f"checkpoint {jsontext.dump(a_record(1)).decode()}"]


async def test_a_webhook_gets_a_signed_event() -> None:
    with receiving() as receiver:
        place = a_place(url=receiver.url, secret=SECRET)
        place.put(a_record(1))
        assert await place.once()
    (got,) = receiver.got
    assert got.json == copies.cloud_event(a_record(1))
    assert got.headers["webhook-id"] == "log.example/a/1/00"
    assert got.is_signed(SECRET)


async def test_a_fault_of_a_place_is_told_and_not_the_end() -> None:
    async def deliver(record: JsonObject) -> str:
        raise KeyError(record["size"])

    place = Place(name="broken", deliver=deliver)
    place.put(a_record(1))
    assert not await place.once()
    assert place.problem == "KeyError"


async def test_the_loop_hands_over_what_is_put_into_it() -> None:
    done = anyio.Event()

    async def deliver(record: JsonObject) -> str:
        if record["size"] == 2:
            done.set()
        return ""

    place = Place(name="here", deliver=deliver)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.run)
        place.put(a_record(1))
        await anyio.wait_all_tasks_blocked()
        place.put(a_record(2))
        with anyio.fail_after(WAIT_S):
            await done.wait()
        tasks.cancel_scope.cancel()
