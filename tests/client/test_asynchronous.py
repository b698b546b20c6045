"""The client for asynchronous programs, against a real listener."""

from pathlib import Path

import aiohttp
import pytest

from gateway import client
from gateway.client import AsyncClient, ModelTurn, ProposedCall, RunsError
from gateway.client.wire import ListRuns
from gateway.types.runs import Mode, Phase
from tests.admin.hosting import HOST, READER, open_desk


def test_the_package_has_every_name_that_it_lists_and_no_other() -> None:
    for name in client.__all__:
        assert getattr(client, name).__name__ == name
    with pytest.raises(AttributeError, match="SyncClient"):
        getattr(client, "SyncClient")  # noqa: B009 - no type checker knows it


async def test_every_verb_does_what_it_says(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk, AsyncClient(desk.house.url, HOST) as client:
        run = await client.start(
            objective="refund",
            user="sam",
            roles=["support"],
            mode=Mode.HOST,
            task_id="T-1",
            fields={"order": 7},
        )
        one = run.run_id
        assert (run.user, run.mode, run.fields["order"].value) == ("sam", Mode.HOST, 7)
        page = await client.list_runs(ListRuns(task_id="T-1"))
        assert [each.run_id for each in page.runs] == [one]
        moved = await client.set_phase(one, Phase.ACTING, version=run.version)
        assert moved.phase is Phase.ACTING
        told = await client.set_fields(one, {"customer": "c-1"}, said_by_user=True)
        assert told.fields["customer"].source == "user"
        read = await client.add_evidence(one, [{"source": "kb://1", "chunk": "2"}])
        assert read.evidence == 1
        assert (await client.add_usage(one, tokens=12)).tokens == 12
        turn = ModelTurn(
            model="gpt-x", output_tokens=5, tool_calls=(ProposedCall(name="crm__find"),)
        )
        for _ in range(2):
            assert (await client.add_turn(one, turn, key="t")).tokens == 17
        assert (await client.pause(one, "lunch")).is_paused
        assert (await client.resume(one, reason="back")).note == "back"
        assert (await client.package(one)).evidence[0].source == "kb://1"
        assert (await client.complete(one, note="done")).phase is Phase.COMPLETED
        assert (await client.show(one)).note == "done"


async def test_every_way_to_end_a_run_ends_it(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk, AsyncClient(desk.house.url, HOST) as client:
        ids = [(await client.start()).run_id for _ in range(3)]
        assert (await client.fail(ids[0], note="no")).phase is Phase.FAILED
        assert (await client.cancel(ids[1], "no")).note == "cancelled: no"
        package = await client.hand_over(ids[2], "stuck", to="tier 2")
        assert (package.phase, package.reason) == (Phase.HANDOFF, "for tier 2: stuck")


async def test_what_the_gateway_refuses_is_raised_with_its_problem(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk, AsyncClient(f"{desk.house.url}/", READER) as client:
        with pytest.raises(RunsError) as refused:
            await client.start()
        assert (refused.value.problem.status, refused.value.problem.code) == (403, "forbidden")
        with pytest.raises(RunsError) as refused:
            await client.show("run_none")
        assert refused.value.problem.status == 404


async def test_a_gateway_that_is_not_there_is_no_refusal() -> None:
    async with AsyncClient("http://127.0.0.1:1", HOST, timeout_s=5) as client:
        with pytest.raises(aiohttp.ClientError):
            await client.show("run_1")
    with pytest.raises(RuntimeError, match="async with"):
        await AsyncClient("http://127.0.0.1:1", HOST).show("run_1")
