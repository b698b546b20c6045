import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.actions.disclosure import Reader
from gateway.app.taping import playback
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_call, a_principal
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

FIND, NOTE = tool("find"), tool("note")
READER = Reader(account="ada")
NOTED: JsonObject = {"text": "remember"}


async def recorded(folder: Path) -> tuple[Workspace, str]:
    """Make a read and a write in one run, with results kept of neither."""
    script = Script(tools=[FIND, NOTE], on_call={"note": [{"reply": text("noted")}]})
    place = a_workspace(
        folder,
        {"alpha": house.stdio(script, folder)},
        contracts=[
            house.contract(FIND),
            house.contract(NOTE, effect=Effect.WRITE, risk=Risk.LOW),
        ],
        runs={"enabled": True, "implicit": True},
    )
    async with place.opened() as gateway:
        await gateway.handle(a_call("alpha__find", {"q": "x"}, call_id="call_find"))
        await gateway.handle(a_call("alpha__note", NOTED, call_id="call_note"))
    ends = house.events(folder, kind="tool_call", stage="finished")
    (run,) = {each["run"] for each in ends}
    return place, run


async def test_a_write_is_played_from_what_its_operation_keeps_at_any_level(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    played = await playback(place.loaded(), run, SystemClock(), reader=READER)
    noted = await played.handle(a_call("alpha__note", dict(NOTED)))
    assert (noted.status, noted.result["content"]) == (Status.OK, text("noted")["content"])
    found = await played.handle(a_call("alpha__find", {"q": "x"}))
    assert found.status is Status.NOT_RECORDED
    assert [each.code for each in played.tape.missed] == ["result_not_kept"]


async def test_calls_are_told_apart_by_the_digests_of_the_tenant(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    played = await playback(place.loaded(), run, SystemClock(), reader=READER, is_open=True)
    stranger = a_principal(tenant="globex")  # over stdio the host may be anybody
    noted = await played.handle(a_call("alpha__note", dict(NOTED), principal=stranger))
    assert noted.status is Status.OK


async def test_a_name_is_looked_for_as_the_log_has_it(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    played = await playback(place.loaded(), run, SystemClock(), reader=READER)
    await played.handle(a_call("alpha__" + "x" * 200))
    uri = "mem://" + "y" * 200
    await played.handle(a_call(uri, method=Method.READ_RESOURCE, params={"uri": uri}))
    tool_miss, uri_miss = played.tape.missed
    assert len(tool_miss.wanted.name) == 128
    assert uri_miss.wanted.name == uri


async def test_a_run_that_is_not_in_the_log_can_not_be_played(tmp_path: Path) -> None:
    place, _ = await recorded(tmp_path)
    with pytest.raises(ConfigurationError, match="no calls of `run_none`"):
        await playback(place.loaded(), "run_none", SystemClock(), reader=READER)


async def test_a_revision_that_is_gone_or_of_another_version_says_so(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    for change, told in (
        ('UPDATE revisions SET texts = \'{"policy.yaml": "rulez: []"}\'', "can't be read any more"),
        ("DELETE FROM revisions", "does not have revision"),
    ):
        with closing(sqlite3.connect(tmp_path / "store.db")) as store, store:
            store.execute(change)
        with pytest.raises(ConfigurationError, match=told):
            await playback(place.loaded(), run, SystemClock(), reader=READER)


async def test_a_store_that_is_no_database_says_so(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    (tmp_path / "store.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreUnavailable):
        await playback(place.loaded(), "run_1", SystemClock(), reader=READER)


async def test_who_plays_a_run_is_in_the_log_before_anything_is_played(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    await playback(place.loaded(), run, SystemClock(), reader=READER)
    (event,) = (
        each
        for each in house.events(tmp_path, kind="admin")
        if each["body"]["action"] == "log_read"
    )
    body = event["body"]
    assert (body["how"], body["account"], body["asked"], event["tenant"]) == (
        *("playback", "ada"),
        *({"run": run}, "acme"),
    )


async def test_a_store_that_takes_no_events_has_nothing_played(tmp_path: Path) -> None:
    place, run = await recorded(tmp_path)
    refuse = "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END"
    with closing(sqlite3.connect(tmp_path / "store.db")) as store, store:
        store.execute(refuse)
    with pytest.raises(StoreUnavailable, match="nothing is told"):
        await playback(place.loaded(), run, SystemClock(), reader=READER)
