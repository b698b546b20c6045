"""The client for programs that wait, against a real listener."""

from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from gateway.client import Client, ModelTurn, ProposedCall, RunsError
from gateway.client.wire import ListRuns
from gateway.runs.templates import FieldRule, Template
from gateway.types.runs import Mode, Phase
from tests.admin.hosting import HOST, READER, open_desk

ROOT = Path(__file__).resolve().parents[2]


def work(client: Client) -> None:
    """Do everything that a host can do."""
    run = client.start(
        objective="refund",
        user="sam",
        roles=["support"],
        mode=Mode.HOST,
        task_id="T-1",
        fields={"order": 7},
    )
    one = run.run_id
    assert (run.user, run.mode, run.fields["order"].value) == ("sam", Mode.HOST, 7)
    assert [each.run_id for each in client.list_runs(ListRuns(task_id="T-1")).runs] == [one]
    assert client.set_phase(one, Phase.ACTING, version=run.version).phase is Phase.ACTING
    told = client.set_fields(one, {"customer": "c-1"}, said_by_user=True)
    assert told.fields["customer"].source == "user"
    assert client.add_evidence(one, [{"source": "kb://1", "chunk": "2"}]).evidence == 1
    assert client.add_usage(one, tokens=12).tokens == 12
    turn = ModelTurn(model="m", output_tokens=5, tool_calls=(ProposedCall(name="find"),))
    for _ in range(2):
        assert client.add_turn(one, turn, key="t").tokens == 17
    assert client.pause(one, "lunch").is_paused
    assert client.resume(one, reason="back").note == "back"
    assert client.package(one).evidence[0].source == "kb://1"
    assert client.complete(one, note="done").phase is Phase.COMPLETED
    assert client.show(one).note == "done"
    assert client.fail(client.start().run_id, note="no").phase is Phase.FAILED
    assert client.cancel(client.start().run_id, "no").note == "cancelled: no"
    assert client.hand_over(client.start().run_id, "stuck", to="tier 2").phase is Phase.HANDOFF


async def test_every_verb_does_what_it_says(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await to_thread.run_sync(work, Client(desk.house.url, HOST))


def example() -> str:
    """Return the program of the how-to."""
    page = (ROOT / "docs/how-to/runs.md").read_text(encoding="utf-8")
    return page.partition("```python\n")[2].partition("```")[0]


async def test_the_program_of_the_how_to_runs(tmp_path: Path) -> None:
    refund = Template(name="refund", fields={"customer_id": FieldRule(required=True)})
    async with open_desk(tmp_path, templates=[refund]) as desk:
        url = f'"{desk.house.url}"'
        program = example().replace('"http://127.0.0.1:8701"', url)
        assert url in program
        scope: dict[str, Any] = {"key": HOST}
        await to_thread.run_sync(exec, program, scope)
        assert scope["_meta"] == {"weighbridge/run": {"id": scope["run"].run_id}}
        done = await desk.get(f"/v1/runs/{scope['run'].run_id}")
        assert (done.body["phase"], done.body["tokens"]) == ("completed", 1_830)


def refusals(client: Client) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for call in (client.start, lambda: client.show("run_none")):
        with pytest.raises(RunsError) as refused:
            call()
        found.append((refused.value.problem.status, refused.value.problem.code))
    return found


async def test_what_the_gateway_refuses_is_raised_with_its_problem(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        client = Client(f"{desk.house.url}/", READER)
        assert await to_thread.run_sync(refusals, client) == [
            (403, "forbidden"),
            (404, "not_found"),
        ]


def test_a_gateway_that_is_not_there_is_no_refusal() -> None:
    with pytest.raises(OSError, match="refused"):
        Client("http://127.0.0.1:1", HOST, timeout_s=5).show("run_1")


def test_what_speaks_no_http_is_not_there_either(free_server: str) -> None:
    with pytest.raises(OSError, match="none"):
        Client(free_server, HOST, timeout_s=5).show("run_1")
