"""What programs can do with runs, and whose they get to see."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.actions import timeline
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.store.events import EventFilter
from gateway.types.operations import OpState
from gateway.types.runs import Mode, Phase
from gateway.types.tools import Effect
from tests.admin.hosting import MOVER, OTHER, READER, open_desk
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import begun

REFUND = Template(
    name="refund",
    mode=Mode.HOST,
    fields={"customer_id": FieldRule(required=True)},
    enter_when={
        Phase.ACTING: (
            Guard(text="fields.customer_id", holds=lambda run: "customer_id" in run.fields),
        )
    },
    completed_when=(Guard(text="succeeded('desk.refund')", holds=lambda run: bool(run.succeeded)),),
)


async def test_a_host_begins_steers_and_completes_the_work_of_a_user(tmp_path: Path) -> None:
    async with open_desk(tmp_path, templates=[REFUND]) as desk:
        made = await desk.post(
            "/v1/runs",
            {
                "template": "refund",
                "objective": "give it back",
                "task_id": "T-1",
                "on_behalf_of": {"user": "sam", "roles": ["support"]},
            },
        )
        run: dict[str, Any] = made.body
        path = made.headers["Location"]
        assert path == f"/v1/runs/{run['run_id']}"
        assert (run["user"], run["tenant"], run["client"]) == ("sam", "acme", "host")
        assert (run["mode"], run["phase"]) == ("host", "created")
        assert run["missing"] == {
            "acting": ["fields.customer_id"],
            "completed": ["succeeded('desk.refund')"],
        }
        await desk.post(f"{path}/fields", {"fields": {"customer_id": "c-1"}, "source": "user"})
        acting = (await desk.post(f"{path}/phase", {"phase": "acting", "note": "ready"})).body
        assert (acting["phase"], acting["note"], "acting" in acting["missing"]) == (
            "acting",
            "ready",
            False,
        )
        finish = f"{path}/finish"
        early = await desk.post(finish, {"outcome": "completed"})
        assert (early.status, early.body["code"]) == (409, "phase_blocked")
        assert early.body["missing"] == ["succeeded('desk.refund')"]
        store = desk.house.store
        op = await claim(store, wanted(run_id=run["run_id"]))
        await settle(store, op.operation, OpState.SUCCEEDED)
        done = (await desk.post(finish, {"outcome": "completed", "note": "all done"})).body
        assert (done["phase"], done["stop_reason"], done["note"]) == (
            "completed",
            "completed",
            "all done",
        )
        assert done["finished_at"] is not None
        again = await desk.post(f"{path}/pause", {"reason": "x"})
        assert (again.status, again.body["code"]) == (409, "conflict")


async def test_another_tenants_run_is_not_there_whatever_is_done_with_it(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        run_id = await desk.started()
        path = f"/v1/runs/{run_id}"
        bodies: dict[str, object] = {
            "phase": {"phase": "planning"},
            "fields": {"fields": {"a": 1}},
            "evidence": {"items": [{"source": "a"}]},
            "usage": {"tokens": 1},
            "turns": {"model": "m", "input_tokens": 1},
            "pause": {"reason": "x"},
            "resume": {},
            "finish": {"outcome": "failed"},
            "handoff": {"reason": "x"},
            "cancel": {"reason": "x"},
        }
        for verb, body in bodies.items():
            assert (await desk.post(f"{path}/{verb}", body, key=OTHER)).status == 404, verb
        for place in (path, f"{path}/package"):
            assert (await desk.get(place, key=OTHER)).status == 404
        assert (await desk.get("/v1/runs", key=OTHER)).body["runs"] == []
        assert (await desk.get("/v1/runs?user=sam", key=OTHER)).body["runs"] == []
        unchanged = (await desk.get(path)).body
        assert (unchanged["version"], unchanged["tokens"], unchanged["evidence"]) == (0, 0, 0)


async def test_a_key_that_manages_nothing_sees_the_runs_of_its_own_user(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        sams, anns = await desk.started(), await desk.started(on_behalf_of={"user": "ann"})
        listed = (await desk.get("/v1/runs", key=READER)).body["runs"]
        assert [each["run_id"] for each in listed] == [sams]
        assert (await desk.get("/v1/runs?user=ann", key=READER)).body["runs"] == []
        assert (await desk.get(f"/v1/runs/{anns}", key=READER)).status == 404
        move = {"phase": "planning"}
        assert (await desk.post(f"/v1/runs/{anns}/phase", move, key=MOVER)).status == 404
        assert (await desk.post(f"/v1/runs/{sams}/phase", move, key=MOVER)).status == 200
        everybody = (await desk.get("/v1/runs")).body["runs"]
        assert [each["run_id"] for each in everybody] == [anns, sams]


async def test_a_run_that_an_agent_began_is_there_for_hosts_too(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        run = await begun(desk.house.store, user="sam")
        paused = await desk.post(f"/v1/runs/{run.run_id}/pause", {"reason": "look at this"})
        assert (paused.status, paused.body["is_paused"]) == (200, True)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("?phase=failed", 1),
        ("?stop_reason=failed", 1),
        ("?task_id=T-2", 1),
        ("?is_open=true", 1),
        ("?user=ann", 0),
        ("?limit=2", 2),
        ("?since=2020-01-01T00:00:00Z", 3),
        ("?since=2120-01-01T00:00:00Z", 0),
    ],
)
async def test_lists_are_narrowed_by_what_is_asked_for(
    tmp_path: Path, query: str, count: int
) -> None:
    async with open_desk(tmp_path) as desk:
        paused, failed = await desk.started(), await desk.started()
        await desk.started(task_id="T-2")
        await desk.post(f"/v1/runs/{paused}/pause", {"reason": "x"})
        await desk.post(f"/v1/runs/{failed}/finish", {"outcome": "failed"})
        page = (await desk.get(f"/v1/runs{query}")).body
        assert (len(page["runs"]), page["is_cut"]) == (count, query == "?limit=2")


async def test_whoever_takes_over_gets_what_his_scopes_reach(tmp_path: Path) -> None:
    refund = a_contract(
        a_tool(a_definition("refund"), "desk"),
        effect=Effect.WRITE,
        scopes=frozenset({"payments:write"}),
    )
    async with open_desk(tmp_path, contracts=[refund]) as desk:
        run_id = await desk.started(fields={"order": 7})
        store = desk.house.store
        taken = await claim(store, wanted(run_id=run_id, shown='{"amount": 12}'))
        await settle(store, taken.operation, OpState.INDETERMINATE)
        over = await desk.post(f"/v1/runs/{run_id}/handoff", {"reason": "stuck", "to": "tier 2"})
        assert over.status == 200
        package: dict[str, Any] = over.body
        assert (package["phase"], package["reason"]) == ("handoff", "for tier 2: stuck")
        [unknown] = package["unknown"]
        assert (unknown["op_id"], unknown["arguments"]) == (taken.operation.op_id, None)
        assert package["withheld"] == 1
        assert package["next"][0].startswith("find out whether")
        assert package["fields"] == [
            {"name": "order", "value": 7, "is_withheld": False, "trust": "host", "source": "host"}
        ]
        shown = await desk.get(f"/v1/runs/{run_id}/package", key=READER)
        assert shown.body["unknown"][0]["op_id"] == taken.operation.op_id


async def test_fields_go_with_null_and_a_cancelled_run_is_over(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        path = f"/v1/runs/{await desk.started(fields={'a': 1, 'b': [1, {'c': None}]})}"
        left = (await desk.post(f"{path}/fields", {"fields": {"a": None}})).body["fields"]
        assert left == {
            "b": {
                "value": [1, {"c": None}],
                "is_withheld": False,
                "trust": "host",
                "source": "host",
                "at": left["b"]["at"],
                "call_id": "",
            }
        }
        over = (await desk.post(f"{path}/cancel", {"reason": "changed his mind"})).body
        assert (over["phase"], over["note"]) == ("failed", "cancelled: changed his mind")


async def test_a_run_that_is_started_again_with_its_key_is_the_one_that_there_is(
    tmp_path: Path,
) -> None:
    wanted = {"objective": "give it back", "on_behalf_of": {"user": "sam"}}
    async with open_desk(tmp_path) as desk:

        async def start(body: object = wanted, key: str = "k-1", **more: Any) -> Any:
            return await desk.post("/v1/runs", body, Idempotency_Key=key, **more)

        made, *others = await asyncio.gather(*(start() for _ in range(4)))
        run_id = made.body["run_id"]
        assert {each.body["run_id"] for each in others} == {run_id}
        await desk.post(f"/v1/runs/{run_id}/pause", {"reason": "look first"})
        again = await start(key='"k-1"')  # in quotes it is the same
        assert (again.status, again.body["run_id"], again.body["is_paused"]) == (201, run_id, True)
        assert again.headers["Location"] == f"/v1/runs/{run_id}"
        other = await start({**wanted, "objective": "something else"})
        assert (other.status, other.body["code"]) == (422, "key_used")
        new = [await start(key="k-2"), await desk.post("/v1/runs", wanted)]
        assert run_id not in {each.body["run_id"] for each in new}
        for bad in ("", "a, b", "x" * 201):
            assert (await start(key=bad)).body["code"] == "malformed"


async def test_the_key_of_one_host_leads_to_no_run_of_another(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        one = await desk.post("/v1/runs", {}, Idempotency_Key="k")
        two = await desk.post("/v1/runs", {}, Idempotency_Key="k", key=OTHER)
        assert one.body["run_id"] != two.body["run_id"]


async def test_a_turn_of_the_model_is_told_once_and_its_tokens_count(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        run_id = await desk.started()
        path = f"/v1/runs/{run_id}/turns"
        turn = {
            "provider": "openai",
            "model": "gpt-x",
            "finish_reason": "tool_calls",
            "input_tokens": 812,
            "output_tokens": 44,
            "tool_calls": [{"name": "crm__find", "id": "c1"}],
            "input": [{"role": "user", "content": "secret words"}],
            "output_digest": "sha256:" + "0" * 64,
        }
        for _ in range(2):
            told = await desk.post(path, turn, Idempotency_Key='"t-1"')
            assert (told.status, told.body["tokens"]) == (200, 856)
        other = await desk.post(path, {**turn, "model": "other"}, Idempotency_Key='"t-1"')
        assert (other.status, other.body["code"]) == (422, "key_used")
        assert (await desk.post(path, turn)).body["tokens"] == 2 * 856
        kept = await desk.house.store.events.query(EventFilter(run=run_id, kind="model_turn"))
        assert len(kept) == 2
        said = kept[0].json()
        assert (said["stage"], said["tenant"], said["phase"]) == ("recorded", "acme", "created")
        assert b"secret words" not in kept[0].body
        line = timeline.line(kept[0])
        assert line.detail == "gpt-x of openai; 812 tokens in, 44 out; wants `crm__find`"
        assert (line.title, line.outcome, line.by) == ("model", "tool_calls", "svc")


BAD_TURNS: list[tuple[dict[str, Any], str]] = [
    ({}, "/model"),
    ({"model": "m", "input_tokens": -1}, "/input_tokens"),
    ({"model": "m", "input_tokens": 1.5}, "/input_tokens"),
    ({"model": "m", "output_digest": "abc"}, "/output_digest"),
    ({"model": "m", "input": None, "input_digest": "sha256:" + "a" * 64}, ""),
    ({"model": "m", "tool_calls": [{"name": "x"}] * 101}, "/tool_calls"),
    ({"model": "m", "tool_calls": [{"name": "x", "arguments": {}}]}, "/tool_calls/0/arguments"),
    ({"model": "m" * 257}, "/model"),
    ({"model": "m", "text": "what it said"}, "/text"),
]


@pytest.mark.parametrize(("turn", "place"), BAD_TURNS)
async def test_a_turn_that_is_none_is_refused_with_its_place(
    tmp_path: Path, turn: dict[str, Any], place: str
) -> None:
    async with open_desk(tmp_path) as desk:
        path = f"/v1/runs/{await desk.started()}/turns"
        told = await desk.post(path, turn)
        assert (told.status, [each["pointer"] for each in told.body["errors"]]) == (422, [place])


async def test_a_run_that_is_over_has_no_more_turns(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        run_id = await desk.started()
        await desk.post(f"/v1/runs/{run_id}/finish", {"outcome": "failed"})
        told = await desk.post(f"/v1/runs/{run_id}/turns", {"model": "m"})
        assert (told.status, told.body["code"]) == (409, "conflict")
        large = {"model": "m", "input": "x" * (300 << 10)}
        assert (await desk.post(f"/v1/runs/{run_id}/turns", large)).status == 413
