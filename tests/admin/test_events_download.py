"""Events as a file."""

import csv
import io
import json
from contextlib import closing
from pathlib import Path

import pytest

from gateway.admin.events_download import Form, pieces
from gateway.store.selection import Selection
from gateway.store.store import Store
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event


async def written(folder: Path, form: Form, count: int, *, most: int = 10_000) -> str:
    with closing(Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN)) as store:
        store.events.append([an_event(call=f"call_{number}") for number in range(count)])
        await store.events.kept()
        log = store.checkpoints
        parts = [each async for each in pieces(log, Selection(), form, most=most)]
    return b"".join(parts).decode()


@pytest.mark.parametrize("count", [0, 1, 1_203])
async def test_a_file_has_all_events_the_newest_first(tmp_path: Path, count: int) -> None:
    lines = (await written(tmp_path, "json", count)).splitlines()
    assert [json.loads(each)["seq"] for each in lines] == [*range(count, 0, -1)]


async def test_a_table_has_a_head_and_ends_where_it_has_to(tmp_path: Path) -> None:
    text = await written(tmp_path, "csv", 20, most=7)
    rows = [*csv.DictReader(io.StringIO(text))]
    assert [each["call"] for each in rows] == [f"call_{number}" for number in range(19, 12, -1)]
    assert (rows[0]["tool"], rows[0]["outcome"], rows[0]["user"]) == ("crm.find", "ok", "sam")


async def test_a_table_of_nothing_has_its_head_alone(tmp_path: Path) -> None:
    assert (await written(tmp_path, "csv", 5, most=0)).count("\n") == 1
